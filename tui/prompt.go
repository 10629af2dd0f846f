package tui

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// line is a text being edited. The text input of bubbles (2.2.1) does not fit: it places the terminal's cursor by runes, which is
// wrong after wide characters and where the text is scrolled.
type line struct {
	text []rune
	at   int // position of the cursor, 0 to len(text)
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

// edit applies an editing action and reports whether it was one.
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
	case ActTakeBack:
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

// window returns the part of the text that fits into w cells with the cursor in
// it, and the cursor's cell.
func (l *line) window(w int) (text string, cursor int) {
	before := string(l.text[:l.at])
	cursor = ansi.StringWidth(before)
	if cursor >= w {
		before = ansi.TruncateLeft(before, cursor-w+2, "…")
		cursor = ansi.StringWidth(before)
	}
	return ansi.Truncate(before+string(l.text[l.at:]), w, "…"), cursor
}

// Prompt is a line that the keyboard goes to, and what happens with it.
type Prompt struct {
	line
	Sign string // ":" or "/"
	// Changed is called after each edit, accepted on enter, cancelled on esc.
	Changed   func(m *Model, text string) Cmd
	Accepted  func(m *Model, text string) Cmd
	Cancelled func(m *Model) Cmd
	// Suggest returns completions of the whole line, best first; nil if there are none.
	Suggest func(m *Model, text string) []Suggestion
	list    []Suggestion
	picked  int // -1: what was typed
	// Status stands at the right end of the line: "matching… 43%".
	Status func(m *Model) string
}

// Suggestion is one line of the palette.
type Suggestion struct {
	Text string // what the line becomes
	Doc  string
	// hits are positions of runes in text that matched, for highlighting.
	hits  []int
	score int
}

// key handles a key that was pressed while p is open.
func (p *Prompt) key(m *Model, a Action, text string) Cmd {
	switch {
	case a == ActNone && text != "":
		p.insert(text)
		return p.edited(m)
	case a == ActOpen:
		m.Prompt = nil
		return p.Accepted(m, p.choice())
	case a == ActBack, a == ActTakeBack && len(p.text) == 0:
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

// choice is the suggestion that was walked to, else what was typed.
func (p *Prompt) choice() string {
	if p.picked >= 0 && p.picked < len(p.list) {
		return p.list[p.picked].Text
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
	p.picked = min(max(p.picked+d, -1), len(p.list)-1)
}

// complete takes the best suggestion, or the one walked to, into the line.
func (p *Prompt) complete(m *Model) Cmd {
	if len(p.list) == 0 {
		return nil
	}
	s := p.list[max(p.picked, 0)].Text
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
	p.picked = -1
	if p.Suggest != nil {
		p.list = p.Suggest(m, p.String())
	}
}
