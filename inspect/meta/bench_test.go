package meta

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// memory is a Snapshot over keys in memory, sorted.
type memory struct {
	header   source.Header
	kvs      []source.KV
	seekable bool
	scans    [][]source.Range
	gaps     []source.Gap // their keys are not yielded
}

func (m *memory) Header() source.Header { return m.header }
func (m *memory) Seekable() bool        { return m.seekable }
func (m *memory) Gaps() []source.Gap    { return m.gaps }
func (m *memory) Close() error          { return nil }

func (m *memory) Scan(_ context.Context, ranges []source.Range, yield func(source.KV) error) error {
	m.scans = append(m.scans, ranges)
	for _, r := range ranges {
		i, _ := slices.BinarySearchFunc(m.kvs, r.From, func(kv source.KV, from string) int { return bytes.Compare(kv.Key, []byte(from)) })
		for ; i < len(m.kvs) && r.Contains(m.kvs[i].Key); i++ {
			if slices.ContainsFunc(m.gaps, func(g source.Gap) bool { return g.Keys.Contains(m.kvs[i].Key) }) {
				continue
			}
			if err := yield(m.kvs[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// newMemory sorts keys into a snapshot.
func newMemory(kvs []source.KV) *memory {
	slices.SortFunc(kvs, func(a, b source.KV) int { return bytes.Compare(a.Key, b.Key) })
	return &memory{header: testHeader(), kvs: kvs, seekable: true}
}

// manySegments is a store of the shape of the scale measurements: 50 collections of 2
// channels and 4 partitions, one segment in ten with logs, three of four indexed.
func manySegments(tb testing.TB, segments int) *memory {
	tb.Helper()
	var kvs []source.KV
	put := func(key string, m proto.Message) {
		value, err := proto.Marshal(m)
		if err != nil {
			tb.Fatal(err)
		}
		kvs = append(kvs, source.KV{Key: []byte("by-dev/meta/" + key), Value: value, ModRevision: int64(len(kvs)), Version: 1})
	}
	const collections, base = 50, int64(450000000000000000)
	for c := range int64(collections) {
		id := base + c*1000
		channel := fmt.Sprintf("by-dev-rootcoord-dml_%d_%dv", c, id)
		put(fmt.Sprintf("root-coord/database/collection-info/1/%d", id), &etcdpb.CollectionInfo{
			ID: id, Schema: &schemapb.CollectionSchema{Name: fmt.Sprintf("collection_%d", c)}, VirtualChannelNames: []string{channel + "0", channel + "1"},
		})
		for p := range int64(4) {
			put(fmt.Sprintf("root-coord/partitions/%d/%d", id, id+1+p), &etcdpb.PartitionInfo{PartitionID: id + 1 + p, CollectionId: id, PartitionName: "p"})
		}
		put(fmt.Sprintf("field-index/%d/%d", id, id+10), &indexpb.FieldIndex{IndexInfo: &indexpb.IndexInfo{CollectionID: id, FieldID: 101, IndexID: id + 10}})
	}
	for i := range int64(segments) {
		putSegment(put, i, base, collections)
	}
	return newMemory(kvs)
}

func putSegment(put func(string, proto.Message), i, base, collections int64) {
	id := base + (i%collections)*1000
	partition, segment := id+1+i%4, base+1e9+i*7
	path := fmt.Sprintf("%d/%d/%d", id, partition, segment)
	channel := fmt.Sprintf("by-dev-rootcoord-dml_%d_%dv%d", i%collections, id, i%2)
	position := func(at uint64) *msgpb.MsgPosition {
		return &msgpb.MsgPosition{ChannelName: channel, MsgID: []byte("12345678"), MsgGroup: "by-dev-dataNode-7-" + channel, Timestamp: at}
	}
	put("datacoord-meta/s/"+path, &datapb.SegmentInfo{
		ID: segment, CollectionID: id, PartitionID: partition, InsertChannel: channel, NumOfRows: 50000 + i, State: commonpb.SegmentState_Flushed,
		LastExpireTime: 450000000000000000, StartPosition: position(450000000000000000), DmlPosition: position(450000000000100000),
		CreatedByCompaction: true, CompactionFrom: []int64{segment - 1, segment - 2, segment - 3}, Level: datapb.SegmentLevel_L1, IsSorted: true,
	})
	if i%10 == 0 {
		for _, key := range []string{"binlog/%s/0", "binlog/%s/1", "binlog/%s/100", "binlog/%s/101", "binlog/%s/102", "statslog/%s/100", "deltalog/%s/100"} {
			key = fmt.Sprintf(key, path)
			var field int64
			fmt.Sscan(key[strings.LastIndexByte(key, '/')+1:], &field)
			put("datacoord-meta/"+key, &datapb.FieldBinlog{FieldID: field, Binlogs: []*datapb.Binlog{
				{EntriesNum: 50000, TimestampFrom: 450000000000000000, TimestampTo: 450000000000100000, LogSize: 1 << 20, LogID: segment + 5, MemorySize: 1 << 21},
			}})
		}
	}
	if i%4 != 0 {
		put(fmt.Sprintf("segment-index/%s/%d", path, segment+1), &indexpb.SegmentIndex{
			CollectionID: id, PartitionID: partition, SegmentID: segment, NumRows: 50000, IndexID: id + 10, BuildID: segment + 1, NodeID: 12,
			IndexVersion: 1, State: commonpb.IndexState_Finished, IndexFileKeys: []string{"HNSW_0", "HNSW_1", "HNSW_2"},
			CreateTime: 450000000000000000, SerializeSize: 1 << 24, CurrentIndexVersion: 6,
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{200_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			m := manySegments(b, n)
			for b.Loop() {
				c, err := Load(context.Background(), m, Want{Parts: model.PartAll})
				if err != nil || len(c.Segments) != n || len(c.Undecoded) > 0 {
					b.Fatal(err, len(c.Segments), c.Undecoded[:1])
				}
			}
		})
	}
}

// heapOf measures what of the heap load leaves behind, in MB.
func heapOf(load func() any) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := load()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(x)
	return (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / 1e6
}

func BenchmarkUpdate(b *testing.B) {
	m := manySegments(b, 1_000_000)
	s, _, err := load(context.Background(), m, Want{Parts: model.PartAll})
	if err != nil {
		b.Fatal(err)
	}
	c := s.build(nil, headline{})
	var log source.KV
	for _, kv := range m.kvs {
		if strings.Contains(string(kv.Key), "/binlog/") {
			log = kv
			break
		}
	}
	for b.Loop() {
		s.put(log, false)
		c = s.build(c, headline{})
	}
}

func BenchmarkRecords(b *testing.B) {
	m := manySegments(b, 200_000)
	for b.Loop() {
		if _, err := Load(context.Background(), m, Want{Parts: model.PartAll, Records: true}); err != nil {
			b.Fatal(err)
		}
	}
}
