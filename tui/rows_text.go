package tui

import (
	"strings"

	"kitescope/inspect/view"
	"kitescope/tui/draw"
)

// writeTSV writes some rows of a table with tabs between cells, under their titles if there is to be a header. It is called off the loop, and stops
// soon after the most bytes that can be copied.
func writeTSV(t view.Table, list []int32, columns []int, header bool) func(most int) string {
	all := t.Resource().Columns
	return func(most int) string {
		var b strings.Builder
		if header {
			writeLine(&b, columns, func(c int) string { return all[c].Title })
		}
		for _, row := range list {
			writeLine(&b, columns, func(c int) string { return draw.CellText(&all[c], t.Cell(int(row), c)) })
			if b.Len() > most {
				break
			}
		}
		return b.String()
	}
}

func writeLine(b *strings.Builder, columns []int, text func(column int) string) {
	for k, c := range columns {
		if k > 0 {
			b.WriteByte('\t')
		}
		b.WriteString(text(c))
	}
	b.WriteByte('\n')
}

// writeIDs writes one id a line, as writeTSV does.
func writeIDs(t view.Table, list []int32) func(most int) string {
	return func(most int) string {
		var b strings.Builder
		for _, row := range list {
			b.WriteString(t.Ref(int(row)).ID + "\n")
			if b.Len() > most {
				break
			}
		}
		return b.String()
	}
}
