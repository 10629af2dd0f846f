package view

import (
	"kitescope/inspect/model"
)

var segmentIndexes = define(definition[*model.SegmentIndex]{
	Resource: Resource{
		Schema: Schema{
			Name: "segment-indexes", Singular: "segment-index",
			Names:      []string{"segment_id", "build_id"},
			Handle:     "build_id",
			Shorthands: collectionShorthands("segment", "segment_id", "build", "build_id", "size", "size_bytes"),
		},
		Aliases: []string{"segindex", "segidx", "si"}, Kind: "SegmentIndex",
		Doc:   "The building, then the files, of each index on each segment.",
		Needs: model.PartObjects | model.PartSegments | model.PartSegmentIndexes,
	},
	rows: func(e *Env) []*model.SegmentIndex {
		n := 0
		for _, s := range e.Cluster.Segments {
			n += len(s.Indexes)
		}
		rows := make([]*model.SegmentIndex, 0, n)
		for _, s := range e.Cluster.Segments {
			for i := range s.Indexes {
				rows = append(rows, &s.Indexes[i])
			}
		}
		return rows
	},
	columns: concat(
		segmentIndexIdentity,
		collectionColumns(func(x *model.SegmentIndex) model.CollectionID { return x.Collection }),
		segmentIndexPlace, segmentIndexState, segmentIndexMore,
	),
	ref: func(e *Env, x *model.SegmentIndex) Ref {
		return Ref{ID: x.Segment.String() + "/" + x.Index.String() + "/" + x.Build.String(), Name: indexName(e, x.Index)}
	},
	owner: func(_ *Env, x *model.SegmentIndex) (Ref, bool) {
		return Ref{Resource: "segments", ID: x.Segment.String()}, true
	},
	links: func(_ *Env, x *model.SegmentIndex) []Link {
		return []Link{link("segment", "segments", "id="+x.Segment.String()), link("index", "indexes", "id="+x.Index.String())}
	},
})

var segmentIndexIdentity = []column[*model.SegmentIndex]{
	{
		Column: Column{Name: "segment_id", Title: "SEGMENT", Kind: ID, Doc: "Segment id."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return id(x.Segment) },
	},
	{
		Column: Column{Name: "build_id", Title: "BUILD", Kind: ID, Priority: 4, Doc: "Id of the build."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return id(x.Build) },
	},
	{
		Column: Column{Name: "index_id", Title: "INDEX ID", Kind: ID, Show: Hidden, Doc: "Id of the index definition."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return id(x.Index) },
	},
	{
		Column: Column{Name: "index", Title: "INDEX", Doc: "Name of the index, none if its definition is gone."},
		cell: func(e *Env, x *model.SegmentIndex) Cell {
			if def := e.Cluster.Index(x.Index); def != nil {
				return text(def.Name)
			}
			return none()
		},
	},
}

var segmentIndexPlace = []column[*model.SegmentIndex]{
	{
		Column: Column{Name: "partition_id", Title: "PARTITION ID", Kind: ID, Show: Hidden, Doc: "Id of the partition."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return id(x.Partition) },
	},
	{
		Column: Column{Name: "partition", Title: "PARTITION", Show: Wide, Priority: 6, Doc: "Name of the partition, none if it is gone."},
		cell:   func(e *Env, x *model.SegmentIndex) Cell { return text(e.Cluster.PartitionName(x.Partition)) },
	},
	{
		Column: Column{Name: "field", Title: "FIELD", Priority: 3, Doc: "Name of the field that is indexed."},
		cell: func(e *Env, x *model.SegmentIndex) Cell {
			if def := e.Cluster.Index(x.Index); def != nil {
				return text(fieldName(e, x.Collection, def.Field))
			}
			return none()
		},
	},
	{
		Column: Column{Name: "type", Title: "TYPE", Show: Wide, Priority: 5, Doc: "Type of the index: HNSW, IVF_FLAT, ...", Vocabulary: true},
		cell: func(e *Env, x *model.SegmentIndex) Cell {
			if def := e.Cluster.Index(x.Index); def != nil {
				return text(def.Type)
			}
			return none()
		},
	},
}

var segmentIndexState = []column[*model.SegmentIndex]{
	{
		Column: Column{Name: "state", Title: "STATE", Kind: State, Doc: "Unissued, InProgress, Finished, Failed or Retry."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return text(x.State.String()) },
	},
	{
		Column: Column{Name: "rows", Title: "ROWS", Kind: Int, Priority: 1, Doc: "Rows of the segment when the build was recorded."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return count(x.Rows) },
	},
	{
		Column: Column{Name: "size_bytes", Title: "SIZE", Kind: Bytes, Priority: 2, Doc: "Bytes of the index files, where Milvus records them."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return someCount(x.Bytes) },
	},
	{
		Column: Column{Name: "files", Title: "FILES", Kind: Int, Show: Wide, Priority: 5, Doc: "Index files in storage."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return count(int64(x.Files)) },
	},
	{
		Column: Column{Name: "fail_reason", Title: "FAIL REASON", Priority: 5, Doc: "Why the build failed, as Milvus wrote it."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return text(x.FailReason) },
	},
	{
		Column: Column{Name: "deleted", Title: "DELETED", Kind: Bool, Show: Hidden, Doc: "Marked deleted, kept until garbage collection."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return yesNo(x.Deleted) },
	},
}

var segmentIndexMore = []column[*model.SegmentIndex]{
	{
		Column: Column{Name: "node", Title: "NODE", Kind: ID, Show: Wide, Priority: 5, Doc: "Id of the node that builds or built it."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return someID(x.Node) },
	},
	{
		Column: Column{Name: "node_address", Title: "ADDRESS", Show: Hidden, Doc: "Address of that node, none if it has no session."},
		cell: func(e *Env, x *model.SegmentIndex) Cell {
			return text(nodeAddress(e, x.Node, "indexnode", "datanode"))
		},
	},
	{
		Column: Column{Name: "version", Title: "VERSION", Kind: Int, Show: Hidden, Doc: "How often the build was assigned to a node."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return count(x.Version) },
	},
	{
		Column: Column{Name: "engine_version", Title: "ENGINE", Kind: Int, Show: Hidden, Doc: "Version of the index engine (knowhere), where recorded."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return someCount(x.EngineVersion) },
	},
	{
		Column: Column{Name: "created_at", Title: "CREATED", Kind: Time, Show: Wide, Priority: 6, Doc: "When the build was requested, where recorded."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return at(x.CreatedAt) },
	},
	{
		Column: Column{Name: "finished_at", Title: "FINISHED", Kind: Time, Show: Hidden, Doc: "When the build was finished, where recorded (2.5 and later)."},
		cell:   func(_ *Env, x *model.SegmentIndex) Cell { return at(x.FinishedAt) },
	},
}
