package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Look is the style of a line in a pane.
type Look uint8

// Looks of lines.
const (
	LookPlain Look = iota
	LookTitle
	LookHead
	LookDim
	LookWarn
	LookKey // a key of the key map before the text
)

// TextLine is one line of text with an optional label before it. Both are plain.
type TextLine struct {
	Label string
	Text  string
	Look  Look
	Drawn Line // the text in its looks, where it has several
}

// Plain is the line without its looks.
func (l *TextLine) Plain() string { return l.Label + l.Text }

// Draw draws the line in w cells, of which so many at the left are scrolled out. What is searched for, in lower case, stands out; current is
// the match that the search is at.
func (l *TextLine) Draw(st *Styles, w, left int, search string, current bool) string {
	plain := l.Plain()
	if left > 0 {
		plain = ansi.TruncateLeft(plain, left, "")
	}
	plain = Cut(plain, w-2)
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
	if l.Look == LookPlain && left == 0 && len(l.Label) > 0 && len(plain) >= len(l.Label) {
		return " " + st.Dim.On(l.Label) + plain[len(l.Label):]
	}
	if l.Look == LookKey && len(plain) >= len(l.Label) {
		return " " + st.Key.On(l.Label) + plain[len(l.Label):]
	}
	return " " + LookStyle(st, l.Look).On(plain)
}

// LookStyle is the style of a line's look.
func LookStyle(st *Styles, look Look) Style {
	switch look {
	case LookTitle:
		return st.Tab
	case LookHead, LookDim:
		return st.Dim
	case LookWarn:
		return st.Warn
	default:
	}
	return Style{}
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
