package view

import (
	"math"
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// RowChange holds the positions of one row in two tables of one resource. A position is -1 if the table does
// not have the row.
type RowChange struct{ Before, After int }

// RowChanges returns the rows in which two tables of one resource can differ, in order. ok is false if that
// is unknown and every row must be compared. Durations count as equal because those until now grow without
// any event.
func RowChanges(before, after Table) (changes []RowChange, ok bool) {
	a, b := before.Env().Cluster, after.Env().Cluster
	if before.Resource() != segments || after.Resource() != segments || !b.SharesSchemas(a) || a.Runtime != b.Runtime ||
		FindingsChanged(before.Env(), after.Env(), segments.Name) {
		return nil, false
	}
	i, j := 0, 0
	for _, c := range b.ChangedSegments(a) {
		i, j = positionAfter(a.Segments, i, c.Before), positionAfter(b.Segments, j, c.After)
		change := RowChange{-1, -1}
		if c.Before != nil {
			change.Before = i - 1
		}
		if c.After != nil {
			change.After = j - 1
		}
		changes = append(changes, change)
	}
	return changes, true
}

// positionAfter returns the position after s in list, searching from position from. It returns from if s is nil.
// Comparing pointers from one hit to the next is faster than reading the segments, because most are not in
// the CPU cache.
func positionAfter(list []*model.Segment, from int, s *model.Segment) int {
	if s == nil {
		return from
	}
	return from + 1 + slices.Index(list[from:], s)
}

// EqualFunc reports whether row i of a and row j of b count as equal in some columns. Both tables are of one
// resource.
type EqualFunc func(a Table, i int, b Table, j int, columns []int) bool

// SameRow reports whether row i of a and row j of b have equal cells in some columns. It ignores durations.
// Both tables are of one resource.
func SameRow(a Table, i int, b Table, j int, columns []int) bool {
	for _, column := range columns {
		if a.Resource().Columns[column].Kind == table.Duration {
			continue
		}
		x, y := a.Cell(i, column), b.Cell(j, column)
		if x.Absent != y.Absent || x.Int != y.Int || math.Float64bits(x.Float) != math.Float64bits(y.Float) ||
			x.Text != y.Text || !slices.Equal(x.List, y.List) {
			return false
		}
	}
	return true
}
