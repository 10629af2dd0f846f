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
	// Order are positions in Table, selected and sorted; nil means all, in the table's order.
	Order []int32
	Total int // rows before the filter
	Left  int // rows that are left out as nobody asked for them
	// matched are the rows that the filter leaves, where filtered is set.
	matched  []int32
	filtered bool
	// Changes says what the last refresh did to a row of Table; nil if there was none before.
	Changes func(row int, id string) RowChange
	Cursor  int // where the wanted object is, -1 if it is not there
	Err     error
}

// Count is how many there are.
func (r *gridRows) Count() int {
	if r.filtered {
		return len(r.matched)
	}
	return r.Total
}

// Row is the position in Table of the i-th row shown.
func (r *gridRows) Row(i int) int {
	switch {
	case r.filtered:
		return int(r.matched[i])
	case r.Order != nil:
		return int(r.Order[i])
	}
	return i
}

// Unfilter has no filter leave out any.
func (r *gridRows) Unfilter() { r.matched, r.filtered = nil, false }

// Place is where a row of Table is among those without a filter.
func (r *gridRows) Place(row int) int {
	if r.Order == nil {
		return row
	}
	return max(0, slices.Index(r.Order, int32(row)))
}

// rowQuery is what it takes to build rows off the loop.
type rowQuery struct {
	Env      *view.Env
	Previous *view.Env // of the refresh before, nil if there was none
	Resource *view.Resource
	Where    view.Selection
	All      bool
	Order    []table.SortKey
	Filter   rowFilter
	Columns  []int
	CursorID string
	CursorAt int
	Keep     gridRows // what is shown now: a table of the same Env is used again
	Refilter bool     // only Filter differs from Keep
	Stale    func() bool
}

// Run builds them.
func (q *rowQuery) Run() gridRows {
	r := gridRows{Env: q.Env, Cursor: -1}
	if q.Keep.Env == q.Env {
		r.Table, r.Changes = q.Keep.Table, q.Keep.Changes
		r.Order, r.Total, r.Left = q.Keep.Order, q.Keep.Total, q.Keep.Left
	} else {
		r.Table = q.Resource.Table(q.Env)
		r.Changes = q.changed(r.Table)
	}
	if !q.Refilter || q.Keep.Env != q.Env {
		found, err := view.Select(r.Table, view.Query{Where: q.Where, Sort: sortWords(q.Resource, q.Order), Leave: !q.All})
		if err != nil {
			r.Err = errNotRead
			return r
		}
		r.Order, r.Total, r.Left = found.Rows, found.Len(), found.Skipped
	}
	if !q.Filter.Empty() {
		r.filtered = true
		r.matched = q.match(&r)
	}
	r.Cursor = findRow(&r, q.CursorID, q.CursorAt)
	return r
}

// sortWords are the words for an order, as a command line has them; none for the order of the model.
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

// errNotRead says that rows cannot be selected by what nobody looked at.
var errNotRead = errors.New("not known: this part of the metadata was not read")

func (q *rowQuery) match(r *gridRows) []int32 {
	x := newMatcher(&q.Filter, r.Table, q.Columns)
	var found []int32
	const stride = 1 << 10 // rows between two looks whether the result is still wanted
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

// findRow returns where the object is among the rows, looking first where it was; -1 if nowhere.
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

// findNear is where an object is, -1 if nowhere, for the rows at most reach away from near: short enough for the loop.
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
