package render

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"kitescope/words"
)

// Harmless is words.Harmless.
func Harmless(s string) string { return words.Harmless(s) }

// width is the number of terminal cells of harmless text.
func width(s []byte) int {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return ansi.StringWidth(string(s))
		}
	}
	return len(s)
}

// fit cuts harmless text to a number of cells, with an ellipsis.
func fit(s string, cells int, ellipsis string) string {
	return ansi.Truncate(s, cells, ellipsis)
}

// shortenMiddle cuts harmless text to a number of cells and keeps both ends: names of functions begin
// alike, and differ at their end.
func shortenMiddle(s string, room int, ellipsis string) string {
	n := cells(s)
	if n <= room {
		return s
	}
	mark := cells(ellipsis)
	if room <= 2*mark {
		return fit(s, room, ellipsis)
	}
	head := (room - mark) / 3
	tail := room - mark - head
	return ansi.Truncate(s, head, "") + ansi.TruncateLeft(s, n-tail, ellipsis)
}
