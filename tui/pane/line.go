// Package pane is the lines of a text that a page scrolls and searches. What enters are texts with their looks, or the description of an object;
// what leaves are lines, and each drawn in the cells that it has.
package pane

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/tui/draw"
)

// Look is the style of a line in a pane.
type Look uint8

// Looks of lines.
const (
	Plain Look = iota
	Title
	Head
	Dim
	Warn
	Bad
	Changed
	Key     // a key of the key map before the text
	Columns // keys of the key map in the text
)

// Line is one line of text with an optional label before it. Both are plain.
type Line struct {
	Label string
	Text  string
	Look  Look
	Keys  [][2]int  // where keys are in the text, in bytes
	Drawn draw.Line // the text in its looks, where it has several
}

// Plain is the line without its looks.
func (l *Line) Plain() string { return l.Label + l.Text }

// Draw draws the line in w cells, of which so many at the left are scrolled out. What is searched for, in lower case, stands out; current is
// the match that the search is at.
func (l *Line) Draw(st *draw.Styles, w, left int, search string, current bool) string {
	plain := l.Plain()
	if left > 0 {
		plain = ansi.TruncateLeft(plain, left, "")
	}
	plain = draw.Cut(plain, w-2)
	if search != "" {
		if at, end := foldIndex(plain, search); at >= 0 {
			look := st.Match
			if current {
				look = st.CurrentMatch
			}
			return " " + plain[:at] + look.On(plain[at:end]) + plain[end:]
		}
	}
	if l.Drawn != nil && left == 0 {
		return " " + l.Drawn.CutTo(w-2).Styled(st)
	}
	if l.Look == Plain && left == 0 && len(l.Label) > 0 && len(plain) >= len(l.Label) {
		return " " + st.Dim.On(l.Label) + plain[len(l.Label):]
	}
	if l.Look == Columns && left == 0 {
		return " " + withKeys(st, plain, l.Keys)
	}
	if l.Look == Key && len(plain) >= len(l.Label) {
		return " " + st.Key.On(l.Label) + plain[len(l.Label):]
	}
	return " " + Style(st, l.Look).On(plain)
}

// withKeys has the keys in a text stand out.
func withKeys(st *draw.Styles, text string, keys [][2]int) string {
	var b strings.Builder
	at := 0
	for _, k := range keys {
		if k[1] <= len(text) {
			b.WriteString(text[at:k[0]] + st.Key.On(text[k[0]:k[1]]))
			at = k[1]
		}
	}
	return b.String() + text[at:]
}

// Style is the style of a line's look.
func Style(st *draw.Styles, look Look) draw.Style {
	switch look {
	case Title:
		return st.Tab
	case Head, Dim:
		return st.Dim
	case Warn:
		return st.Warn
	case Bad:
		return st.Bad
	case Changed:
		return st.Changed
	default:
	}
	return draw.Style{}
}

// foldIndex finds a lower-case text in s without regard to case; -1 if it is not there.
// Where lower case has other lengths than s nothing is highlighted.
func foldIndex(s, lower string) (from, to int) {
	folded := strings.ToLower(s)
	if len(folded) != len(s) {
		return -1, -1
	}
	at := strings.Index(folded, lower)
	if at < 0 {
		return -1, -1
	}
	return at, at + len(lower)
}
