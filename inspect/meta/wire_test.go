package meta

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/internal/redact"
)

// checkSegment compares the fast decoder with the generated one. If the fast decoder accepts a value, both must
// agree and the value must not have unknown fields.
func checkSegment(t *testing.T, value []byte) (fast bool) {
	t.Helper()
	var a, b segmentValue
	if !fastSegment(value, &a) {
		return false
	}
	unknown, err := slowSegment(value, &b)
	if err != nil || len(unknown) > 0 {
		t.Fatalf("fast decoder accepts %x, generated one says %v, unknown %v", value, err, unknown)
	}
	if diff := cmp.Diff(a.s, b.s); diff != "" {
		t.Fatalf("%x (-fast +generated):\n%s", value, diff)
	}
	if !bytes.Equal(a.channel, b.channel) {
		t.Fatalf("%x: channel %q, generated %q", value, a.channel, b.channel)
	}
	if diff := cmp.Diff(append([]model.SegmentID{}, a.compacted...),
		append([]model.SegmentID{}, b.compacted...)); diff != "" {
		t.Fatalf("%x: compacted (-fast +generated):\n%s", value, diff)
	}
	if diff := cmp.Diff(tidyLogs(a.inline), tidyLogs(b.inline)); diff != "" {
		t.Fatalf("%x: logs (-fast +generated):\n%s", value, diff)
	}
	return true
}

func checkFieldLogs(t *testing.T, value []byte) (fast bool) {
	t.Helper()
	a, ok := fastFieldLogs(value)
	if !ok {
		return false
	}
	b, unknown, err := slowFieldLogs(value)
	if err != nil || len(unknown) > 0 || a != b {
		t.Fatalf("%x: fast %+v, generated %+v, %v, unknown %v", value, a, b, err, unknown)
	}
	return true
}

func checkSegmentIndex(t *testing.T, value []byte) (fast bool) {
	t.Helper()
	var a, b model.SegmentIndex
	if !fastSegmentIndex(value, &a) {
		return false
	}
	unknown, err := slowSegmentIndex(value, &b)
	if err != nil || len(unknown) > 0 || a != b {
		t.Fatalf("%x: fast %+v, generated %+v, %v, unknown %v", value, a, b, err, unknown)
	}
	return true
}

// eachKey calls visit for every key of a captured server.
func eachKey(tb testing.TB, name string, visit func(source.KV)) {
	tb.Helper()
	snap := pinFixture(tb, name)
	err := snap.Scan(tb.Context(), []source.Range{source.Prefix(snap.Header().Root + "/")}, func(kv source.KV) error {
		visit(kv)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}

func TestFastDecodersOnFixtures(t *testing.T) {
	g := newGrammar(testHeader())
	fast := make(map[kindID]int)
	for _, name := range fixtures() {
		eachKey(t, name, func(kv source.KV) {
			k, err := g.parse(kv.Key)
			ok := true
			switch {
			case err != nil:
				t.Errorf("%s: %v", kv.Key, err)
			case k.kind == kindSegment:
				ok = checkSegment(t, kv.Value)
			case k.kind == kindSegmentIndex:
				ok = checkSegmentIndex(t, kv.Value)
			case k.kind == kindBinlog, k.kind == kindDeltalog, k.kind == kindStatslog:
				ok = checkFieldLogs(t, kv.Value)
			}
			if !ok {
				t.Errorf("%s: not taken by the fast decoder", kv.Key)
			}
			fast[k.kind]++
		})
	}
	for _, k := range []kindID{kindSegment, kindSegmentIndex, kindBinlog} {
		if fast[k] < 100 {
			t.Errorf("only %d keys of kind %d", fast[k], k)
		}
	}
}

// segmentSeeds returns values that a fast decoder could decode wrongly.
func segmentSeeds(tb testing.TB) [][]byte {
	tb.Helper()
	full := &datapb.SegmentInfo{
		ID: 1, CollectionID: 2, PartitionID: -1, InsertChannel: "ch", NumOfRows: 5,
		State: commonpb.SegmentState_Flushed, MaxRowNum: 7, //nolint:staticcheck // old releases fill it
		LastExpireTime: 8,
		StartPosition:  &msgpb.MsgPosition{ChannelName: "p", MsgID: []byte{1, 2}, MsgGroup: "g", Timestamp: 9},
		DmlPosition:    &msgpb.MsgPosition{Timestamp: 10, WALName: commonpb.WALName_Kafka},
		Binlogs: []*datapb.FieldBinlog{
			{
				FieldID:     100,
				Binlogs:     []*datapb.Binlog{{EntriesNum: 3, LogPath: "x", LogSize: 4, LogID: 5, MemorySize: 6}},
				ChildFields: []int64{1, 300},
			},
		},
		Statslogs:           []*datapb.FieldBinlog{{FieldID: 100}},
		Deltalogs:           []*datapb.FieldBinlog{{Binlogs: []*datapb.Binlog{{EntriesNum: 1}}}},
		CreatedByCompaction: true, CompactionFrom: []int64{1, 1 << 40, -1}, DroppedAt: 1795165014526221902,
		IsImporting: true, IsFake: true,
		Compacted: true, Level: datapb.SegmentLevel_L2, StorageVersion: 2, LastLevel: datapb.SegmentLevel_L1,
		LastPartitionStatsVersion: 4,
		IsSorted:                  true, Bm25Statslogs: []*datapb.FieldBinlog{{FieldID: 7}}, IsInvisible: true,
		IsCreatedByStreaming: true,
		IsSortedByNamespace:  true, SchemaVersion: 2, DataVersion: 3, Stats: &datapb.Statistics{
			InsertBinlogSize: 1, StatsBinlogSize: 2, DeltaBinlogSize: 3, DeleteNumRows: 4, InsertBinlogCount: 5,
			DeltaBinlogCount:   6,
			TimestampQuantiles: []int64{1, 2, 3, 4, 5}, TimestampFrom: 9, TimestampTo: 10, DeltaTimestampFrom: 11,
			DeltaTimestampTo: 12,
			NullCounts:       map[int64]int64{100: 3}, Formats: []string{"parquet"},
		},
	}
	var seeds [][]byte
	for _, m := range []proto.Message{
		full, &datapb.SegmentInfo{PartitionStatsVersion: 3},
		&datapb.SegmentInfo{TextStatsLogs: map[int64]*datapb.TextIndexStats{1: {LogSize: 2}}},
		&datapb.SegmentInfo{State: 300, Level: -1},
		&datapb.SegmentInfo{SchemaVersion: -1},
		&datapb.SegmentInfo{
			CommitTimestamp: 5, SchemaVersion: 2, DataVersion: 3, ExpirQuantiles: []int64{1, 2, 3, 4, 5},
		},
		&datapb.SegmentInfo{ManifestPath: "m", Stats: &datapb.Statistics{DeleteNumRows: 4}},
		&datapb.FieldBinlog{
			FieldID: 1, Format: "vortex",
			Binlogs: []*datapb.Binlog{{EntriesNum: 2, FieldNullCounts: map[int64]int64{101: 1}}},
		},
		&indexpb.SegmentIndex{BuildID: 6, CurrentScalarIndexVersion: 3, IndexStorePathVersion: 1},
		&indexpb.SegmentIndex{BuildID: 6, IndexStorePathVersion: 2},
		full.GetBinlogs()[0], &indexpb.SegmentIndex{
			CollectionID: 1, PartitionID: 2, SegmentID: 3, NumRows: 4, IndexID: 5, BuildID: 6, NodeID: 7,
			IndexVersion: 8, State: 9, FailReason: "no",
			IndexFileKeys: []string{"a", "b"}, Deleted: true, CreateTime: 470590760626097542, SerializeSize: 14,
			WriteHandoff: true, CurrentIndexVersion: 16,
			FinishedTime: 1795165014, MemSize: 19, CurrentScalarIndexVersion: 20, IndexType: "HNSW",
		},
	} {
		value, err := proto.Marshal(m)
		if err != nil {
			tb.Fatal(err)
		}
		seeds = append(seeds, value, append(value, value...), append(value, 0xf8, 0x02, 1),
			value[:max(0, len(value)-1)])
	}
	return append(seeds,
		[]byte{0x22, 2, 0xff, 0xfe},      // invalid UTF-8 in the channel
		[]byte{0x08, 0x80, 0x00},         // overlong varint
		[]byte{0x88, 0x00, 0x01},         // overlong tag
		[]byte{0x7a, 2, 0x80, 0x80},      // packed list cut off
		[]byte{0x0a, 1, 1}, []byte{0x0c}, // other wire types of a known number
		[]byte{0x4a, 0, 0x4a, 2, 0x20, 1}, // a repeated message: protobuf merges
		bytes.Repeat([]byte{0xff}, 12),
	)
}

func TestFastDecodersOnSeeds(t *testing.T) {
	taken := 0
	for _, seed := range segmentSeeds(t) {
		for _, check := range []func(*testing.T, []byte) bool{checkSegment, checkFieldLogs, checkSegmentIndex} {
			if check(t, seed) {
				taken++
			}
		}
	}
	if taken < 10 {
		t.Errorf("the fast decoders take only %d seeds", taken)
	}
}

func FuzzSegment(f *testing.F) {
	for _, seed := range segmentSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value []byte) { checkSegment(t, value) })
}

func FuzzFieldLogs(f *testing.F) {
	for _, seed := range segmentSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value []byte) { checkFieldLogs(t, value) })
}

func FuzzSegmentIndex(f *testing.F) {
	for _, seed := range segmentSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value []byte) { checkSegmentIndex(t, value) })
}

// FuzzPut puts any value under any key and checks that nothing panics and no key is lost silently.
func FuzzPut(f *testing.F) {
	for _, k := range Kinds() {
		f.Add([]byte("by-dev/meta/"+k.Pattern), []byte{0x0a, 1, 'x'})
	}
	for _, name := range []string{"standalone-2.1.0", "standalone-2.3.5"} {
		seen := make(map[kindID]bool)
		g := newGrammar(testHeader())
		eachKey(f, name, func(kv source.KV) {
			if k, err := g.parse(kv.Key); err == nil && !seen[k.kind] {
				seen[k.kind] = true
				f.Add(bytes.Clone(kv.Key), bytes.Clone(kv.Value))
			}
		})
	}
	f.Add([]byte("by-dev/meta/unknown?password:hunter2"), []byte{0, 1, 'x'}) // a secret in the key itself
	f.Fuzz(func(t *testing.T, key, value []byte) {
		s, err := newState(testHeader(), Want{Parts: model.PartAll, Records: true})
		if err != nil {
			t.Fatal(err)
		}
		s.put(source.KV{Key: key, Value: value}, true)
		c := s.build(nil, snapshotInfo{})
		if c.Keyspace.Len() != 1 || c.Keys != 1 {
			t.Fatalf("%d keys in the keyspace, %d counted", c.Keyspace.Len(), c.Keys)
		}
		r := c.Keyspace.Record(0)
		if r.Key != string(key) && r.Key != redact.Text(string(key)) || r.Problem == "" && len(c.Undecoded) > 0 {
			t.Fatalf("record %+v, undecoded %+v", r, c.Undecoded[0])
		}
		s.put(source.KV{Key: key, Value: value}, false)
		s.remove(key)
		if c = s.build(c, snapshotInfo{}); c.Keys != 0 || len(c.Undecoded) != 0 || c.Keyspace.Len() != 0 {
			t.Fatalf("%d keys, %d undecoded are left of nothing", c.Keys, len(c.Undecoded))
		}
	})
}

// TestUvarint compares numbers of every length with protobuf's reader, with trailing bytes, without them, and
// truncated.
func TestUvarint(t *testing.T) {
	t.Parallel()
	check := func(b []byte) {
		t.Helper()
		v, n := uvarint(b)
		want, m := protowire.ConsumeVarint(b)
		if m < 0 {
			want, m = 0, 0
		}
		if v != want || n != m {
			t.Fatalf("%x is %d of %d bytes, protobuf says %d of %d", b, v, n, want, m)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		b := binary.AppendUvarint(nil, random.Uint64()>>random.IntN(64))
		b = append(b, make([]byte, random.IntN(12))...)
		for i := range b {
			check(b[:i])
		}
		check(b)
		b[random.IntN(len(b))] = byte(random.Uint32())
		check(b)
	}
	for n := range 14 {
		for _, last := range []byte{0, 1, 2, 0x7f, 0x80, 0xff} {
			b := append(slices.Repeat([]byte{0xff}, n), last)
			check(b)
			check(append(b, 1, 2, 3))
		}
	}
}
