package tui

import (
	"slices"
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
	// Move lets keys that go up or down a page reach the page; where it is set up and down bring back what was typed before.
	Move  func(m *Model, a Action) Cmd
	back  int    // how far, 0: not
	draft string // what was typed before that
}

// Suggestion is one line of the palette.
type Suggestion struct {
	Text string // what the line becomes
	Doc  string
	// hits are positions of runes in text that matched, for highlighting.
	hits []int
}

// key handles a key that was pressed while p is open.
func (p *Prompt) key(m *Model, a Action, text string) Cmd {
	switch {
	case a == ActNone && text != "":
		p.insert(text)
		return p.edited(m)
	case a == ActOpen:
		m.Prompt = nil
		if p.Move != nil {
			m.typed = remembered(m.typed, p.choice())
		}
		return p.Accepted(m, p.choice())
	case a == ActBack, a == ActTakeBack && len(p.text) == 0:
		m.Prompt = nil
		return p.Cancelled(m)
	case (a == ActUp || a == ActDown) && p.Move != nil:
		return p.recall(m, a)
	case a == ActUp, a == ActDown:
		p.step(a)
	case a == ActPageUp, a == ActPageDown:
		if p.Move != nil {
			return p.Move(m, a)
		}
	case a == ActNextPart, a == ActPreviousPart:
		return p.complete(m, a)
	case p.edit(a):
		return p.edited(m)
	}
	return nil
}

// mostTyped is how many filters and searches are remembered.
const mostTyped = 100

// remembered puts a text last, once.
func remembered(list []string, text string) []string {
	if text == "" {
		return list
	}
	list = append(slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == text }), text)
	return list[max(0, len(list)-mostTyped):]
}

// recall goes through what was typed before, and back to what is being typed.
func (p *Prompt) recall(m *Model, a Action) Cmd {
	to := p.back + 1
	if a == ActDown {
		to = p.back - 1
	}
	if to < 0 || to > len(m.typed) {
		return nil
	}
	if p.back == 0 {
		p.draft = p.String()
	}
	p.back = to
	if to == 0 {
		p.set(p.draft)
	} else {
		p.set(m.typed[len(m.typed)-to])
	}
	return p.edited(m)
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
	if a == ActUp || a == ActPreviousPart {
		d = -1
	}
	p.picked = min(max(p.picked+d, -1), len(p.list)-1)
}

// complete takes the best suggestion, or the one walked to, into the line.
func (p *Prompt) complete(m *Model, a Action) Cmd {
	if len(p.list) == 0 {
		return nil
	}
	if a == ActPreviousPart {
		p.step(a)
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
