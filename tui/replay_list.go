package tui

import (
	"cmp"
	"math"
	"strings"

	"kitescope/render"
	"kitescope/table"
)

// newReplayList is a table of n things of a replay: points, segments, requests, changes. Its rows are their positions.
func newReplayList(noun string, n int, role func(i int) render.Role, columns ...column[int]) *list[int] {
	l := &list[int]{noun: noun, columns: func(int) []column[int] { return columns }, asItCame: "in the order of the result"}
	if role != nil {
		l.look = func(i int) rowLook { return rowLook{role: role(i)} }
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	l.setRows(rows)
	return l
}

func textColumn(title string, priority int, text func(i int) string) column[int] {
	c := sortedColumn(title, title, table.Text, priority, text, nil)
	c.rising = true
	return c
}

// fixedColumn is of texts that say nothing if they are cut.
func fixedColumn(title string, priority int, text func(i int) string) column[int] {
	c := textColumn(title, priority, text)
	c.Kind = table.ID
	return c
}

// numberColumn is sorted by its values, NaN last.
func numberColumn(title string, priority int, value func(i int) float64, text func(i int) string) column[int] {
	c := sortedColumn(title, title, table.Int, priority, text, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
	c.unknown = func(i int) bool { return math.IsNaN(value(i)) }
	return c
}

func barColumn(priority int, text func(i int) string) column[int] {
	c := plainColumn("", table.ID, priority, text)
	c.sign = true
	return c
}

// cursorRow is the row under the cursor, -1 if there is none.
func cursorRow(l *list[int]) int {
	if row, ok := l.current(); ok {
		return row
	}
	return -1
}

// orderOf says what a list is sorted by, "" if it is as it came.
func orderOf(l *list[int]) string {
	columns := l.columns(wideTable)
	i := columnNamed(columns, l.sorted)
	if i < 0 {
		return ""
	}
	return "by " + strings.ToLower(columns[i].Title)
}
