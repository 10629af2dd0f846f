package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/words"
)

const blanks = "                                                                                                                                "

// pad returns n blanks.
func pad(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blanks):
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// width is the number of cells of a plain text. Most texts are ASCII, which is
// counted without looking for graphemes.
func width(s string) int {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || c < 0x20 || c == 0x7f {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// cut shortens a text, plain or styled, to at most w cells.
func cut(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if len(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, "…")
}

// fit shortens or pads a text, plain or styled, to exactly w cells.
func fit(s string, w int) string {
	n := width(s)
	if n > w {
		s = cut(s, w)
		n = width(s)
	}
	return s + pad(w-n)
}

// fitRight is fit with the text at the right end.
func fitRight(s string, w int) string {
	n := width(s)
	if n > w {
		s = cut(s, w)
		n = width(s)
	}
	return pad(w-n) + s
}

// cutName shortens a plain name to w cells in its middle: what tells long names apart
// (a shard, a date, a tenant) is at either end.
func cutName(s string, w int) string {
	n := width(s)
	if n <= w || w < 8 {
		return cut(s, w)
	}
	tail := (w - 1) * 2 / 5
	end := ansi.TruncateLeft(s, n-tail, "")
	if width(end) > tail { // a wide character was cut in two
		end = ansi.TruncateLeft(s, n-tail+1, "")
	}
	return ansi.Truncate(s, w-1-tail, "") + "…" + end
}

// fitName is fit with cutName.
func fitName(s string, w int) string { return fit(cutName(s, w), w) }

// ends puts left and right at the ends of a line of w cells; right gives way first.
func ends(left, right string, w int) string {
	l, r := width(left), width(right)
	if l+r+2 > w {
		right = cut(right, max(0, w-l-2))
		r = width(right)
		if r == 0 {
			return fit(left, w)
		}
	}
	return left + pad(w-l-r) + right
}

// sentence is a text in the place of a page's content, in as many lines as it needs.
func sentence(st *styles, text string, w int) []string {
	var lines []string
	for line := range strings.SplitSeq(ansi.Wrap(text, w-6, ""), "\n") {
		lines = append(lines, "   "+st.dim.on(line))
	}
	return lines
}

// noneIf is a cell that says that there is nothing.
func noneIf(text string, none bool) string {
	if none {
		return words.NoneMark
	}
	return text
}

// boolOrder puts what is so behind what is not.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// prose breaks a text into lines.
func prose(text string, w int) []string { return wrapped(words.Harmless(words.OneLine(text)), w) }
