package tui

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// line is a text being edited. Bubbles' text input is not used: its cursor blinks
// by messages, and an idle terminal must stay silent; ours is the terminal's own.
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
func (l *line) edit(a action) bool {
	switch a {
	case actCursorLeft:
		l.at = max(0, l.at-1)
	case actCursorRight:
		l.at = min(len(l.text), l.at+1)
	case actCursorHome:
		l.at = 0
	case actCursorEnd:
		l.at = len(l.text)
	case actDeleteBack:
		l.cut(max(0, l.at-1), l.at)
	case actDelete:
		l.cut(l.at, min(len(l.text), l.at+1))
	case actDeleteWord:
		l.cut(l.wordStart(), l.at)
	case actDeleteAll:
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

// prompt is a line that the keyboard goes to, and what happens with it.
type prompt struct {
	line
	sign string // ":" or "/"
	// changed is called after each edit, accepted on enter, cancelled on esc.
	changed   func(m *Model, text string) cmd
	accepted  func(m *Model, text string) cmd
	cancelled func(m *Model) cmd
	// suggest returns completions of the whole line, best first; nil if there are none.
	suggest func(m *Model, text string) []suggestion
	list    []suggestion
	picked  int // -1: what was typed
	// status stands at the right end of the line: "matching… 43%".
	status func(m *Model) string
	// move lets up and down reach the page; nil where they walk the suggestions.
	move func(m *Model, a action) cmd
}

// suggestion is one line of the palette.
type suggestion struct {
	text string // what the line becomes
	doc  string
	// hits are positions of runes in text that matched, for highlighting.
	hits []int
}

// key handles a key that was pressed while p is open.
func (p *prompt) key(m *Model, a action, text string) cmd {
	switch {
	case a == actNone && text != "":
		p.insert(text)
		return p.edited(m)
	case a == actAccept:
		m.prompt = nil
		return p.accepted(m, p.choice())
	case a == actBack, a == actDeleteBack && len(p.text) == 0:
		m.prompt = nil
		return p.cancelled(m)
	case a == actPrevious, a == actNext:
		if p.move != nil {
			return p.move(m, a)
		}
		p.step(a)
	case a == actComplete, a == actCompleteBack:
		return p.complete(m, a)
	case p.edit(a):
		return p.edited(m)
	}
	return nil
}

// choice is the suggestion that was walked to, else what was typed.
func (p *prompt) choice() string {
	if p.picked >= 0 && p.picked < len(p.list) {
		return p.list[p.picked].text
	}
	return strings.TrimSpace(p.String())
}

func (p *prompt) step(a action) {
	if len(p.list) == 0 {
		return
	}
	d := 1
	if a == actPrevious || a == actCompleteBack {
		d = -1
	}
	p.picked = min(max(p.picked+d, -1), len(p.list)-1)
}

// complete takes the best suggestion, or the one walked to, into the line.
func (p *prompt) complete(m *Model, a action) cmd {
	if len(p.list) == 0 {
		return nil
	}
	if a == actCompleteBack {
		p.step(a)
		return nil
	}
	s := p.list[max(p.picked, 0)].text
	if !strings.HasSuffix(s, "=") {
		s += " "
	}
	p.set(s)
	return p.edited(m)
}

func (p *prompt) edited(m *Model) cmd {
	p.refresh(m)
	if p.changed == nil {
		return nil
	}
	return p.changed(m, p.String())
}

func (p *prompt) refresh(m *Model) {
	p.picked = -1
	if p.suggest != nil {
		p.list = p.suggest(m, p.String())
	}
}
