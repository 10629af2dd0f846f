// Package modeltest builds small and large clusters for tests of packages that read a model.Cluster. They are
// not decoded. For real metadata see testdata/snapshots.
package modeltest

import (
	"time"

	"kitescope/inspect/model"
)

// Now is the reference time of the clusters in this package.
var Now = time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)

func ago(d time.Duration) model.TSO { return model.TSOFromTime(Now.Add(-d)) }

// Ids of the collections in Small.
const (
	Docs   = model.CollectionID(470590569932652633)
	Orders = model.CollectionID(470590569933053506)
	Odd    = model.CollectionID(470590569933053999)
)

// Small returns a cluster with at least one object of every resource, a collection whose name has terminal
// control sequences, a compaction, and a fault in most places.
func Small() *model.Cluster { return model.Build(SmallParts()) }

// SmallParts returns the parts of Small, for changes before Build.
func SmallParts() model.Parts {
	p := model.Parts{
		Origin: model.Origin{
			Kind: "etcd", Location: "etcd://127.0.0.1:2379/by-dev", Detail: "etcd 3.5.9", Root: "by-dev",
			MetaPath: "meta",
			Revision: 1643, Taken: Now.Add(-2 * time.Second),
		},
		Loaded: model.PartAll,
		Version: model.Version{
			Text: "2.4.5", From: "sessions", Notes: []string{"keys of the 2.1 layout beside newer ones"},
		},
		Keys: 321, Tombstones: 4,
	}
	catalog(&p)
	segments(&p)
	serving(&p)
	access(&p)
	background(&p)
	p.Keyspace = newKeyspace()
	return p
}

func catalog(p *model.Parts) {
	p.Databases = []*model.Database{
		{ID: 1, Name: "default", State: "Created", CreatedAt: ago(90 * 24 * time.Hour)},
		{
			ID: 2, Name: "tenant_a", State: "Created", CreatedAt: ago(48 * time.Hour),
			Properties: []model.Pair{{Key: "database.replica.number", Value: "2"}},
		},
	}
	p.Collections = []*model.Collection{
		{
			ID: Docs, Database: 1, Name: "docs", Description: "articles, \"quoted\"\nsecond line", State: "Created",
			Shards:           2,
			ConsistencyLevel: "Bounded", DynamicField: true, CreatedAt: ago(26 * time.Hour), Layout: "2.2.9",
			VChannels: []string{
				"by-dev-rootcoord-dml_0_470590569932652633v0", "by-dev-rootcoord-dml_1_470590569932652633v1",
			},
			Properties: []model.Pair{
				{Key: "collection.ttl.seconds", Value: "86400"}, {Key: "mmap.enabled", Value: "true"},
			},
			Fields: []*model.Field{
				{ID: 0, Name: "RowID", Type: "Int64"},
				{ID: 1, Name: "Timestamp", Type: "Int64"},
				{ID: 100, Name: "id", Type: "Int64", PrimaryKey: true, AutoID: true},
				{
					ID: 101, Name: "title", Type: "VarChar", Nullable: true,
					Params: []model.Pair{{Key: "max_length", Value: "64"}},
				},
				{ID: 102, Name: "vec", Type: "FloatVector", Dim: 768, Params: []model.Pair{{Key: "dim", Value: "768"}}},
				{ID: 103, Name: "sparse", Type: "SparseFloatVector", FuncOutput: true},
			},
			Functions: []*model.Function{
				{ID: 1, Name: "bm25", Type: "BM25", Inputs: []string{"title"}, Outputs: []string{"sparse"}},
			},
			Key: "by-dev/meta/root-coord/database/collection-info/1/470590569932652633",
		},
		{
			ID: Orders, Database: 2, Name: "orders", State: "Created", Shards: 1, CreatedAt: ago(3 * time.Hour),
			Layout:    "2.2.9",
			VChannels: []string{"by-dev-rootcoord-dml_14_470590569933053506v0"},
			Fields: []*model.Field{
				{
					ID: 100, Name: "id", Type: "VarChar", PrimaryKey: true,
					Params: []model.Pair{{Key: "max_length", Value: "36"}},
				},
				{ID: 101, Name: "vec", Type: "BinaryVector", Dim: 64, Params: []model.Pair{{Key: "dim", Value: "64"}}},
			},
		},
		{ID: Odd, Database: 1, Name: "\x1b[31mred\u202e\xff,\"x\"\n表", State: "Dropping", Shards: 1, Layout: "2.2.9"},
	}
	p.Partitions = []*model.Partition{
		{ID: 470590569932652643, Collection: Docs, Name: "_default", State: "Created", CreatedAt: ago(26 * time.Hour)},
		{ID: 470590569932652700, Collection: Docs, Name: "2026", State: "Created", CreatedAt: ago(20 * time.Hour)},
		{ID: 470590569933053507, Collection: Orders, Name: "_default", State: "Created", CreatedAt: ago(3 * time.Hour)},
	}
	p.Aliases = []*model.Alias{
		{Name: "articles", Database: 1, Collection: Docs, State: "Created", CreatedAt: ago(time.Hour)},
		{Name: "prod", Database: 1, Collection: Docs, State: "Created", CreatedAt: ago(time.Hour)},
	}
	p.Indexes = []*model.Index{
		{
			ID: 470590569932652801, Collection: Docs, Field: 102, Name: "vec_hnsw", Type: "HNSW", Metric: "COSINE",
			Params:    []model.Pair{{Key: "M", Value: "16"}, {Key: "efConstruction", Value: "200"}},
			CreatedAt: Now.Add(-25 * time.Hour), Layout: "2.2",
		},
		{
			ID: 470590569932652802, Collection: Docs, Field: 101, Name: "title_inv", Type: "INVERTED",
			CreatedAt: Now.Add(-25 * time.Hour), Layout: "2.2", Deleted: true,
		},
	}
}

const (
	docs0 = "by-dev-rootcoord-dml_0_470590569932652633v0"
	docs1 = "by-dev-rootcoord-dml_1_470590569932652633v1"
)

func segments(p *model.Parts) {
	flushed := func(id model.SegmentID, part model.PartitionID, channel string, rows int64) *model.Segment {
		return &model.Segment{
			ID: id, Collection: Docs, Partition: part, VChannel: channel, State: model.SegmentFlushed,
			Level: model.LevelL1,
			Rows:  rows, MaxRows: 8192, DeletedRows: rows / 100, Bytes: rows * 3200, StartAt: ago(24 * time.Hour),
			PositionAt: ago(23 * time.Hour),
			Logs: []model.FieldLogs{
				{Kind: model.InsertLog, Field: 100, Files: 1, Rows: rows, Bytes: rows * 8},
				{Kind: model.InsertLog, Field: 102, Files: 2, Rows: rows, Bytes: rows * 3072, MemoryBytes: rows * 3072},
				{Kind: model.DeltaLog, Files: 1, Rows: rows / 100, Bytes: rows * 120},
			},
		}
	}
	a := flushed(470590569932852667, 470590569932652643, docs0, 6000)
	a.CompactedFrom = []model.SegmentID{470590569932852601, 470590569932852602}
	a.ByCompaction, a.Sorted = true, true
	a.Details = &model.SegmentDetails{
		TextIndexes: []model.FieldStat{{Field: 101, Version: 2, Files: 9, Bytes: 81920, MemoryBytes: 122880}},
		JSONIndexes: []model.FieldStat{{Field: 104, Version: 1, Files: 3, Bytes: 4096}},
	}
	a.Indexes = []model.SegmentIndex{{
		Segment: a.ID, Collection: Docs, Partition: a.Partition, Index: 470590569932652801, Build: 470590569932900001,
		State: model.IndexFinished, Rows: 6000, Bytes: 19 << 20, Files: 3, EngineVersion: 6,
		CreatedAt: Now.Add(-23 * time.Hour), FinishedAt: Now.Add(-22 * time.Hour), Node: 4,
	}}
	a.IndexBytes = 19 << 20
	b := flushed(470590569932852671, 470590569932652643, docs1, 1984)
	b.Indexes = []model.SegmentIndex{{
		Segment: b.ID, Collection: Docs, Partition: b.Partition, Index: 470590569932652801, Build: 470590569932900002,
		State: model.IndexFailed, FailReason: "knowhere: out of memory", Rows: 1984,
		CreatedAt: Now.Add(-20 * time.Minute), Node: 4,
	}}
	c := flushed(470590569932852672, 470590569932652700, docs1, 3000)
	old := flushed(470590569932852601, 470590569932652643, docs0, 3016)
	old.State, old.Compacted, old.DroppedAt = model.SegmentDropped, true, ago(22*time.Hour)
	p.Segments = []*model.Segment{
		old, a, b, c,
		{
			ID: 470590569932852680, Collection: Docs, Partition: -1, VChannel: docs0, State: model.SegmentFlushed,
			Level:       model.LevelL0,
			DeletedRows: 37, Bytes: 2048, StartAt: ago(time.Hour),
			Logs: []model.FieldLogs{{Kind: model.DeltaLog, Files: 1, Rows: 37, Bytes: 2048}},
		},
		{
			ID: 470590569932852690, Collection: Docs, Partition: 470590569932652643, VChannel: docs0,
			State: model.SegmentGrowing, Level: model.LevelL1,
			Rows: 420, MaxRows: 8192, StartAt: ago(10 * time.Minute),
		},
		{
			ID: 470590569933053600, Collection: Orders, Partition: 470590569933053507,
			VChannel: "by-dev-rootcoord-dml_14_470590569933053506v0",
			State:    model.SegmentFlushed, Rows: 3000, MaxRows: 3495, Bytes: 123456, StartAt: ago(2 * time.Hour),
		},
		{
			ID: 470590569933060000, Collection: 470590569931111111, Partition: 470590569931111112,
			VChannel: "by-dev-rootcoord-dml_3_470590569931111111v0",
			State:    model.SegmentFlushed, Rows: 12, MaxRows: 3495, Bytes: 999, StartAt: ago(50 * 24 * time.Hour),
		},
	}
}
