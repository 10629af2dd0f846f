package replays

import (
	"cmp"
	"math"
	"strings"

	"kitescope/internal/table"
	"kitescope/render"
	"kitescope/tui"
)

// newReplayList is a table of n things of a replay: points, segments, requests, changes. Its rows are their positions.
func newReplayList(noun string, n int, role func(i int) render.Role, columns ...tui.Column[int]) *tui.List[int] {
	l := &tui.List[int]{Noun: noun, Columns: func(int) []tui.Column[int] { return columns }, AsItCame: "in the order of the result"}
	if role != nil {
		l.Look = func(i int) tui.RowLook { return tui.RowLook{Role: role(i)} }
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	l.SetRows(rows)
	return l
}

func textColumn(title string, priority int, text func(i int) string) tui.Column[int] {
	c := tui.SortedColumn(title, title, table.Text, priority, text, nil)
	c.Rising = true
	return c
}

// fixedColumn is of texts that say nothing if they are cut.
func fixedColumn(title string, priority int, text func(i int) string) tui.Column[int] {
	c := textColumn(title, priority, text)
	c.Kind = table.ID
	return c
}

// numberColumn is sorted by its values, NaN last.
func numberColumn(title string, priority int, value func(i int) float64, text func(i int) string) tui.Column[int] {
	c := tui.SortedColumn(title, title, table.Int, priority, text, func(a, b int) int { return cmp.Compare(value(b), value(a)) })
	c.Unknown = func(i int) bool { return math.IsNaN(value(i)) }
	return c
}

func barColumn(priority int, text func(i int) string) tui.Column[int] {
	c := tui.PlainColumn("", table.ID, priority, text)
	c.Sign = true
	return c
}

// cursorRow is the row under the cursor, -1 if there is none.
func cursorRow(l *tui.List[int]) int {
	if row, ok := l.Current(); ok {
		return row
	}
	return -1
}

// orderOf says what a list is sorted by, "" if it is as it came.
func orderOf(l *tui.List[int]) string {
	columns := l.Columns(tui.WideTable)
	i := tui.ColumnNamed(columns, l.Sorted)
	if i < 0 {
		return ""
	}
	return "by " + strings.ToLower(columns[i].Title)
}
