// Package draw is what frames of the UI are made of: texts of so many cells, styles, lines of styled pieces, and the places of
// numbers on a scale. What enters are plain texts, a theme and numbers, what leaves are strings for a terminal. Nothing here
// knows a page.
package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/internal/words"
	"kitescope/render"
)

const blanks = "                                                                                                                                "

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

// Width is the number of cells of a plain text. Most texts are ASCII, which is
// counted without looking for graphemes.
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

// FitRight is Fit with the text at the right end.
func FitRight(s string, w int) string {
	n := Width(s)
	if n > w {
		s = Cut(s, w)
		n = Width(s)
	}
	return Pad(w-n) + s
}

// CutName shortens a plain name to w cells in its middle: what tells long names apart
// (a shard, a date, a tenant) is at either end.
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

// Over puts a text over a line, from a cell on.
func Over(line, text string, at int) string {
	behind := at + ansi.StringWidth(text)
	rest := ansi.TruncateLeft(line, behind, "")
	if n := ansi.StringWidth(line) - behind; n >= 0 && ansi.StringWidth(rest) > n { // a wide character was cut in two
		rest = " " + ansi.TruncateLeft(line, behind+1, "")
	}
	return Fit(ansi.Truncate(line, at, ""), at) + text + rest
}

// FitName is Fit with CutName.
func FitName(s string, w int) string { return Fit(CutName(s, w), w) }

// Ends puts left and right at the ends of a line of w cells; right gives way first.
func Ends(left, right string, w int) string {
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

// Sentence is a text in the place of a page's content, in as many lines as it needs.
func Sentence(st *Styles, text string, w int) []string {
	var lines []string
	for line := range strings.SplitSeq(ansi.Wrap(text, w-6, ""), "\n") {
		lines = append(lines, "   "+st.Dim.On(line))
	}
	return lines
}

// NoneIf is a cell that says that there is nothing.
func NoneIf(text string, none bool) string {
	if none {
		return words.NoneMark
	}
	return text
}

// Prose breaks a text into lines.
func Prose(text string, w int) []string { return Wrap(words.Harmless(words.OneLine(text)), w) }

// Wrap breaks a text into lines between words; an empty text has none.
func Wrap(text string, w int) []string {
	if text == "" {
		return nil
	}
	return render.Wrap(text, w)
}

// CutPath leaves out the first folders of a file's path, as many as it takes.
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
