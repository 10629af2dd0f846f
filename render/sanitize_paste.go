package render

import (
	"strings"

	"kitescope/internal/words"
)

// SanitizePaste makes text safe to paste. It keeps line breaks and tabs, and replaces other control and invisible
// characters by visible escapes, because an escape sequence could end a shell's bracketed paste. In text with
// tabs, it also escapes formulas.
func SanitizePaste(text string) string {
	tabled := strings.Contains(text, "\t") // a table, which can be pasted into a spreadsheet
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for j, cell := range cells {
			if tabled {
				cell = EscapeFormula(cell)
			}
			cells[j] = words.Sanitize(cell)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}
