package view

import "slices"

// NewRows returns the rows that are new or changed between two grids, in the order of now, and the sorted ids
// of rows that were removed. A row is removed if its object is gone, or if the selection or --limit excludes it. same
// decides whether a row is unchanged, e.g. SameRow.
func NewRows(before, now *Grid, same EqualFunc) (changed []int32, removed []string) {
	changes, known := RowChanges(before.Table, now.Table)
	differ := make(map[int]bool, len(changes)) // rows that can differ, if known
	for _, c := range changes {
		differ[c.After] = true
	}
	rows := make(map[string]int, before.Len())
	for i := range before.Len() {
		rows[before.Table.Ref(before.Row(i)).ID] = before.Row(i)
	}
	for i := range now.Len() {
		row := now.Row(i)
		id := now.Table.Ref(row).ID
		old, ok := rows[id]
		delete(rows, id)
		if !ok || (!known || differ[row]) && !same(before.Table, old, now.Table, row, now.Columns) {
			changed = append(changed, int32(row))
		}
	}
	for id := range rows {
		removed = append(removed, id)
	}
	slices.Sort(removed)
	return changed, removed
}
