package modeltest

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// keyspace is an in-memory Keyspace with a few records, sorted by key.
type keyspace []model.Record

func newKeyspace() keyspace {
	k := keyspace{
		{
			KeyInfo: model.KeyInfo{
				Key: "by-dev/meta/root-coord/database/collection-info/1/470590569932652633", Kind: "collection",
				Size: 310, ModRevision: 1200,
			},
			Message: "milvus.proto.etcd.CollectionInfo",
			Text: "{\n  \"ID\": \"470590569932652633\",\n  \"shardsNum\": 2,\n  \"schema\": {\n    \"name\": " +
				"\"docs\",\n    \"enableDynamicField\": true\n  }\n}",
		},
		{
			KeyInfo: model.KeyInfo{
				Key: "by-dev/meta/session/rootcoord-1", Kind: "session", Size: 120, ModRevision: 1001,
				Lease: 7587000000000000001,
			},
			Message: "json", Text: `{"ServerID":1}`,
		},
		{
			KeyInfo: model.KeyInfo{Key: "by-dev/meta/strange/\x1b]0;owned\x07", Size: 3, ModRevision: 9},
			Message: "binary", Text: "00ff1b", Problem: "unknown key", Raw: []byte{0, 0xff, 0x1b},
		},
		{
			KeyInfo: model.KeyInfo{
				Key: "by-dev/meta/snapshots/root-coord/x_ts1", Kind: "history", Size: 3, ModRevision: 11,
				Tombstone: true,
			},
			Message: "text", Text: "⛼",
		},
	}
	slices.SortFunc(k, func(a, b model.Record) int { return strings.Compare(a.Key, b.Key) })
	return k
}

func (k keyspace) Len() int                 { return len(k) }
func (k keyspace) Info(i int) model.KeyInfo { return k[i].KeyInfo }
func (k keyspace) Collection(i int) model.CollectionID {
	if k[i].Kind == "collection" {
		return 470590569932652633
	}
	return 0
}
func (k keyspace) Record(i int) model.Record { return k[i] }

func (k keyspace) Find(key string) (int, bool) {
	return slices.BinarySearchFunc(k, key, func(r model.Record, key string) int { return strings.Compare(r.Key, key) })
}

// ObjectKeys returns no keys. Views then use the keys in the objects.
func (k keyspace) ObjectKeys(string, string) []string { return nil }
