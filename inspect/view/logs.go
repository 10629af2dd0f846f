package view

import (
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// logRow holds the logs of one kind and field of a segment.
type logRow struct {
	model.FieldLogs
	segment *model.Segment
}

// segmentLogs is shown only in the description of a segment.
var segmentLogs = define(definition[logRow]{
	Resource: Resource{
		Schema: table.Schema{Name: "segment-logs", Handle: "field_id"},
		Doc:    "Log files of one segment, by kind and field.",
		Needs:  model.PartSegments | model.PartLogs,
	},
	columns: []column[logRow]{
		col(table.Column{Name: "kind", Doc: "insert, delta, stats or bm25."}, func(_ *Env, l logRow) table.Cell {
			return text(l.Kind.String())
		}),
		col(table.Column{
			Name: "field_id", Kind: table.ID, Doc: "Id of the field, or of the column group under storage version 2.",
		},
			func(_ *Env, l logRow) table.Cell { return logField(l, id(l.Field)) }),
		col(table.Column{Name: "field", Doc: "Name of the field."},
			func(e *Env, l logRow) table.Cell {
				return logField(l, text(fieldName(e, l.segment.Collection, l.Field)))
			}),
		col(table.Column{Name: "files", Kind: table.Int, Doc: "Files in storage."}, func(_ *Env, l logRow) table.Cell {
			return count(int64(l.Files))
		}),
		col(table.Column{
			Name: "entries", Kind: table.Int, Doc: "Entries of all files: rows of insert logs, deletes of delta logs.",
		},
			func(_ *Env, l logRow) table.Cell { return count(l.Rows) }),
		col(table.Column{Name: "size_bytes", Kind: table.Bytes, Doc: "Bytes in storage."},
			func(_ *Env, l logRow) table.Cell { return count(l.Bytes) }),
		col(table.Column{
			Name: "memory_bytes", Kind: table.Bytes, Doc: "Bytes when decoded, where recorded (2.4 and later).",
		},
			func(_ *Env, l logRow) table.Cell { return countOrNone(l.MemoryBytes) }),
	},
	ref: func(_ *Env, l logRow) Ref {
		return Ref{ID: l.segment.ID.String() + "/" + l.Kind.String() + "/" + l.Field.String()}
	},
})

// logField returns c, or none for delta logs, which belong to no field.
func logField(l logRow, c table.Cell) table.Cell {
	if l.Kind == model.DeltaLog {
		return none()
	}
	return c
}

func fieldName(e *Env, c model.CollectionID, f model.FieldID) string {
	if x := e.Cluster.Collection(c); x != nil {
		if field := x.Field(f); field != nil {
			return field.Name
		}
	}
	return ""
}

func logRows(_ *Env, s *model.Segment) []logRow {
	rows := make([]logRow, len(s.Logs))
	for i := range s.Logs {
		rows[i] = logRow{s.Logs[i], s}
	}
	return rows
}

// stateRow adds up the segments of one state.
type stateRow struct {
	state    string
	segments int64
	rows     int64
}

// segmentStates is shown only in descriptions.
var segmentStates = define(definition[stateRow]{
	Resource: Resource{
		Schema: table.Schema{Name: "segment-states", Handle: "state"},
		Doc:    "Segments counted by state.",
		Needs:  model.PartSegments,
	},
	columns: []column[stateRow]{
		col(table.Column{Name: "state", Kind: table.State, Doc: "State of the segments."},
			func(_ *Env, r stateRow) table.Cell { return text(r.state) }),
		col(table.Column{
			Name: "segments", Kind: table.Int,
			Doc: "Number of segments.",
		},
			func(_ *Env, r stateRow) table.Cell { return count(r.segments) }),
		col(table.Column{Name: "rows", Kind: table.Int, Doc: "Their rows as recorded."},
			func(_ *Env, r stateRow) table.Cell { return count(r.rows) }),
	},
	ref: func(_ *Env, r stateRow) Ref { return Ref{ID: r.state} },
})

// stateOrder lists the states in the order of a segment's life.
var stateOrder = []model.SegmentState{
	model.SegmentGrowing, model.SegmentSealed, model.SegmentFlushing, model.SegmentFlushed,
	model.SegmentImporting, model.SegmentDropped, model.SegmentNotExist, model.SegmentStateNone,
}

func stateRows(t model.Totals) []stateRow {
	var rows []stateRow
	for _, s := range stateOrder {
		if t.ByState[s] > 0 {
			rows = append(rows, stateRow{s.String(), int64(t.ByState[s]), t.RowsByState[s]})
		}
	}
	return rows
}

func sortedUnique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
