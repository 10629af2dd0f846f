package modeltest

import (
	"strconv"
	"time"

	"kitescope/inspect/model"
)

// Large returns a cluster for benchmarks. It has n segments in 50 collections of 2 channels and 4 partitions.
// Three quarters of them have a finished index.
func Large(n int) *model.Cluster { return model.Build(LargeParts(n)) }

// LargeParts returns the parts of Large.
func LargeParts(n int) model.Parts {
	p := model.Parts{
		Origin: model.Origin{
			Kind: "etcd", Location: "etcd://127.0.0.1:2379/by-dev", Root: "by-dev", MetaPath: "meta", Revision: 42,
			Taken: Now,
		},
		Loaded: model.PartAll,
	}
	const collections, channels, partitions = 50, 2, 4
	for c := range collections {
		id := model.CollectionID(470590569932000000 + 1000*c)
		x := &model.Collection{
			ID: id, Database: 1, Name: "collection_" + strconv.Itoa(c), State: "Created", Shards: channels,
			CreatedAt: ago(time.Hour),
		}
		for v := range channels {
			name := "by-dev-rootcoord-dml_" + strconv.Itoa((c*channels+v)%16) + "_" + id.String() + "v" +
				strconv.Itoa(v)
			x.VChannels = append(x.VChannels, name)
			p.VChannels = append(p.VChannels, &model.VChannel{
				Name: name, Collection: id, Shard: v, Checkpoint: model.Checkpoint{At: ago(time.Minute)},
			})
		}
		for i := range partitions {
			p.Partitions = append(p.Partitions, &model.Partition{
				ID: model.PartitionID(int64(id) + int64(i) + 1), Collection: id, Name: "part_" + strconv.Itoa(i),
			})
		}
		p.Collections = append(p.Collections, x)
		p.Indexes = append(p.Indexes, &model.Index{
			ID: model.IndexID(id) + 500, Collection: id, Field: 102, Name: "vec_idx", Type: "HNSW",
		})
	}
	p.Segments = make([]*model.Segment, n)
	for c := range collections { // allocated in the order of their keys: by collection
		for i := c; i < n; i += collections {
			p.Segments[i] = largeSegment(i, p.Collections[c])
		}
	}
	return p
}

func largeSegment(i int, c *model.Collection) *model.Segment {
	s := &model.Segment{
		ID: model.SegmentID(470590570000000000 + int64(i)), Collection: c.ID,
		Partition: model.PartitionID(int64(c.ID) + int64(i/50%4) + 1),
		VChannel:  c.VChannels[i/200%2], State: model.SegmentFlushed, Level: model.LevelL1,
		Rows: int64(1000 + i*7919%500000), MaxRows: 500000,
		StartAt: ago(time.Duration(i) * time.Second), PositionAt: ago(time.Minute), DeletedRows: int64(i % 100),
		Bytes: int64(i) * 1234567 % (1 << 30),
	}
	switch i % 20 {
	case 0:
		s.State = model.SegmentGrowing
	case 1:
		s.State, s.DroppedAt, s.Compacted = model.SegmentDropped, ago(time.Hour), true
	case 2:
		s.CompactedFrom = []model.SegmentID{s.ID - 1}
	}
	if i%4 != 0 {
		s.Indexes = []model.SegmentIndex{{
			Segment: s.ID, Collection: c.ID, Partition: s.Partition, Index: model.IndexID(c.ID) + 500,
			Build: model.BuildID(i), State: model.IndexFinished, Rows: s.Rows,
		}}
	}
	return s
}
