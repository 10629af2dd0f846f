package render

import (
	"strings"

	"kitescope/internal/words"
)

// Pasted is a text that does nothing where it is pasted: of what a terminal obeys only line breaks and tabs are left, other
// characters that are not seen are written out, and cells of a table are no formulas. An escape sequence would end what the shell takes for pasted text.
func Pasted(text string) string {
	tabled := strings.Contains(text, "\t") // it goes into a spreadsheet
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for j, cell := range cells {
			if tabled {
				cell = Inert(cell)
			}
			cells[j] = words.Harmless(cell)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}
