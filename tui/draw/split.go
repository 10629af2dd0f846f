package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Halves divides a page of w cells and h lines into a list and what is selected in it: from so many cells on the list has left cells
// and all lines, else all cells and half of the lines, and what is selected stands below it.
func Halves(w, h, beside, left int) (listW, listH int) {
	if w >= beside {
		return left, h
	}
	return w, h / 2
}

// Split draws a list of listW cells and listH lines as Halves has them, and beside it or below, behind a line, what is selected in it.
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

// Selected is a line with the cells from one on, before another, in the look of a cursor.
func Selected(st *Styles, line string, from, to int) string {
	line = Fit(line, max(to, Width(ansi.Strip(line))))
	return ansi.Truncate(line, from, "") + st.Cursor.On(ansi.Strip(ansi.Cut(line, from, to))) + ansi.TruncateLeft(line, to, "")
}
