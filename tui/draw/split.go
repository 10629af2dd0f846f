package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// SplitSize returns the size of the list on a page of w cells and h lines that also shows the details of the
// selected row. If w is at least minW, the list is left cells wide and h lines high, with the details to
// its right. Otherwise it is w cells wide and half as high, with the details below.
func SplitSize(w, h, minW, left int) (listW, listH int) {
	if w >= minW {
		return left, h
	}
	return w, h / 2
}

// Split draws a list of listW cells and listH lines (see SplitSize) and the details of the selected row, behind
// a separator to the right or below.
func Split(st *Styles, list []string, listW, listH, w, h int, selected func(w, h int) []string) []string {
	if listW < w {
		const between = 2
		right := selected(w-listW-between, h)
		lines := make([]string, 0, h)
		for i := range h {
			line := ""
			if i < len(list) {
				line = list[i]
			}
			line = Fit(line, listW) + st.Dim.On("│")
			if i < len(right) {
				line += right[i]
			}
			lines = append(lines, line)
		}
		return lines
	}
	lines := append(make([]string, 0, h), list...)
	for len(lines) < listH {
		lines = append(lines, "")
	}
	if h-listH < 2 {
		return lines
	}
	lines = append(lines, " "+st.Dim.On(strings.Repeat("─", w-2)))
	return append(lines, selected(w, h-listH-1)...)
}

// Selected returns the line with the cells in [from, to) in the style of the cursor.
func Selected(st *Styles, line string, from, to int) string {
	line = Fit(line, max(to, Width(ansi.Strip(line))))
	return ansi.Truncate(line, from, "") + st.Cursor.On(ansi.Strip(ansi.Cut(line, from, to))) +
		ansi.TruncateLeft(line, to, "")
}
