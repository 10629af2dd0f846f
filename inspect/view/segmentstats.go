package view

import (
	"kitescope/inspect/model"
)

// statRow is an index that a segment has beside those of its vectors and scalars: of the words of a text, or of the keys of a JSON field.
type statRow struct {
	model.FieldStat
	kind    string // text or json
	segment *model.Segment
}

func (x statRow) path() string { return x.segment.ID.String() + "/" + x.kind + "/" + x.Field.String() }

var segmentStats = define(definition[statRow]{
	Resource: Resource{
		Schema: Schema{
			Name: "segment-stats", Singular: "segment-stat",
			Names:      []string{"path", "segment_id"},
			Handle:     "path",
			Shorthands: collectionShorthands("segment", "segment_id", "size", "size_bytes"),
		},
		Aliases: []string{"segstats"},
		Kind:    "SegmentStats",
		Doc:     "Text and JSON key indexes of segments (2.5 and later): version, files and sizes, by field.",
		Needs:   model.PartObjects | model.PartSegments,
	},
	rows: func(e *Env) []statRow {
		var rows []statRow
		for _, s := range e.Cluster.Segments {
			if s.Details == nil {
				continue
			}
			for _, x := range s.Details.TextIndexes {
				rows = append(rows, statRow{x, "text", s})
			}
			for _, x := range s.Details.JSONIndexes {
				rows = append(rows, statRow{x, "json", s})
			}
		}
		return rows
	},
	columns: concat(
		[]column[statRow]{
			{
				Column: Column{Name: "path", Title: "PATH", Show: Hidden, Doc: "segment_id/kind/field_id, which names it in the cluster."},
				cell:   func(_ *Env, x statRow) Cell { return text(x.path()) },
			},
			{
				Column: Column{Name: "segment_id", Title: "SEGMENT", Kind: ID, Doc: "Segment id."},
				cell:   func(_ *Env, x statRow) Cell { return id(x.segment.ID) },
			},
			{
				Column: Column{Name: "kind", Title: "KIND", Doc: "text: of the words of a field, for text matches; json: of the keys of a JSON field."},
				cell:   func(_ *Env, x statRow) Cell { return text(x.kind) },
			},
		},
		collectionColumns(func(x statRow) model.CollectionID { return x.segment.Collection }),
		segmentStatFigures,
	),
	ref: func(_ *Env, x statRow) Ref { return Ref{ID: x.path()} },
	owner: func(_ *Env, x statRow) (Ref, bool) {
		return Ref{Resource: "segments", ID: x.segment.ID.String()}, true
	},
	links: func(_ *Env, x statRow) []Link {
		return []Link{link("segment", "segments", "id="+x.segment.ID.String())}
	},
})

var segmentStatFigures = []column[statRow]{
	{
		Column: Column{Name: "field_id", Title: "FIELD ID", Kind: ID, Show: Hidden, Doc: "Id of the field."},
		cell:   func(_ *Env, x statRow) Cell { return id(x.Field) },
	},
	{
		Column: Column{Name: "field", Title: "FIELD", Priority: 1, Doc: "Name of the field, none if it is gone."},
		cell:   func(e *Env, x statRow) Cell { return text(fieldName(e, x.segment.Collection, x.Field)) },
	},
	{
		Column: Column{Name: "version", Title: "VERSION", Kind: Int, Priority: 4, Doc: "Which build of the index it is."},
		cell:   func(_ *Env, x statRow) Cell { return count(x.Version) },
	},
	{
		Column: Column{Name: "files", Title: "FILES", Kind: Int, Priority: 3, Doc: "Files in storage."},
		cell:   func(_ *Env, x statRow) Cell { return count(int64(x.Files)) },
	},
	{
		Column: Column{Name: "size_bytes", Title: "SIZE", Kind: Bytes, Priority: 2, Doc: "Bytes in storage, where recorded."},
		cell:   func(_ *Env, x statRow) Cell { return someCount(x.Bytes) },
	},
	{
		Column: Column{Name: "memory_bytes", Title: "MEMORY", Kind: Bytes, Priority: 5, Doc: "Bytes when loaded, where recorded."},
		cell:   func(_ *Env, x statRow) Cell { return someCount(x.MemoryBytes) },
	},
}
