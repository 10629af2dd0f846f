package render

import (
	"strings"

	"kitescope/words"
)

// Pasted is a text that does nothing where it is pasted: of what a terminal obeys only line breaks and tabs are left, other
// characters that are not seen are written out, and cells of a table are no formulas. An escape sequence would end what the shell takes for pasted text.
func Pasted(text string) string {
	text = inertCells(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for j := range cells {
			cells[j] = words.Harmless(cells[j])
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}

// inertCells is a text without formulas: what has tabs is a table, which goes into a spreadsheet.
func inertCells(text string) string {
	if !strings.Contains(text, "\t") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for j := range cells {
			cells[j] = Inert(cells[j])
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}
