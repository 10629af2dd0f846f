package tui

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// line is a text that is being edited. The text input of bubbles (2.2.1) cannot be used: it computes the cursor
// position in runes, which is wrong after wide characters and in scrolled text.
type line struct {
	text []rune
	at   int // cursor position, from 0 to len(text)
}

func (l *line) String() string { return string(l.text) }

func (l *line) set(s string) {
	l.text = []rune(s)
	l.at = len(l.text)
}

func (l *line) insert(s string) {
	clean := make([]rune, 0, len(s))
	for _, r := range s {
		if r == '\n' || r == '\r' || r == '\t' {
			r = ' '
		}
		if unicode.IsPrint(r) {
			clean = append(clean, r)
		}
	}
	l.text = append(l.text[:l.at:l.at], append(clean, l.text[l.at:]...)...)
	l.at += len(clean)
}

// edit performs an editing action. It reports whether a is one.
func (l *line) edit(a Action) bool {
	switch a {
	case ActLeft:
		l.at = max(0, l.at-1)
	case ActRight:
		l.at = min(len(l.text), l.at+1)
	case ActTop:
		l.at = 0
	case ActBottom:
		l.at = len(l.text)
	case ActBackspace:
		l.cut(max(0, l.at-1), l.at)
	case ActDelete:
		l.cut(l.at, min(len(l.text), l.at+1))
	case ActDeleteWord:
		l.cut(l.wordStart(), l.at)
	case ActDeleteAll:
		l.cut(0, l.at)
	default:
		return false
	}
	return true
}

func (l *line) cut(from, to int) {
	l.text = append(l.text[:from:from], l.text[to:]...)
	l.at = from
}

func (l *line) wordStart() int {
	i := l.at
	for i > 0 && l.text[i-1] == ' ' {
		i--
	}
	for i > 0 && l.text[i-1] != ' ' {
		i--
	}
	return i
}

// window returns the part of the text around the cursor that fits in w cells, and the cell of the cursor.
func (l *line) window(w int) (text string, cursor int) {
	before := string(l.text[:l.at])
	cursor = ansi.StringWidth(before)
	if cursor >= w {
		before = ansi.TruncateLeft(before, cursor-w+2, "…")
		cursor = ansi.StringWidth(before)
	}
	return ansi.Truncate(before+string(l.text[l.at:]), w, "…"), cursor
}

// Prompt is an input line with its callbacks.
type Prompt struct {
	line
	Sign string // the text before the input, e.g. ":" or "/"
	// Changed is called after each edit, Accepted on enter and Cancelled on esc.
	Changed   func(m *Model, text string) Cmd
	Accepted  func(m *Model, text string) Cmd
	Cancelled func(m *Model) Cmd
	// Suggest returns completions of the whole line, best first. It returns nil if there are none.
	Suggest  func(m *Model, text string) []Suggestion
	list     []Suggestion
	selected int // index of the selected suggestion; -1 selects the typed text
	// Status returns the text at the right end of the line, e.g. "matching… 43%".
	Status func(m *Model) string
}

// Suggestion is one line of the palette.
type Suggestion struct {
	Text string // replaces the line
	Doc  string
	// hits are the positions of matched runes in Text, for highlighting.
	hits  []int
	score int
}

// key handles a key press while the prompt is open.
func (p *Prompt) key(m *Model, a Action, text string) Cmd {
	switch {
	case a == ActNone && text != "":
		p.insert(text)
		return p.edited(m)
	case a == ActOpen:
		m.Prompt = nil
		return p.Accepted(m, p.choice())
	case a == ActBack, a == ActBackspace && len(p.text) == 0:
		m.Prompt = nil
		return p.Cancelled(m)
	case a == ActUp, a == ActDown:
		p.step(a)
	case a == ActNextPart:
		return p.complete(m)
	case p.edit(a):
		return p.edited(m)
	}
	return nil
}

// choice returns the selected suggestion, or else the typed text.
func (p *Prompt) choice() string {
	if p.selected >= 0 && p.selected < len(p.list) {
		return p.list[p.selected].Text
	}
	return strings.TrimSpace(p.String())
}

func (p *Prompt) step(a Action) {
	if len(p.list) == 0 {
		return
	}
	d := 1
	if a == ActUp {
		d = -1
	}
	p.selected = min(max(p.selected+d, -1), len(p.list)-1)
}

// complete replaces the line with the selected suggestion, or the best one if none is selected.
func (p *Prompt) complete(m *Model) Cmd {
	if len(p.list) == 0 {
		return nil
	}
	s := p.list[max(p.selected, 0)].Text
	if !strings.HasSuffix(s, "=") && !strings.HasSuffix(s, "/") {
		s += " "
	}
	p.set(s)
	return p.edited(m)
}

func (p *Prompt) edited(m *Model) Cmd {
	p.refresh(m)
	if p.Changed == nil {
		return nil
	}
	return p.Changed(m, p.String())
}

func (p *Prompt) refresh(m *Model) {
	p.selected = -1
	if p.Suggest != nil {
		p.list = p.Suggest(m, p.String())
	}
}
