package view

import (
	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var segmentIndexes = define(definition[*model.SegmentIndex]{
	Resource: Resource{
		Schema: table.Schema{
			Name:       "segment-indexes",
			Singular:   "segment-index",
			Names:      []string{"segment_id", "build_id"},
			Handle:     "build_id",
			Shorthands: collectionShorthands(),
		},
		Aliases: []string{"segindex", "segidx", "si"},
		Doc:     "Builds and files of each index on each segment.",
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
		return Ref{
			ID: x.Segment.String() + "/" + x.Index.String() + "/" + x.Build.String(), Name: indexName(e, x.Index),
		}
	},
	owner: func(_ *Env, x *model.SegmentIndex) (Ref, bool) {
		return Ref{Resource: "segments", ID: x.Segment.String()}, true
	},
	links: func(_ *Env, x *model.SegmentIndex) []Link {
		return []Link{
			link("segment", "segments", "id="+x.Segment.String()), link("index", "indexes", "id="+x.Index.String()),
		}
	},
})

var segmentIndexIdentity = []column[*model.SegmentIndex]{
	col(table.Column{Name: "segment_id", Title: "SEGMENT", Kind: table.ID, Doc: "Segment id."},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return id(x.Segment) }),
	col(table.Column{Name: "build_id", Title: "BUILD", Kind: table.ID, Priority: 4, Doc: "Id of the build."},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return id(x.Build) }),
	col(table.Column{Name: "index_id", Kind: table.ID, Show: table.Hidden, Doc: "Id of the index definition."},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return id(x.Index) }),
	col(table.Column{Name: "index", Doc: "Name of the index, none if its definition is gone."},
		func(e *Env, x *model.SegmentIndex) table.Cell {
			if def := e.Cluster.Index(x.Index); def != nil {
				return text(def.Name)
			}
			return none()
		}),
}

var segmentIndexPlace = []column[*model.SegmentIndex]{
	col(table.Column{Name: "partition_id", Kind: table.ID, Show: table.Hidden, Doc: "Id of the partition."},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return id(x.Partition) }),
	col(table.Column{
		Name: "partition", Show: table.Wide, Priority: 6, Doc: "Name of the partition, none if it is gone.",
	},
		func(e *Env, x *model.SegmentIndex) table.Cell { return text(e.Cluster.PartitionName(x.Partition)) }),
	col(table.Column{Name: "field", Priority: 3, Doc: "Name of the indexed field."},
		func(e *Env, x *model.SegmentIndex) table.Cell {
			if def := e.Cluster.Index(x.Index); def != nil {
				return text(fieldName(e, x.Collection, def.Field))
			}
			return none()
		}),
	col(table.Column{
		Name: "type", Show: table.Wide, Priority: 5, Doc: "Type of the index: HNSW, IVF_FLAT, ...", Vocabulary: true,
	},
		func(e *Env, x *model.SegmentIndex) table.Cell {
			if def := e.Cluster.Index(x.Index); def != nil {
				return text(def.Type)
			}
			return none()
		}),
}

var segmentIndexState = []column[*model.SegmentIndex]{
	col(table.Column{Name: "state", Kind: table.State, Doc: "Unissued, InProgress, Finished, Failed or Retry."},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return text(x.State.String()) }),
	col(table.Column{
		Name: "rows", Kind: table.Int, Priority: 1, Doc: "Rows of the segment when the build was recorded.",
	},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return count(x.Rows) }),
	col(table.Column{
		Name: "size_bytes", Kind: table.Bytes, Priority: 2, Doc: "Bytes of the index files, where Milvus records them.",
	},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return countOrNone(x.Bytes) }),
	col(table.Column{Name: "files", Kind: table.Int, Show: table.Wide, Priority: 5, Doc: "Index files in storage."},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return count(int64(x.Files)) }),
	col(table.Column{Name: "fail_reason", Priority: 5, Doc: "Why the build failed, from Milvus."},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return text(x.FailReason) }),
	col(table.Column{
		Name: "deleted", Kind: table.Bool, Show: table.Hidden, Doc: "Marked deleted, kept until garbage collection.",
	},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return yesNo(x.Deleted) }),
}

var segmentIndexMore = []column[*model.SegmentIndex]{
	col(table.Column{
		Name: "node", Kind: table.NamedID, Show: table.Wide, Priority: 5, Doc: "The node that builds or built it.",
	},
		func(e *Env, x *model.SegmentIndex) table.Cell {
			return nodeCell(e, x.Node, "", "indexnode", "datanode")
		}),
	col(table.Column{
		Name: "node_address", Title: "ADDRESS", Show: table.Hidden,
		Doc: "Address of that node, none if it has no session.",
	},
		func(e *Env, x *model.SegmentIndex) table.Cell {
			return text(nodeAddress(e, x.Node, "indexnode", "datanode"))
		}),
	col(table.Column{
		Name: "version", Kind: table.Int, Show: table.Hidden,
		Doc: "Number of times that the build was assigned to a node.",
	},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return count(x.Version) }),
	col(table.Column{
		Name: "engine_version", Title: "ENGINE", Kind: table.Int, Show: table.Hidden,
		Doc: "Version of the index engine (knowhere), where recorded.",
	},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return countOrNone(x.EngineVersion) }),
	col(table.Column{
		Name: "scalar_version", Kind: table.Int, Show: table.Hidden,
		Doc: "Version of the scalar index engine, where recorded (2.6).",
	},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return countOrNone(x.ScalarVersion) }),
	col(table.Column{
		Name: "folder", Show: table.Hidden,
		Doc: "Where the index files are, below the root of storage: by build, or by collection (3.0).",
	},
		func(_ *Env, x *model.SegmentIndex) table.Cell {
			if x.Legacy {
				return none()
			}
			return text(x.Folder(x.Partition, x.Segment))
		}),
	col(table.Column{
		Name: "created_at", Title: "CREATED", Kind: table.Time, Show: table.Wide, Priority: 6,
		Doc: "When the build was requested, where recorded.",
	},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return timeCell(x.CreatedAt) }),
	col(table.Column{
		Name: "finished_at", Title: "FINISHED", Kind: table.Time, Show: table.Hidden,
		Doc: "When the build was finished, where recorded (2.5 and later).",
	},
		func(_ *Env, x *model.SegmentIndex) table.Cell { return timeCell(x.FinishedAt) }),
}
