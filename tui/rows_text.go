package tui

import (
	"strings"

	"kitescope/inspect/view"
	"kitescope/tui/draw"
)

// writeTSV formats rows of a table as tab-separated values, with a header line if header is set. It stops after
// the first row that exceeds clipboardLimit bytes.
func writeTSV(t view.Table, list []int32, columns []int, header bool) string {
	all := t.Resource().Columns
	var b strings.Builder
	if header {
		writeLine(&b, columns, func(c int) string { return all[c].Title })
	}
	for _, row := range list {
		if b.Len() > clipboardLimit {
			break
		}
		writeLine(&b, columns, func(c int) string { return draw.CellText(&all[c], t.Cell(int(row), c)) })
	}
	return b.String()
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

// writeIDs formats the ids of rows, one per line, with the same limit as writeTSV.
func writeIDs(t view.Table, list []int32) string {
	var b strings.Builder
	for _, row := range list {
		if b.Len() > clipboardLimit {
			break
		}
		b.WriteString(t.Ref(int(row)).ID + "\n")
	}
	return b.String()
}
