package metagen

import (
	"fmt"
	"math/rand/v2"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
)

// At each spot, one of twelve successive segments was compacted into the next one, which refers to it.
const (
	compactionCycle = 12
	compactedRow    = 5
)

// segment holds the data that the keys of one segment share.
type segment struct {
	shape                    Shape
	i                        int
	collection, shard, spart int
	random                   *rand.Rand
	rows                     int64
}

// segment returns segment i. Spots take turns, so the segments of one spot are spots() apart.
func (s Shape) segment(i int) *segment {
	g := &segment{
		shape: s, i: i, collection: i % s.Collections, shard: i / s.Collections % s.Shards,
		spart:  i / (s.Collections * s.Shards) % s.Partitions,
		random: rand.New(rand.NewPCG(s.Seed, uint64(i))),
	}
	g.rows = 1024 + g.random.Int64N(200_000)
	return g
}

// segmentKeys yields the keys of segment i. It reports whether to go on.
func (s Shape) segmentKeys(i int, withLogs, withIndex bool, yield func(KV) bool) bool {
	g := s.segment(i)
	info := g.info()
	if !yield(s.message("datacoord-meta/s/"+g.path(), info)) {
		return false
	}
	if withLogs && !g.logs(yield) {
		return false
	}
	if withIndex {
		return yield(g.index())
	}
	return true
}

func (g *segment) id() int64 { return g.shape.segmentID(g.i) }

// path returns the last part of every key of the segment.
func (g *segment) path() string {
	return fmt.Sprintf("%d/%d/%d", g.shape.CollectionID(g.collection), g.shape.partitionID(g.collection, g.spart),
		g.id())
}

func (g *segment) info() *datapb.SegmentInfo {
	s := g.shape
	channel := s.vchannel(g.collection, g.shard)
	node := int64(firstDataNode + g.i%dataNodes)
	start := s.position(channel, node, g.i)
	start.MsgGroup = "" // as in Milvus: the start comes from the message itself
	info := &datapb.SegmentInfo{
		ID: g.id(), CollectionID: s.CollectionID(g.collection), PartitionID: s.partitionID(g.collection, g.spart),
		InsertChannel: channel, NumOfRows: g.rows, State: commonpb.SegmentState_Flushed,
		LastExpireTime: s.tso(g.i + 30), StartPosition: start,
		DmlPosition: s.position(channel, node, g.i+g.random.IntN(400)),
		Level:       datapb.SegmentLevel_L1, LastLevel: datapb.SegmentLevel_L1, StorageVersion: 0,
	}
	info.MaxRowNum = 340_000 //nolint:staticcheck // 2.4 fills the deprecated field
	row, last := g.i/s.spots(), (s.Segments-1)/s.spots()
	switch {
	case s.isGrowing(g.i):
		info.State, info.NumOfRows = commonpb.SegmentState_Growing, 0
	case last > 0 && row == last-1 && g.i%16 == 0:
		info.State = commonpb.SegmentState_Sealed
	case last > 0 && row == last-1 && g.i%16 == 1:
		info.State = commonpb.SegmentState_Flushing
	case row%compactionCycle == compactedRow:
		info.State, info.Compacted, info.DroppedAt = commonpb.SegmentState_Dropped, true,
			uint64(s.Start.UnixNano())+uint64(g.i)
	case row%compactionCycle == compactedRow+1:
		info.CreatedByCompaction, info.CompactionFrom = true, []int64{s.segmentID(g.i - s.spots())}
	}
	return info
}

// Rewritten returns the record of segment i after a rewrite that added more rows.
func (s Shape) Rewritten(i int, more int64) KV {
	g := s.segment(i)
	g.rows += more
	info := g.info()
	info.NumOfRows = g.rows
	return s.message("datacoord-meta/s/"+g.path(), info)
}

// logs yields one binlog key per field, one stats log key and one delta log key, in the layout of 2.3 and
// later: log ids without paths.
func (g *segment) logs(yield func(KV) bool) bool {
	next := g.id() + 2 // the ids of the segment and its index build come first
	log := func(kind string, field, size int64) bool {
		next++
		return yield(g.shape.message(fmt.Sprintf("datacoord-meta/%s/%s/%d", kind, g.path(), field), &datapb.FieldBinlog{
			FieldID: field, Binlogs: []*datapb.Binlog{{
				EntriesNum: g.rows, TimestampFrom: g.shape.tso(g.i), TimestampTo: g.shape.tso(g.i + 30),
				LogSize: size, LogID: next - 1, MemorySize: size + size/8,
			}},
		}))
	}
	for _, f := range fields() {
		width := int64(8)
		if f.FieldID == vectorField {
			width = 768 * 4
		}
		if !log("binlog", f.FieldID, g.rows*width) {
			return false
		}
	}
	return log("statslog", 100, 3000+g.rows/10) && log("deltalog", 0, 16*(1+g.rows/100))
}

func (g *segment) index() KV {
	s := g.shape
	build := g.id() + 1
	info := &indexpb.SegmentIndex{
		CollectionID: s.CollectionID(g.collection), PartitionID: s.partitionID(g.collection, g.spart),
		SegmentID: g.id(), NumRows: g.rows,
		IndexID: s.indexID(g.collection), BuildID: build, NodeID: indexNode, IndexVersion: 1,
		State:         commonpb.IndexState_Finished,
		IndexFileKeys: []string{"HNSW"}, CreateTime: s.tso(g.i + 31), SerializeSize: uint64(g.rows) * 3200,
		CurrentIndexVersion: 5,
	}
	switch r := g.random.IntN(1000); {
	case r < 5:
		info.State, info.IndexFileKeys, info.SerializeSize = commonpb.IndexState_InProgress, nil, 0
	case r == 5:
		info.State, info.IndexFileKeys, info.SerializeSize = commonpb.IndexState_Failed, nil, 0
		info.FailReason = "out of memory while building"
	}
	return s.message(fmt.Sprintf("segment-index/%s/%d", g.path(), build), info)
}
