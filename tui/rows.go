package tui

import (
	"errors"
	"slices"

	"kitescope/inspect/view"
	"kitescope/internal/table"
)

// gridRows are the rows that a grid page shows.
type gridRows struct {
	Env   *view.Env
	Table view.Table // nil until the first rows are built
	// Order holds the selected and sorted positions in Table. Nil means all rows in the order of the table.
	Order      []int32
	Total      int // rows before the filter
	HiddenRows int // rows that are hidden by default, e.g. dropped ones
	// matched holds the rows that match the filter if filtered is set.
	matched  []int32
	filtered bool
	// Changes returns the change of a row of Table by the last refresh. It is nil before the second refresh.
	Changes func(row int, id string) RowChange
	Cursor  int // position of the wanted object, or -1 if it is not present
	Err     error
}

// Count returns the number of visible rows.
func (r *gridRows) Count() int {
	if r.filtered {
		return len(r.matched)
	}
	return r.Total
}

// Row returns the position in Table of the i-th visible row.
func (r *gridRows) Row(i int) int {
	switch {
	case r.filtered:
		return int(r.matched[i])
	case r.Order != nil:
		return int(r.Order[i])
	}
	return i
}

// Unfilter removes the filter.
func (r *gridRows) Unfilter() { r.matched, r.filtered = nil, false }

// Place returns the position of a row of Table among the unfiltered rows.
func (r *gridRows) Place(row int) int {
	if r.Order == nil {
		return row
	}
	return max(0, slices.Index(r.Order, int32(row)))
}

// rowQuery holds the inputs for building rows outside the event loop.
type rowQuery struct {
	Env      *view.Env
	Previous *view.Env // of the previous refresh, nil if there was none
	Resource *view.Resource
	Where    view.Selection
	All      bool
	Order    []table.SortKey
	Filter   rowFilter
	Columns  []int
	CursorID string
	CursorAt int
	Keep     gridRows // the current rows; their table is reused if Env is the same
	Refilter bool     // only Filter differs from Keep
	Stale    func() bool
}

// Run builds the rows.
func (q *rowQuery) Run() gridRows {
	r := gridRows{Env: q.Env, Cursor: -1}
	if q.Keep.Env == q.Env {
		r.Table, r.Changes = q.Keep.Table, q.Keep.Changes
		r.Order, r.Total, r.HiddenRows = q.Keep.Order, q.Keep.Total, q.Keep.HiddenRows
	} else {
		r.Table = q.Resource.Table(q.Env)
		r.Changes = q.changed(r.Table)
	}
	if !q.Refilter || q.Keep.Env != q.Env {
		found, err := view.Select(r.Table, view.Query{
			Where: q.Where, Sort: sortWords(q.Resource, q.Order), Omit: !q.All,
		})
		if err != nil {
			r.Err = errNotRead
			return r
		}
		r.Order, r.Total, r.HiddenRows = found.Rows, found.Len(), found.Skipped
	}
	if !q.Filter.Empty() {
		r.filtered = true
		r.matched = q.match(&r)
	}
	r.Cursor = findRow(&r, q.CursorID, q.CursorAt)
	return r
}

// sortWords returns the sort order in the syntax of the command line. It is empty for the order of the model.
func sortWords(r *view.Resource, order []table.SortKey) []string {
	var names []string
	for _, k := range order {
		name := r.Columns[k.Column].Name
		if k.Descending {
			name = "-" + name
		}
		names = append(names, name)
	}
	return names
}

// errNotRead is returned if the rows are selected by data that was not read.
var errNotRead = errors.New("unknown: this part of the metadata was not read")

func (q *rowQuery) match(r *gridRows) []int32 {
	x := newMatcher(&q.Filter, r.Table, q.Columns)
	var found []int32
	const stride = 1 << 10 // rows between two checks for staleness
	for i := range r.Total {
		if i%stride == 0 && q.Stale() {
			break
		}
		row := i
		if r.Order != nil {
			row = int(r.Order[i])
		}
		if x.match(row) {
			found = append(found, int32(row))
		}
	}
	return found
}

// findRow returns the position of an object among the visible rows, or -1. It searches near its last position
// first.
func findRow(r *gridRows, id string, near int) int {
	if id == "" {
		return -1
	}
	n := r.Count()
	if i := findNear(r, id, near, 64); i >= 0 {
		return i
	}
	for i := range n {
		if r.Table.Ref(r.Row(i)).ID == id {
			return i
		}
	}
	return -1
}

// findNear searches the rows less than reach away from near. It returns the position of the object or -1. It is
// fast enough for the event loop.
func findNear(r *gridRows, id string, near, reach int) int {
	n := r.Count()
	for d := range reach {
		for _, i := range [2]int{near - d, near + d} {
			if i >= 0 && i < n && r.Table.Ref(r.Row(i)).ID == id {
				return i
			}
		}
	}
	return -1
}
