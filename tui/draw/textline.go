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
	LookKey // the label is a key of the key map
)

// TextLine is a line of text with an optional label before it. Both are plain.
type TextLine struct {
	Label  string
	Text   string
	Look   Look
	Pieces Line // the text in several styles, nil if it has only one
}

// Plain returns the line without styles.
func (l *TextLine) Plain() string { return l.Label + l.Text }

// Draw draws the line in w cells, scrolled by left cells. It highlights the first match of search, which must be in
// lower case. current is set if this is the current match of the search.
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
	if l.Pieces != nil && left == 0 {
		return " " + l.Pieces.CutTo(w-2).Styled(st)
	}
	if l.Look == LookPlain && left == 0 && len(l.Label) > 0 && len(plain) >= len(l.Label) {
		return " " + st.Dim.On(l.Label) + plain[len(l.Label):]
	}
	if l.Look == LookKey && len(plain) >= len(l.Label) {
		return " " + st.Key.On(l.Label) + plain[len(l.Label):]
	}
	return " " + LookStyle(st, l.Look).On(plain)
}

// LookStyle returns the style of a look.
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

// foldIndex returns the range of a lower-case text in s, ignoring case, or -1, -1 if s does not contain it. It also
// returns -1, -1 if s in lower case has another length, so such a line has no highlight.
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
