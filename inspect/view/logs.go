package view

import (
	"slices"

	"kitescope/inspect/model"
)

// logRow is what a segment has of one kind and field.
type logRow struct {
	model.FieldLogs
	segment *model.Segment
}

// segmentLogs is shown in the description of a segment only.
var segmentLogs = define(definition[logRow]{
	Resource: Resource{
		Schema: Schema{
			Name: "segment-logs", Singular: "segment-log",
			Handle: "field_id",
		},
		Kind:  "SegmentLog",
		Doc:   "Log files of one segment, by kind and field.",
		Needs: model.PartSegments | model.PartLogs,
	},
	columns: []column[logRow]{
		{
			Column: Column{Name: "kind", Title: "KIND", Doc: "insert, delta, stats or bm25."},
			cell:   func(_ *Env, l logRow) Cell { return text(l.Kind.String()) },
		},
		{
			Column: Column{Name: "field_id", Title: "FIELD ID", Kind: ID, Doc: "Id of the field, or of the column group under storage version 2."},
			cell:   func(_ *Env, l logRow) Cell { return logField(l, id(l.Field)) },
		},
		{
			Column: Column{Name: "field", Title: "FIELD", Doc: "Name of the field."},
			cell:   func(e *Env, l logRow) Cell { return logField(l, text(fieldName(e, l.segment.Collection, l.Field))) },
		},
		{
			Column: Column{Name: "files", Title: "FILES", Kind: Int, Doc: "Files in storage."},
			cell:   func(_ *Env, l logRow) Cell { return count(int64(l.Files)) },
		},
		{
			Column: Column{Name: "entries", Title: "ENTRIES", Kind: Int, Doc: "Entries of all files: rows of insert logs, deletes of delta logs."},
			cell:   func(_ *Env, l logRow) Cell { return count(l.Rows) },
		},
		{
			Column: Column{Name: "size_bytes", Title: "SIZE", Kind: Bytes, Doc: "Bytes in storage."},
			cell:   func(_ *Env, l logRow) Cell { return count(l.Bytes) },
		},
		{
			Column: Column{Name: "memory_bytes", Title: "MEMORY", Kind: Bytes, Doc: "Bytes when decoded, where recorded (2.4 and later)."},
			cell:   func(_ *Env, l logRow) Cell { return someCount(l.MemoryBytes) },
		},
	},
	ref: func(_ *Env, l logRow) Ref {
		return Ref{ID: l.segment.ID.String() + "/" + l.Kind.String() + "/" + l.Field.String()}
	},
})

// logField is none for delta logs, which belong to no field.
func logField(l logRow, c Cell) Cell {
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

// segmentStates is shown in descriptions only.
var segmentStates = define(definition[stateRow]{
	Resource: Resource{
		Schema: Schema{
			Name: "segment-states", Singular: "segment-state",
			Handle: "state",
		},
		Kind:  "SegmentState",
		Doc:   "Segments added up by state.",
		Needs: model.PartSegments,
	},
	columns: []column[stateRow]{
		{
			Column: Column{Name: "state", Title: "STATE", Kind: State, Doc: "State of the segments."},
			cell:   func(_ *Env, r stateRow) Cell { return text(r.state) },
		},
		{
			Column: Column{Name: "segments", Title: "SEGMENTS", Kind: Int, Doc: "How many there are."},
			cell:   func(_ *Env, r stateRow) Cell { return count(r.segments) },
		},
		{
			Column: Column{Name: "rows", Title: "ROWS", Kind: Int, Doc: "Their rows as recorded."},
			cell:   func(_ *Env, r stateRow) Cell { return count(r.rows) },
		},
	},
	ref: func(_ *Env, r stateRow) Ref { return Ref{ID: r.state} },
})

// stateOrder is the order of life: what is alive first.
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
