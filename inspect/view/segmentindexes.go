package view

import (
	"kitescope/inspect/model"
)

var segmentIndexes = define(definition[*model.SegmentIndex]{
	Resource: Resource{
		Schema: Schema{
			Name:       "segment-indexes",
			Singular:   "segment-index",
			Names:      []string{"segment_id", "build_id"},
			Handle:     "build_id",
			Shorthands: collectionShorthands("segment", "segment_id", "build", "build_id", "size", "size_bytes"),
		},
		Aliases: []string{"segindex", "segidx", "si"},
		Doc:     "The building, then the files, of each index on each segment.",
		Needs:   model.PartObjects | model.PartSegments | model.PartSegmentIndexes,
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
	col(Column{Name: "segment_id", Title: "SEGMENT", Kind: ID, Doc: "Segment id."}, func(_ *Env, x *model.SegmentIndex) Cell { return id(x.Segment) }),
	col(Column{Name: "build_id", Title: "BUILD", Kind: ID, Priority: 4, Doc: "Id of the build."},
		func(_ *Env, x *model.SegmentIndex) Cell { return id(x.Build) }),
	col(Column{Name: "index_id", Kind: ID, Show: Hidden, Doc: "Id of the index definition."},
		func(_ *Env, x *model.SegmentIndex) Cell { return id(x.Index) }),
	col(Column{Name: "index", Doc: "Name of the index, none if its definition is gone."}, func(e *Env, x *model.SegmentIndex) Cell {
		if def := e.Cluster.Index(x.Index); def != nil {
			return text(def.Name)
		}
		return none()
	}),
}

var segmentIndexPlace = []column[*model.SegmentIndex]{
	col(Column{Name: "partition_id", Kind: ID, Show: Hidden, Doc: "Id of the partition."},
		func(_ *Env, x *model.SegmentIndex) Cell { return id(x.Partition) }),
	col(Column{Name: "partition", Show: Wide, Priority: 6, Doc: "Name of the partition, none if it is gone."},
		func(e *Env, x *model.SegmentIndex) Cell { return text(e.Cluster.PartitionName(x.Partition)) }),
	col(Column{Name: "field", Priority: 3, Doc: "Name of the field that is indexed."}, func(e *Env, x *model.SegmentIndex) Cell {
		if def := e.Cluster.Index(x.Index); def != nil {
			return text(fieldName(e, x.Collection, def.Field))
		}
		return none()
	}),
	col(Column{Name: "type", Show: Wide, Priority: 5, Doc: "Type of the index: HNSW, IVF_FLAT, ...", Vocabulary: true},
		func(e *Env, x *model.SegmentIndex) Cell {
			if def := e.Cluster.Index(x.Index); def != nil {
				return text(def.Type)
			}
			return none()
		}),
}

var segmentIndexState = []column[*model.SegmentIndex]{
	col(Column{Name: "state", Kind: State, Doc: "Unissued, InProgress, Finished, Failed or Retry."},
		func(_ *Env, x *model.SegmentIndex) Cell { return text(x.State.String()) }),
	col(Column{Name: "rows", Kind: Int, Priority: 1, Doc: "Rows of the segment when the build was recorded."},
		func(_ *Env, x *model.SegmentIndex) Cell { return count(x.Rows) }),
	col(Column{Name: "size_bytes", Kind: Bytes, Priority: 2, Doc: "Bytes of the index files, where Milvus records them."},
		func(_ *Env, x *model.SegmentIndex) Cell { return someCount(x.Bytes) }),
	col(Column{Name: "files", Kind: Int, Show: Wide, Priority: 5, Doc: "Index files in storage."},
		func(_ *Env, x *model.SegmentIndex) Cell { return count(int64(x.Files)) }),
	col(Column{Name: "fail_reason", Priority: 5, Doc: "Why the build failed, as Milvus wrote it."},
		func(_ *Env, x *model.SegmentIndex) Cell { return text(x.FailReason) }),
	col(Column{Name: "deleted", Kind: Bool, Show: Hidden, Doc: "Marked deleted, kept until garbage collection."},
		func(_ *Env, x *model.SegmentIndex) Cell { return yesNo(x.Deleted) }),
}

var segmentIndexMore = []column[*model.SegmentIndex]{
	col(Column{Name: "node", Kind: ID, Show: Wide, Priority: 5, Doc: "Id of the node that builds or built it."},
		func(_ *Env, x *model.SegmentIndex) Cell { return someID(x.Node) }),
	col(Column{Name: "node_address", Title: "ADDRESS", Show: Hidden, Doc: "Address of that node, none if it has no session."},
		func(e *Env, x *model.SegmentIndex) Cell {
			return text(nodeAddress(e, x.Node, "indexnode", "datanode"))
		}),
	col(Column{Name: "version", Kind: Int, Show: Hidden, Doc: "How often the build was assigned to a node."},
		func(_ *Env, x *model.SegmentIndex) Cell { return count(x.Version) }),
	col(Column{Name: "engine_version", Title: "ENGINE", Kind: Int, Show: Hidden, Doc: "Version of the index engine (knowhere), where recorded."},
		func(_ *Env, x *model.SegmentIndex) Cell { return someCount(x.EngineVersion) }),
	col(Column{Name: "created_at", Title: "CREATED", Kind: Time, Show: Wide, Priority: 6, Doc: "When the build was requested, where recorded."},
		func(_ *Env, x *model.SegmentIndex) Cell { return at(x.CreatedAt) }),
	col(Column{Name: "finished_at", Title: "FINISHED", Kind: Time, Show: Hidden, Doc: "When the build was finished, where recorded (2.5 and later)."},
		func(_ *Env, x *model.SegmentIndex) Cell { return at(x.FinishedAt) }),
}
