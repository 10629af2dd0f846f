// Package draw provides the building blocks of UI frames: texts of a fixed width in cells, styles, lines of styled
// pieces, and positions of numbers on a scale. It takes plain texts, a theme and numbers, and returns strings for a
// terminal. It does not depend on pages.
package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/internal/words"
	"kitescope/render"
)

const blanks = "                                                                                                     " +
	"                           "

// Pad returns n blanks.
func Pad(n int) string {
	switch {
	case n <= 0:
		return ""
	case n <= len(blanks):
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// Width returns the number of cells of a plain text. Most texts are ASCII, whose width is computed without looking
// for graphemes.
func Width(s string) int {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || c < 0x20 || c == 0x7f {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Cut shortens a text, plain or styled, to at most w cells.
func Cut(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if len(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, "…")
}

// Fit shortens or pads a text, plain or styled, to exactly w cells.
func Fit(s string, w int) string {
	n := Width(s)
	if n > w {
		s = Cut(s, w)
		n = Width(s)
	}
	return s + Pad(w-n)
}

// FitRight shortens or pads a text, plain or styled, to exactly w cells, aligned to the right.
func FitRight(s string, w int) string {
	n := Width(s)
	if n > w {
		s = Cut(s, w)
		n = Width(s)
	}
	return Pad(w-n) + s
}

// CutName shortens a plain name to w cells by cutting its middle, because the parts that distinguish long names (a
// shard, a date, a tenant) are at either end.
func CutName(s string, w int) string {
	n := Width(s)
	if n <= w || w < 8 {
		return Cut(s, w)
	}
	tail := (w - 1) * 2 / 5
	end := ansi.TruncateLeft(s, n-tail, "")
	if Width(end) > tail { // a wide character was cut in two
		end = ansi.TruncateLeft(s, n-tail+1, "")
	}
	return ansi.Truncate(s, w-1-tail, "") + "…" + end
}

// Overlay overwrites the line with a text, starting at cell at.
func Overlay(line, text string, at int) string {
	behind := at + ansi.StringWidth(text)
	rest := ansi.TruncateLeft(line, behind, "")
	if n := ansi.StringWidth(line) - behind; n >= 0 && ansi.StringWidth(rest) > n { // a wide character was cut in two
		rest = " " + ansi.TruncateLeft(line, behind+1, "")
	}
	return Fit(ansi.Truncate(line, at, ""), at) + text + rest
}

// FitName shortens a name with CutName or pads it, to exactly w cells.
func FitName(s string, w int) string { return Fit(CutName(s, w), w) }

// Justify puts left and right at the two ends of a line of w cells. It cuts right first if both do not fit.
func Justify(left, right string, w int) string {
	l, r := Width(left), Width(right)
	if l+r+2 > w {
		right = Cut(right, max(0, w-l-2))
		r = Width(right)
		if r == 0 {
			return Fit(left, w)
		}
	}
	return left + Pad(w-l-r) + right
}

// Sentence returns a text that replaces the content of a page, wrapped to w cells.
func Sentence(st *Styles, text string, w int) []string {
	var lines []string
	for line := range strings.SplitSeq(ansi.Wrap(text, w-6, ""), "\n") {
		lines = append(lines, "   "+st.Dim.On(line))
	}
	return lines
}

// NoneIf returns the text, or the mark for an empty cell if none is set.
func NoneIf(text string, none bool) string {
	if none {
		return words.NoneMark
	}
	return text
}

// Prose makes a text harmless for a terminal and wraps it to w cells.
func Prose(text string, w int) []string { return Wrap(words.Sanitize(words.OneLine(text)), w) }

// Wrap breaks a text into lines of at most w cells between words. An empty text has no lines.
func Wrap(text string, w int) []string {
	if text == "" {
		return nil
	}
	return render.Wrap(text, w)
}

// CutPath drops leading folders of a file path until it fits into w cells.
func CutPath(where string, w int) string {
	before, path, ok := strings.Cut(where, " @ ")
	if !ok {
		before, path = "", where
	} else {
		before += " @ "
	}
	for Width(before)+2+Width(path) > w {
		i := strings.IndexAny(path[min(1, len(path)):], `/\`)
		if i < 0 {
			break
		}
		path = path[i+2:]
	}
	return before + "…/" + path
}
