package preflight

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/meta"
	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// memoryStore is an in-memory store of records, for versions that have no capture.
type memoryStore []source.KV

func (m memoryStore) Header() source.Header {
	return source.Header{Root: "by-dev", MetaPath: "meta", Revision: 1}
}
func (m memoryStore) Seekable() bool     { return true }
func (m memoryStore) Gaps() []source.Gap { return nil }
func (m memoryStore) Close() error       { return nil }

func (m memoryStore) Scan(_ context.Context, ranges []source.Range, yield func(source.KV) error) error {
	for _, kv := range m {
		if slices.ContainsFunc(ranges, func(r source.Range) bool {
			return string(kv.Key) >= r.From && string(kv.Key) < r.To
		}) {
			if err := yield(kv); err != nil {
				return err
			}
		}
	}
	return nil
}

// constructed returns a cluster decoded from the keys of a version, after change was applied to the value of each.
func constructed(t *testing.T, version string, change func(key string, value []byte) []byte) *model.Cluster {
	t.Helper()
	kvs := metatest.Cluster(version)
	for i, kv := range kvs {
		kvs[i].Value = change(string(kv.Key), kv.Value)
	}
	slices.SortFunc(kvs, func(a, b source.KV) int { return bytes.Compare(a.Key, b.Key) })
	c, err := meta.Load(t.Context(), memoryStore(kvs), meta.Want{Parts: model.PartAll})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// reencode decodes a message, applies change and encodes it again.
func reencode[T any, P interface {
	*T
	proto.Message
}](t *testing.T, value []byte, change func(P)) []byte {
	t.Helper()
	m := P(new(T))
	if err := proto.Unmarshal(value, m); err != nil {
		t.Fatal(err)
	}
	change(m)
	text, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestRollbackFromRecords checks the whole path from the keys of etcd to the findings: records that 3.0 wrote as
// protobuf messages, judged for a rollback to 2.6.
func TestRollbackFromRecords(t *testing.T) {
	changed := func(key string, value []byte) []byte {
		switch {
		case strings.HasPrefix(key, "by-dev/meta/segment-index/"):
			return reencode(t, value, func(m *indexpb.SegmentIndex) {
				m.IndexStorePathVersion = indexpb.IndexStorePathVersion_INDEX_STORE_PATH_VERSION_COLLECTION_ROOTED
			})
		case strings.HasPrefix(key, "by-dev/meta/datacoord-meta/s/"):
			return reencode(t, value, func(m *datapb.SegmentInfo) {
				if m.ID == metatest.Flushed {
					m.CommitTimestamp = metatest.TSO
				}
			})
		}
		return value
	}
	plain := func(_ string, value []byte) []byte { return value }
	for _, x := range []struct {
		name   string
		change func(string, []byte) []byte
		want   []string // expected errors of the checks of records
	}{
		{"as it is", plain, []string{
			"upgrade-keys: 1 key of kinds that 2.6.22 does not know",
			"upgrade-keys: 1 key of kinds that 2.6.22 does not know",
			"upgrade-logs: 1 segment of shop.items, 9 rows, has storage version 3 and a commit timestamp: 2.6.22 " +
				"cannot read it",
		}},
		{"with what 3.0 writes where it is told to", changed, []string{
			"upgrade-index-versions: 1 segment of docs, 1,000 rows, has collection-rooted index files (index_v1): " +
				"2.6.22 cannot read them",
			"upgrade-keys: 1 key of kinds that 2.6.22 does not know",
			"upgrade-keys: 1 key of kinds that 2.6.22 does not know",
			"upgrade-logs: 1 segment of docs, 1,000 rows, has a commit timestamp: 2.6.22 cannot read it",
			"upgrade-logs: 1 segment of shop.items, 9 rows, has storage version 3 and a commit timestamp: 2.6.22 " +
				"cannot read it",
		}},
	} {
		var got []string
		for _, f := range runPlan(t, constructed(t, "3.0", x.change), "", "2.6.22", true).Findings {
			if f.Severity.String() == "error" {
				got = append(got, f.Check+": "+f.Message)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(x.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", x.name, diff)
		}
	}
}
