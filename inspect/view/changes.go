package view

import (
	"math"
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// RowChange is a row in two tables of one resource: its positions, -1 where it is not.
type RowChange struct{ Before, After int }

// RowChanges are the rows in which two tables of one resource can differ, in order. ok is false where only comparing each
// row tells. Durations count as equal: those to now grow without anything having happened.
func RowChanges(before, after Table) (changes []RowChange, ok bool) {
	a, b := before.Env().Cluster, after.Env().Cluster
	if before.Resource() != segments || after.Resource() != segments || !b.SharesSchemas(a) || a.Runtime != b.Runtime ||
		JudgedAnew(before.Env(), after.Env(), segments.Name) {
		return nil, false
	}
	i, j := 0, 0
	for _, c := range b.ChangedSegments(a) {
		i, j = behind(a.Segments, i, c.Before), behind(b.Segments, j, c.After)
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

// behind is the position behind a segment that stands in a list at or after a position, that position itself if there is none. Reading
// the list from one to the next is quicker than looking into segments of which most are in no cache.
func behind(list []*model.Segment, from int, s *model.Segment) int {
	if s == nil {
		return from
	}
	return from + 1 + slices.Index(list[from:], s)
}

// Same reports whether a row of one table counts as the same as a row of another one of the same resource, going by some columns.
type Same func(a Table, i int, b Table, j int, columns []int) bool

// SameRow reports whether a row of one table has the same cells as a row of another one of the same resource in some
// columns, durations apart.
func SameRow(a Table, i int, b Table, j int, columns []int) bool {
	for _, column := range columns {
		if a.Resource().Columns[column].Kind == table.Duration {
			continue
		}
		x, y := a.Cell(i, column), b.Cell(j, column)
		if x.Absent != y.Absent || x.Int != y.Int || math.Float64bits(x.Float) != math.Float64bits(y.Float) || x.Text != y.Text || !slices.Equal(x.List, y.List) {
			return false
		}
	}
	return true
}
