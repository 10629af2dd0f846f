package meta

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/internal/redact"
)

// storeOf fills a record store with keys in the given order.
func storeOf(t *testing.T, kvs []source.KV) *recordStore {
	t.Helper()
	values, err := newDecompressor()
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRecordStore(newGrammar(testHeader()), values)
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range kvs {
		k, err := r.grammar.parse(kv.Key)
		r.put(kv, &k, err)
	}
	return r
}

// checkKeyspace compares a keyspace with the expected keys.
func checkKeyspace(t *testing.T, k model.Keyspace, want map[string]string) {
	t.Helper()
	if k.Len() != len(want) {
		t.Fatalf("%d keys, want %d", k.Len(), len(want))
	}
	before := ""
	for i := range k.Len() {
		info := k.Info(i)
		value, ok := want[info.Key]
		if !ok || info.Size != len(value) || info.Key <= before {
			t.Fatalf("key %d %+v after %q, want value of %d bytes (known: %v)", i, info, before, len(value), ok)
		}
		before = info.Key
		if at, found := k.Find(info.Key); !found || at != i {
			t.Fatalf("Find(%q) = %d, %v, want %d", info.Key, at, found, i)
		}
		if i%97 == 0 && string(k.Record(i).Raw) != value {
			t.Fatalf("value of %q differs", info.Key)
		}
	}
	if at, found := k.Find("by-dev/zzz"); found || at != k.Len() {
		t.Errorf("Find after the end = %d, %v", at, found)
	}
	if at, found := k.Find(""); found || at != 0 {
		t.Errorf("Find before the start = %d, %v", at, found)
	}
}

// manyKeys returns more keys than one run of the block writer holds.
func manyKeys(n int) (kvs []source.KV, want map[string]string) {
	want = make(map[string]string)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		key := fmt.Sprintf("by-dev/meta/datacoord-meta/s/%d/%d/%d", i%7, i%3, i)
		value := make([]byte, 100+i%900)
		for j := range value {
			value[j] = byte(random.Uint32())
		}
		value = wrapMessage(value)
		want[key] = string(value)
		kvs = append(kvs, source.KV{Key: []byte(key), Value: value, ModRevision: int64(i), Lease: int64(i % 5)})
	}
	return kvs, want
}

// wrapMessage wraps bytes in a field, because a value that is not a message is searched for secrets.
func wrapMessage(content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), content)
}

func TestKeyspaceInAnyOrder(t *testing.T) {
	kvs, want := manyKeys(30_000) // 16 MB: two runs
	t.Run("shuffled", func(t *testing.T) { checkKeyspace(t, storeOf(t, kvs).keyspace(model.Parts{}), want) })
	slices.SortFunc(kvs, func(a, b source.KV) int { return bytes.Compare(a.Key, b.Key) })
	t.Run("sorted", func(t *testing.T) { checkKeyspace(t, storeOf(t, kvs).keyspace(model.Parts{}), want) })
	t.Run("empty", func(t *testing.T) { checkKeyspace(t, storeOf(t, nil).keyspace(model.Parts{}), nil) })
}

func TestKeyspaceChanges(t *testing.T) {
	kvs, want := manyKeys(3_000)
	r := storeOf(t, kvs)
	first := r.keyspace(model.Parts{})
	original := maps.Clone(want)
	random := rand.New(rand.NewPCG(3, 4))
	type state struct {
		keys model.Keyspace
		want map[string]string
	}
	var unread []state
	for range 20 {
		for range random.IntN(50) {
			i := random.IntN(4_000)
			key := fmt.Sprintf("by-dev/meta/datacoord-meta/s/%d/%d/%d", i%7, i%3, i)
			if random.IntN(3) == 0 {
				r.remove([]byte(key))
				delete(want, key)
				continue
			}
			value := string(wrapMessage(make([]byte, random.IntN(2000))))
			k, err := r.grammar.parse([]byte(key))
			r.put(source.KV{Key: []byte(key), Value: []byte(value)}, &k, err)
			want[key] = value
		}
		now := r.keyspace(model.Parts{})
		if random.IntN(3) > 0 { // read later or never
			unread = append(unread, state{now, maps.Clone(want)})
			continue
		}
		checkKeyspace(t, now, want)
	}
	random.Shuffle(len(unread), func(i, j int) { unread[i], unread[j] = unread[j], unread[i] })
	for _, s := range unread {
		checkKeyspace(t, s.keys, s.want)
	}
	checkKeyspace(t, first, original) // an earlier keyspace does not change
	for key := range want {
		r.remove([]byte(key))
	}
	checkKeyspace(t, r.keyspace(model.Parts{}), nil)
}

// TestKeyspaceKeepsFewChanges checks that repeated writes of the same keys are not all retained.
func TestKeyspaceKeepsFewChanges(t *testing.T) {
	kvs, want := manyKeys(100)
	r := storeOf(t, kvs)
	last := r.keyspace(model.Parts{})
	key := kvs[0].Key
	k, err := r.grammar.parse(key)
	for i := range 200 {
		value := wrapMessage(bytes.Repeat([]byte{byte(i)}, pendingBytes/50))
		r.put(source.KV{Key: key, Value: value}, &k, err)
		want[string(key)] = string(value)
		last = r.keyspace(model.Parts{})
		waiting := 0
		for p := last.packing; p.before != nil; p = p.before {
			waiting++
		}
		if waiting > 50 {
			t.Fatalf("%d changes wait after %d", waiting, i+1)
		}
	}
	checkKeyspace(t, last, want)
}

func TestKeyspaceIsSafeForConcurrentUse(t *testing.T) {
	kvs, _ := manyKeys(10_000)
	r := storeOf(t, kvs)
	r.keyspace(model.Parts{})
	r.remove(kvs[0].Key)
	k := r.keyspace(model.Parts{})
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 500 {
				at := (i*37 + n*2503) % k.Len()
				if r := k.Record(at); r.Key != k.Info(at).Key {
					t.Errorf("record %d is of another key", at)
				}
			}
		})
	}
	wg.Wait()
}

func TestRecords(t *testing.T) {
	c := loadConstructed(t, "3.0")
	docs0, _, _ := metatest.VChannels()
	tests := []struct{ key, kind, message, text, problem string }{
		{"by-dev/kv/gid/timestamp", "allocator", "time", "2026-11-20T07:54:50.000000005Z", ""},
		{"by-dev/meta/session/id", "session-id", "int", "42", ""},
		{"by-dev/meta/datacoord-meta/channel-removal/" + docs0, "channel-removal", "text", "non-removed", ""},
		{"by-dev/config/minio/secretAccessKey", "config", "text", redact.Redacted, ""},
		{"by-dev/meta/root-coord/credential/roles/admin", "role", "text", "", ""},
		{
			"by-dev/meta/root-coord/credential/users/ann", "user", "json",
			"{\n  \"encrypted_password\": \"<redacted>\"\n}", "",
		},
		{
			"by-dev/meta/root-coord/database/collection-info/1/455000000000000099", "collection", "text",
			"tombstone: dropped", "",
		},
		{
			"by-dev/meta/snapshots/root-coord/database/collection-info/1/455000000000000099_ts455000000000000002",
			"history", "text", "tombstone: dropped at 2024-12-31T23:20:55.859Z", "",
		},
		{
			"by-dev/meta/root-coord/partitions/455000000000000100/455000000000000101", "partition",
			"milvus.proto.etcd.PartitionInfo",
			"{\n  \"partitionID\": \"455000000000000101\",\n  \"partitionName\": \"_default\",\n  " +
				"\"partition_created_timestamp\": \"455000000000000000\",\n  \"collection_id\": " +
				"\"455000000000000100\"\n}",
			"",
		},
		{
			"by-dev/meta/datacoord-meta/s/455000000000000200/455000000000000201/455000000000001008", "segment",
			"milvus.proto.data.SegmentInfo",
			"{\n  \"ID\": \"455000000000001008\",\n  \"collectionID\": \"455000000000000200\",\n  \"partitionID\": " +
				"\"455000000000000201\",\n  \"num_of_rows\": \"8\",\n  \"state\": \"Flushed\",\n  \"level\": " +
				"\"L1\",\n  \"unknown_fields\": {\n    \"99\": \"980601\"\n  }\n}",
			"SegmentInfo: unknown field 99",
		},
	}
	for _, tt := range tests {
		i, ok := c.Keyspace.Find(tt.key)
		if !ok {
			t.Errorf("%s: not found", tt.key)
			continue
		}
		r := c.Keyspace.Record(i)
		got := [4]string{r.Kind, r.Message, r.Text, r.Problem}
		if diff := cmp.Diff([4]string{tt.kind, tt.message, tt.text, tt.problem}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.key, diff)
		}
	}
	i, _ := c.Keyspace.Find("by-dev/meta/datacoord-meta/channel-cp/" + docs0)
	if text := c.Keyspace.Record(i).Text; !strings.Contains(text, `"msgID": "0900000000000000"`) {
		t.Errorf("a position in hex: %s", text)
	}
	i, _ = c.Keyspace.Find(fmt.Sprintf("by-dev/meta/queryCoord-Collection-Target/%d", metatest.Docs))
	if r := c.Keyspace.Record(i); r.Message != "milvus.proto.query.CollectionTarget" ||
		!strings.Contains(r.Text, `"num_of_rows": "1000"`) {
		t.Errorf("a compressed target: %+v", r)
	}
}

func TestBrokenRecordsAreShown(t *testing.T) {
	kvs := []source.KV{
		{Key: []byte("by-dev/meta/datacoord-meta/s/1/2/3"), Value: []byte("\xff\xff\xff")},
		{Key: []byte("by-dev/meta/datacoord-meta/s/1/2/x"), Value: []byte("text")},
		{Key: []byte("by-dev/meta/session/rootcoord"), Value: []byte("{")},
		{Key: []byte("by-dev/kv/gid/timestamp"), Value: []byte("short")},
		{Key: []byte("by-dev/meta/queryCoord-Collection-Target/7"), Value: []byte("not zstd")},
	}
	c, err := Load(t.Context(), newMemory(kvs), Want{Parts: model.PartAll, Records: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"allocator: 5 bytes where a time has 8", "SegmentInfo: not a valid protobuf message",
		`segment key with "x" where the segment id belongs`, "CollectionTarget: not zstd compressed",
		"session: not valid JSON",
	}
	for i, reason := range want {
		r := c.Keyspace.Record(i)
		if c.Undecoded[i].Reason != reason || r.Problem != reason || r.Text == "" {
			t.Errorf("%s: undecoded %q, record %+v, want %q", r.Key, c.Undecoded[i].Reason, r, reason)
		}
	}
	if len(c.Undecoded) != len(want) || c.Keys != 5 {
		t.Errorf("%d undecoded of %d keys", len(c.Undecoded), c.Keys)
	}
}

// TestKeysOfObjects checks that all keys of an object are found from the object.
func TestKeysOfObjects(t *testing.T) {
	c := loadConstructed(t, "2.6")
	docs0, _, _ := metatest.VChannels()
	id := func(n int64) string { return strconv.FormatInt(n, 10) }
	tests := map[[2]string]int{
		{"databases", "1"}:                                1,
		{"collections", id(metatest.Docs)}:                11, // record, 7 fields, 1 struct array, 2 functions
		{"fields", id(metatest.Docs) + "/102"}:            1,
		{"partitions", id(metatest.Docs0)}:                1,
		{"aliases", "1/latest"}:                           1,
		{"indexes", id(metatest.Index)}:                   1,
		{"segments", id(metatest.Flushed)}:                9, // record, 4 binlogs, deltalog, statslog, bm25log, index
		{"segments", id(metatest.Growing)}:                2,
		{"vchannels", docs0}:                              4,
		{"pchannels", "by-dev-rootcoord-dml_0"}:           2,
		{"load-states", id(metatest.Docs)}:                3,
		{"replicas", id(metatest.Docs + 50)}:              1,
		{"resource-groups", "__default_resource_group"}:   1,
		{"nodes", "mixcoord-9"}:                           1,
		{"users", "ann"}:                                  2,
		{"roles", "reader"}:                               2,
		{"grants", "reader/Collection/shop/items/Search"}: 2,
		{"privilege-groups", "readers"}:                   1,
		{"config", "queryCoord/autoBalance"}:              1,
		{"tasks", "compaction/455000000000009004"}:        1,
		{"keys", "by-dev/kv/gid/timestamp"}:               1,
		{"segments", "12345"}:                             0,
		{"nothing", "1"}:                                  0,
		{"segment-indexes", fmt.Sprintf("%d/%d/%d", metatest.Flushed, metatest.Index, metatest.Flushed+500)}: 1,
	}
	for object, n := range tests {
		if keys := c.Keyspace.ObjectKeys(object[0], object[1]); len(keys) != n {
			t.Errorf("%v: keys %q, want %d", object, keys, n)
		}
	}
	legacy := loadFixture(t, "standalone-2.1.0", Want{Parts: model.PartAll, Records: true})
	for _, s := range legacy.Segments {
		want := 1 + 2*len(s.Indexes)
		if legacy.LoadState(s.Collection) != nil && s.State == model.SegmentFlushed {
			want++ // queryCoord-segmentMeta
		}
		if keys := legacy.Keyspace.ObjectKeys("segments", s.ID.String()); len(keys) != want {
			t.Errorf("2.1 segment %d: %q, want %d", s.ID, keys, want)
		}
	}
}
