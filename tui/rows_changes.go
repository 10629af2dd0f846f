package tui

import (
	"slices"

	"kitescope/inspect/view"
)

// RowChange is the change of a row by a refresh.
type RowChange uint8

// Changes of a row.
const (
	RowUnchanged RowChange = iota
	RowAdded
	RowChanged
	RowRemoved
)

// Glyph returns the sign of a change, which makes it visible without colour.
func (c RowChange) Glyph() string {
	return [...]string{" ", "+", "~", "-"}[c]
}

// compareLimit is the maximum number of rows of a table that is compared cell by cell with the previous
// refresh.
const compareLimit = 50_000

// changed compares the table with the previous refresh. Both tables use the same current time, so that ages
// differ only because of changes. It returns nil if the tables cannot be compared.
func (q *rowQuery) changed(now view.Table) func(row int, id string) RowChange {
	if q.Previous == nil || q.Previous.Cluster == q.Env.Cluster {
		return nil
	}
	before := q.Resource.Table(q.Previous)
	if pairs, ok := view.RowChanges(before, now); ok {
		return q.changedRows(now, before, pairs)
	}
	if now.Len() > compareLimit {
		return nil
	}
	of := q.changedCells(now, before)
	return func(_ int, id string) RowChange { return of[id] }
}

// changedCells compares all cells of two tables.
func (q *rowQuery) changedCells(now, before view.Table) map[string]RowChange {
	rows := make(map[string]int, before.Len())
	for i := range before.Len() {
		rows[before.Ref(i).ID] = i
	}
	changes := map[string]RowChange{}
	for i := range now.Len() {
		id := now.Ref(i).ID
		old, ok := rows[id]
		switch {
		case !ok:
			changes[id] = RowAdded
		case !sameCells(now, i, before, old, q.Columns):
			changes[id] = RowChanged
		}
	}
	return changes
}

// changedRows compares only the rows that may have changed, and compares a row when it is drawn, because most
// rows are never drawn.
func (q *rowQuery) changedRows(now, before view.Table, pairs []view.RowChange) func(row int, id string) RowChange {
	was := make(map[int]int, len(pairs))
	for _, x := range pairs {
		if x.After >= 0 {
			was[x.After] = x.Before
		}
	}
	return func(row int, _ string) RowChange {
		old, ok := was[row]
		switch {
		case !ok:
			return RowUnchanged
		case old < 0:
			return RowAdded
		case sameCells(now, row, before, old, q.Columns):
			return RowUnchanged
		}
		return RowChanged
	}
}

func sameCells(a view.Table, i int, b view.Table, j int, columns []int) bool {
	for _, c := range columns {
		x, y := a.Cell(i, c), b.Cell(j, c)
		if x.Absent != y.Absent || x.Int != y.Int || x.Float != y.Float || x.Text != y.Text ||
			!slices.Equal(x.List, y.List) {
			return false
		}
	}
	return true
}
