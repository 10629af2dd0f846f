package metagen

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"google.golang.org/protobuf/proto"
)

// TestShapeCounts checks the number of keys of each kind and the mean size of a key.
func TestShapeCounts(t *testing.T) {
	s := Of(8_000)
	kinds := map[string]int{}
	seen := map[string]bool{}
	bytes := 0
	for kv := range s.All() {
		if seen[kv.Key] {
			t.Fatalf("key %s generated twice", kv.Key)
		}
		seen[kv.Key] = true
		bytes += len(kv.Key) + len(kv.Value)
		parts := strings.Split(strings.TrimPrefix(kv.Key, "by-dev/meta/"), "/")
		kind := parts[0]
		if kind == "datacoord-meta" {
			kind = parts[1]
		}
		kinds[kind]++
	}
	for kind, want := range map[string]int{
		"s": 8000, "binlog": 5 * 800, "statslog": 800, "deltalog": 800, "segment-index": 5860,
		"field-index": 50, "channel-cp": 100, "channelwatch": 100, "querycoord-replica": 50,
	} {
		if kinds[kind] != want {
			t.Errorf("%s: %d keys, want %d", kind, kinds[kind], want)
		}
	}
	if perKey := bytes / len(seen); perKey < 200 || perKey > 350 {
		t.Errorf("%d bytes per key on average, want about 270 as in a real cluster", perKey)
	}
}

// TestEveryCollectionHasItsShareOfLogsAndIndexes checks that logs and indexes are spread over all
// collections.
func TestEveryCollectionHasItsShareOfLogsAndIndexes(t *testing.T) {
	s := Of(20_000)
	logs, indexes := map[string]int{}, map[string]int{}
	for kv := range s.All() {
		parts := strings.Split(strings.TrimPrefix(kv.Key, "by-dev/meta/"), "/")
		switch {
		case parts[0] == "datacoord-meta" && parts[1] == "deltalog":
			logs[parts[2]]++
		case parts[0] == "segment-index":
			indexes[parts[1]]++
		}
	}
	for name, got := range map[string]map[string]int{"logs": logs, "indexes": indexes} {
		want := map[string]int{"logs": s.WithLogs, "indexes": s.WithIndex}[name] / s.Collections
		if len(got) != s.Collections {
			t.Errorf("%s in %d collections of %d", name, len(got), s.Collections)
		}
		for id, n := range got {
			if n < want/3 || n > want*3 {
				t.Errorf("collection %s: %d segments with %s, want about %d", id, n, name, want)
			}
		}
	}
}

// TestSameSeedSameBytes checks that a seed determines all bytes.
func TestSameSeedSameBytes(t *testing.T) {
	sum := func(seed uint64) [32]byte {
		s := Of(1000)
		s.Seed = seed
		h := sha256.New()
		for kv := range s.All() {
			h.Write([]byte(kv.Key))
			h.Write(kv.Value)
		}
		return [32]byte(h.Sum(nil))
	}
	first, again := sum(1), sum(1)
	if first != again {
		t.Error("two runs with one seed differ")
	}
	if first == sum(2) {
		t.Error("two seeds give the same bytes")
	}
}

// TestCompactionNamesADroppedSegmentOfTheSameSpot checks that the source of each compaction is a compacted
// segment of the same partition and channel.
func TestCompactionNamesADroppedSegmentOfTheSameSpot(t *testing.T) {
	segments := map[int64]*datapb.SegmentInfo{}
	for kv := range Of(8_000).All() {
		if !strings.HasPrefix(kv.Key, "by-dev/meta/datacoord-meta/s/") {
			continue
		}
		info := new(datapb.SegmentInfo)
		if err := proto.Unmarshal(kv.Value, info); err != nil {
			t.Fatalf("%s: %v", kv.Key, err)
		}
		segments[info.ID] = info
	}
	compacted := 0
	for _, s := range segments {
		for _, from := range s.CompactionFrom {
			compacted++
			old := segments[from]
			if old == nil || !old.Compacted || old.PartitionID != s.PartitionID ||
				old.InsertChannel != s.InsertChannel {
				t.Errorf("segment %d was compacted from %d: %v", s.ID, from, old)
			}
		}
	}
	if compacted == 0 {
		t.Error("no segment was made by compaction")
	}
}
