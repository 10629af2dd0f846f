package view

import (
	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var orphans = define(definition[*model.Segment]{
	Resource: Resource{
		Schema: table.Schema{Name: "orphans", Names: []string{"id"}, Shorthands: collectionShorthands()},
		Kind:   "OrphanSegment",
		Doc:    "Segments with recorded logs or index files but no segment record: leaks, or an interrupted write.",
		Needs:  model.PartObjects | model.PartSegments | model.PartLogs | model.PartSegmentIndexes,
	},
	rows: func(e *Env) []*model.Segment { return e.Cluster.Orphans },
	columns: concat(
		[]column[*model.Segment]{
			col(table.Column{Name: "id", Kind: table.ID, Doc: "Segment id."},
				func(_ *Env, s *model.Segment) table.Cell { return id(s.ID) }),
		},
		collectionColumns(func(s *model.Segment) model.CollectionID { return s.Collection }),
		[]column[*model.Segment]{
			col(table.Column{
				Name: "partition_id", Kind: table.ID, Show: table.Wide, Priority: 6, Doc: "Id of the partition.",
			},
				func(_ *Env, s *model.Segment) table.Cell { return id(s.Partition) }),
			col(table.Column{Name: "partition", Priority: 4, Doc: "Name of the partition, none if it is gone."},
				func(e *Env, s *model.Segment) table.Cell { return text(e.Cluster.PartitionName(s.Partition)) }),
			col(table.Column{
				Name: "files", Kind: table.Int,
				Doc: "Recorded log files.",
			},
				func(_ *Env, s *model.Segment) table.Cell { return count(logFiles(s)) }),
			col(table.Column{Name: "size_bytes", Kind: table.Bytes, Priority: 1, Doc: "Bytes of those files."},
				func(_ *Env, s *model.Segment) table.Cell { return count(s.Bytes) }),
			col(table.Column{Name: "indexes", Kind: table.Int, Priority: 2, Doc: "Its index records."},
				func(_ *Env, s *model.Segment) table.Cell { return count(int64(len(s.Indexes))) }),
		},
	),
	ref:   func(_ *Env, s *model.Segment) Ref { return Ref{ID: s.ID.String()} },
	owner: func(e *Env, s *model.Segment) (Ref, bool) { return collectionRef(e, s.Collection) },
	sections: func(s *scope, x *model.Segment) []Section {
		return []Section{
			sectionOf(s, "logs", segmentLogs, logRows(s.Env, x)),
			section(s, "indexes", "segment-indexes", pointers(x.Indexes), "index", "field", "state", "rows",
				"size_bytes", "build_id"),
		}
	},
})

// pointers returns pointers to the elements of list, as rows of a table.
func pointers[T any](list []T) []*T {
	rows := make([]*T, len(list))
	for i := range list {
		rows[i] = &list[i]
	}
	return rows
}
