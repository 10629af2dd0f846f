package rows

import (
	"slices"

	"kitescope/inspect/diff"
	"kitescope/inspect/view"
)

// Change says what a refresh did to a row.
type Change uint8

// Changes.
const (
	Unchanged Change = iota
	Added
	Changed
	Removed
)

// Glyph is the sign of a change, so that it can be seen without colour.
func (c Change) Glyph() string {
	return [...]string{" ", "+", "~", "-"}[c]
}

// compareLimit is the number of rows up to which every cell is compared with the
// refresh before. Above it, the changes that package diff finds have to do: it knows
// which objects two clusters share, but not what follows for other tables.
const compareLimit = 50_000

// changed compares the table with the one of the refresh before, cell by cell, both
// seen from the same moment, so that ages differ only where something happened.
func (q *Query) changed(now view.Table) func(row int, id string) Change {
	if q.Previous == nil || q.Previous.Cluster == q.Env.Cluster {
		return nil
	}
	before := q.Resource.Table(q.Previous)
	if pairs, ok := view.RowChanges(before, now); ok {
		return q.changedRows(now, before, pairs)
	}
	changes := q.changedCells
	if now.Len() > compareLimit {
		changes = q.changedObjects
	}
	of := changes(now, before)
	return func(_ int, id string) Change { return of[id] }
}

// changedCells compares all cells of two tables.
func (q *Query) changedCells(now, before view.Table) map[string]Change {
	rows := make(map[string]int, before.Len())
	for i := range before.Len() {
		rows[before.Ref(i).ID] = i
	}
	changes := map[string]Change{}
	for i := range now.Len() {
		id := now.Ref(i).ID
		old, ok := rows[id]
		switch {
		case !ok:
			changes[id] = Added
		case !sameCells(now, i, before, old, q.Columns):
			changes[id] = Changed
		}
	}
	return changes
}

// changedRows looks at those rows that may have changed, each when it is drawn: most never are.
func (q *Query) changedRows(now, before view.Table, pairs []view.RowChange) func(row int, id string) Change {
	was := make(map[int]int, len(pairs))
	for _, x := range pairs {
		if x.After >= 0 {
			was[x.After] = x.Before
		}
	}
	return func(row int, _ string) Change {
		old, ok := was[row]
		switch {
		case !ok:
			return Unchanged
		case old < 0:
			return Added
		case sameCells(now, row, before, old, q.Columns):
			return Unchanged
		}
		return Changed
	}
}

func (q *Query) changedObjects(_, _ view.Table) map[string]Change {
	changes := map[string]Change{}
	found := diff.Compare(q.Previous.Cluster, q.Env.Cluster, diff.Options{})
	for i := range found.Changes {
		c := &found.Changes[i]
		if c.Object.Resource != q.Resource.Name {
			continue
		}
		if c.Kind == diff.Added {
			changes[c.Object.ID] = Added
		} else {
			changes[c.Object.ID] = Changed
		}
	}
	return changes
}

func sameCells(a view.Table, i int, b view.Table, j int, columns []int) bool {
	for _, c := range columns {
		x, y := a.Cell(i, c), b.Cell(j, c)
		if x.Absent != y.Absent || x.Int != y.Int || x.Float != y.Float || x.Text != y.Text || !slices.Equal(x.List, y.List) {
			return false
		}
	}
	return true
}
