package view

import "slices"

// NewRows are the rows that have come or changed from one answer to the next, and the ids of those that are no longer in it:
// the objects are gone, or the selection or --limit does not take them any more. same is SameRow, or what else counts as no change.
func NewRows(before, now *Grid, same Same) (changed []int32, left []string) {
	if changes, ok := RowChanges(before.Table, now.Table); ok {
		return newAmong(before, now, changes, same)
	}
	rows := make(map[string]int, before.Len())
	for i := range before.Len() {
		rows[before.Table.Ref(before.Row(i)).ID] = before.Row(i)
	}
	there := make(map[string]bool, now.Len())
	for i := range now.Len() {
		row := now.Row(i)
		id := now.Table.Ref(row).ID
		there[id] = true
		if old, ok := rows[id]; !ok || !same(before.Table, old, now.Table, row, now.Columns) {
			changed = append(changed, int32(row))
		}
	}
	for id := range rows {
		if !there[id] {
			left = append(left, id)
		}
	}
	slices.Sort(left)
	return changed, left
}

// newAmong is NewRows where it is known which rows of the tables can differ. The others are the same ones in the same order, so that
// of them only a selection that depends on time, or a limit, lets one come or go.
func newAmong(before, now *Grid, changes []RowChange, same Same) (changed []int32, left []string) {
	was, is := shownRows(before), shownRows(now)
	i, j := 0, 0 // the rows before which all is done
	pass := func(n int) {
		for ; n > 0 && (was != nil || is != nil); n-- {
			switch there, here := was == nil || was[i], is == nil || is[j]; {
			case there && !here:
				left = append(left, before.Table.Ref(i).ID)
			case here && !there:
				changed = append(changed, int32(j))
			}
			i, j = i+1, j+1
		}
		i, j = i+n, j+n
	}
	for _, c := range changes {
		pass(max(c.Before-i, c.After-j)) // of one of the two that is not there the position is less
		there, here := c.Before >= 0 && (was == nil || was[c.Before]), c.After >= 0 && (is == nil || is[c.After])
		switch {
		case there && !here:
			left = append(left, before.Table.Ref(c.Before).ID)
		case here && (!there || !same(before.Table, c.Before, now.Table, c.After, now.Columns)):
			changed = append(changed, int32(c.After))
		}
		i, j = i+min(1, c.Before+1), j+min(1, c.After+1)
	}
	pass(now.Table.Len() - j)
	slices.Sort(left)
	return inOrder(now, changed), left
}

// inOrder puts rows of a grid, which are in the order of its table, in that of the grid.
func inOrder(g *Grid, rows []int32) []int32 {
	if g.Rows == nil || len(rows) < 2 {
		return rows
	}
	chosen := make([]bool, g.Table.Len())
	for _, row := range rows {
		chosen[row] = true
	}
	return slices.DeleteFunc(slices.Clone(g.Rows), func(row int32) bool { return !chosen[row] })
}

// shownRows says of each row of a grid's table whether the grid has it; nil if it has all.
func shownRows(g *Grid) []bool {
	if g.Rows == nil {
		return nil
	}
	has := make([]bool, g.Table.Len())
	for _, row := range g.Rows {
		has[row] = true
	}
	return has
}
