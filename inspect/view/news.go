package view

import "slices"

// NewRows are the rows that have come or changed from one answer to the next, and the ids of those that are no longer in it:
// the objects are gone, or the selection or --limit does not take them any more. same is SameRow, or what else counts as no change.
func NewRows(before, now *Grid, same Same) (changed []int32, left []string) {
	changes, known := RowChanges(before.Table, now.Table)
	differ := make(map[int]bool, len(changes)) // rows that can differ, where that is known
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
		left = append(left, id)
	}
	slices.Sort(left)
	return changed, left
}
