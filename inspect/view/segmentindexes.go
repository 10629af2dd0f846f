package view

import (
	"kitescope/inspect/model"
)

var segmentIndexes = define(definition[*model.SegmentIndex]{
	Resource: Resource{
		Name: "segment-indexes", Singular: "segment-index", Aliases: []string{"segindex", "segidx", "si"}, Kind: "SegmentIndex",
		Doc:        "The building, then the files, of each index on each segment.",
		Needs:      model.PartObjects | model.PartSegments | model.PartSegmentIndexes,
		Names:      []string{"segment_id", "build_id"},
		Handle:     "build_id",
		Shorthands: collectionShorthands("segment", "segment_id", "build", "build_id", "size", "size_bytes"),
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
		Column{Name: "segment_id", Title: "SEGMENT", Kind: ID, Doc: "Segment id."},
		func(_ *Env, x *model.SegmentIndex) Cell { return id(x.Segment) },
	},
	{
		Column{Name: "build_id", Title: "BUILD", Kind: ID, Priority: 4, Doc: "Id of the build."},
		func(_ *Env, x *model.SegmentIndex) Cell { return id(x.Build) },
	},
	{
		Column{Name: "index_id", Title: "INDEX ID", Kind: ID, Show: Hidden, Doc: "Id of the index definition."},
		func(_ *Env, x *model.SegmentIndex) Cell { return id(x.Index) },
	},
	{
		Column{Name: "index", Title: "INDEX", Doc: "Name of the index, none if its definition is gone."},
		func(e *Env, x *model.SegmentIndex) Cell {
			if def := e.Cluster.Index(x.Index); def != nil {
				return text(def.Name)
			}
			return none()
		},
	},
}

var segmentIndexPlace = []column[*model.SegmentIndex]{
	{
		Column{Name: "partition_id", Title: "PARTITION ID", Kind: ID, Show: Hidden, Doc: "Id of the partition."},
		func(_ *Env, x *model.SegmentIndex) Cell { return id(x.Partition) },
	},
	{
		Column{Name: "partition", Title: "PARTITION", Show: Wide, Priority: 6, Doc: "Name of the partition, none if it is gone."},
		func(e *Env, x *model.SegmentIndex) Cell { return text(e.Cluster.PartitionName(x.Partition)) },
	},
	{
		Column{Name: "field", Title: "FIELD", Priority: 3, Doc: "Name of the field that is indexed."},
		func(e *Env, x *model.SegmentIndex) Cell {
			if def := e.Cluster.Index(x.Index); def != nil {
				return text(fieldName(e, x.Collection, def.Field))
			}
			return none()
		},
	},
	{
		Column{Name: "type", Title: "TYPE", Show: Wide, Priority: 5, Doc: "Type of the index: HNSW, IVF_FLAT, ...", vocabulary: true},
		func(e *Env, x *model.SegmentIndex) Cell {
			if def := e.Cluster.Index(x.Index); def != nil {
				return text(def.Type)
			}
			return none()
		},
	},
}

var segmentIndexState = []column[*model.SegmentIndex]{
	{
		Column{Name: "state", Title: "STATE", Kind: State, Doc: "Unissued, InProgress, Finished, Failed or Retry."},
		func(_ *Env, x *model.SegmentIndex) Cell { return text(x.State.String()) },
	},
	{
		Column{Name: "rows", Title: "ROWS", Kind: Int, Priority: 1, Doc: "Rows of the segment when the build was recorded."},
		func(_ *Env, x *model.SegmentIndex) Cell { return count(x.Rows) },
	},
	{
		Column{Name: "size_bytes", Title: "SIZE", Kind: Bytes, Priority: 2, Doc: "Bytes of the index files, where Milvus records them."},
		func(_ *Env, x *model.SegmentIndex) Cell { return someCount(x.Bytes) },
	},
	{
		Column{Name: "files", Title: "FILES", Kind: Int, Show: Wide, Priority: 5, Doc: "Index files in storage."},
		func(_ *Env, x *model.SegmentIndex) Cell { return count(int64(x.Files)) },
	},
	{
		Column{Name: "fail_reason", Title: "FAIL REASON", Priority: 5, Doc: "Why the build failed, as Milvus wrote it."},
		func(_ *Env, x *model.SegmentIndex) Cell { return text(x.FailReason) },
	},
	{
		Column{Name: "deleted", Title: "DELETED", Kind: Bool, Show: Hidden, Doc: "Marked deleted, kept until garbage collection."},
		func(_ *Env, x *model.SegmentIndex) Cell { return yesNo(x.Deleted) },
	},
}

var segmentIndexMore = []column[*model.SegmentIndex]{
	{
		Column{Name: "node", Title: "NODE", Kind: ID, Show: Wide, Priority: 5, Doc: "Id of the node that builds or built it."},
		func(_ *Env, x *model.SegmentIndex) Cell { return someID(x.Node) },
	},
	{
		Column{Name: "node_address", Title: "ADDRESS", Show: Hidden, Doc: "Address of that node, none if it has no session."},
		func(e *Env, x *model.SegmentIndex) Cell {
			return text(nodeAddress(e, x.Node, "indexnode", "datanode"))
		},
	},
	{
		Column{Name: "version", Title: "VERSION", Kind: Int, Show: Hidden, Doc: "How often the build was assigned to a node."},
		func(_ *Env, x *model.SegmentIndex) Cell { return count(x.Version) },
	},
	{
		Column{Name: "engine_version", Title: "ENGINE", Kind: Int, Show: Hidden, Doc: "Version of the index engine (knowhere), where recorded."},
		func(_ *Env, x *model.SegmentIndex) Cell { return someCount(x.EngineVersion) },
	},
	{
		Column{Name: "created_at", Title: "CREATED", Kind: Time, Show: Wide, Priority: 6, Doc: "When the build was requested, where recorded."},
		func(_ *Env, x *model.SegmentIndex) Cell { return at(x.CreatedAt) },
	},
	{
		Column{Name: "finished_at", Title: "FINISHED", Kind: Time, Show: Hidden, Doc: "When the build was finished, where recorded (2.5 and later)."},
		func(_ *Env, x *model.SegmentIndex) Cell { return at(x.FinishedAt) },
	},
}
