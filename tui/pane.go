package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/tui/draw"
)

// lineLook is the style of a line in a pane.
type lineLook uint8

const (
	linePlain lineLook = iota
	lineTitle
	lineHead
	lineDim
	lineWarn
	lineBad
	lineChanged
	lineKey // a key of the key map before the text
)

// paneLine is one line of text with an optional label before it. Both are plain.
type paneLine struct {
	label string
	text  string
	look  lineLook
}

func (l *paneLine) plain() string { return l.label + l.text }

// pane is a text that scrolls and can be searched: details, help.
type pane struct {
	window
	lines   []paneLine
	madeFor int // the width that lines were laid out for
	left    int
	search  string
	hits    []int // lines that match
	hit     int   // position in hits
}

// set replaces the text; the position stays where it can.
func (p *pane) set(lines []paneLine, w int) {
	p.lines, p.madeFor, p.length = lines, w, len(lines)
	p.mark()
}

func (p *pane) move(a action) bool {
	if p.window.move(a) {
		return true
	}
	switch a {
	case actLeft:
		p.left = max(0, p.left-8)
	case actRight:
		p.left += 8
	case actSearchNext:
		p.step(1)
	case actSearchPrevious:
		p.step(-1)
	default:
		return false
	}
	return true
}

// find searches the text and goes to the first match at or below the top.
func (p *pane) find(text string) {
	p.search = strings.ToLower(strings.TrimSpace(text))
	p.mark()
	for i, line := range p.hits {
		if line >= p.top {
			p.hit = i
			break
		}
	}
	p.step(0)
}

func (p *pane) mark() {
	p.hits = p.hits[:0]
	if p.search == "" {
		p.hit = 0
		return
	}
	for i := range p.lines {
		if strings.Contains(strings.ToLower(p.lines[i].plain()), p.search) {
			p.hits = append(p.hits, i)
		}
	}
	p.hit = max(0, min(p.hit, len(p.hits)-1))
}

func (p *pane) step(d int) {
	if len(p.hits) == 0 {
		return
	}
	p.hit = (p.hit + d + len(p.hits)) % len(p.hits)
	line := p.hits[p.hit]
	if line < p.top || line >= p.top+p.height {
		p.top = line - p.height/3
	}
	p.scroll(0)
}

// position says how far the text is scrolled and how the search went.
func (p *pane) position() string {
	var parts []string
	if p.search != "" {
		if len(p.hits) == 0 {
			parts = append(parts, "/"+p.search+" not found")
		} else {
			parts = append(parts, fmt.Sprintf("/%s %d of %d", p.search, p.hit+1, len(p.hits)))
		}
	}
	if place := p.place(); place != "" {
		parts = append(parts, place)
	}
	return strings.Join(parts, " · ")
}

func (p *pane) draw(st *draw.Styles, w, h int) []string {
	p.fit(len(p.lines), h)
	var out []string
	for i := p.top; i < min(p.top+h, len(p.lines)); i++ {
		current := p.search != "" && len(p.hits) > 0 && p.hits[p.hit] == i
		out = append(out, p.line(st, &p.lines[i], w, current))
	}
	return out
}

func (p *pane) line(st *draw.Styles, l *paneLine, w int, current bool) string {
	plain := l.plain()
	if p.left > 0 {
		plain = ansi.TruncateLeft(plain, p.left, "")
	}
	plain = draw.Cut(plain, w-2)
	if p.search != "" {
		if at, end := foldIndex(plain, p.search); at >= 0 {
			look := st.Match
			if current {
				look = st.CurrentMatch
			}
			return " " + plain[:at] + look.On(plain[at:end]) + plain[end:]
		}
	}
	if l.look == linePlain && p.left == 0 && len(l.label) > 0 && len(plain) >= len(l.label) {
		return " " + st.Dim.On(l.label) + plain[len(l.label):]
	}
	if l.look == lineKey && len(plain) >= len(l.label) {
		return " " + st.Key.On(l.label) + plain[len(l.label):]
	}
	return " " + lineStyle(st, l.look).On(plain)
}

func lineStyle(st *draw.Styles, look lineLook) draw.Style {
	switch look {
	case lineTitle:
		return st.Tab
	case lineHead, lineDim:
		return st.Dim
	case lineWarn:
		return st.Warn
	case lineBad:
		return st.Bad
	case lineChanged:
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

// plain is the whole text.
func (p *pane) plain() string {
	var b strings.Builder
	for i := range p.lines {
		b.WriteString(strings.TrimRight(p.lines[i].plain(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// searchPrompt searches while it is typed.
func (p *pane) searchPrompt() *prompt {
	before, top := p.search, p.top
	q := &prompt{
		sign:     "/",
		changed:  func(_ *Model, text string) cmd { p.find(text); return nil },
		accepted: func(*Model, string) cmd { return nil },
		cancelled: func(*Model) cmd {
			p.find(before)
			p.top = top
			return nil
		},
		status: func(*Model) string { return p.position() },
		move: func(_ *Model, a action) cmd {
			p.move(map[action]action{actPrevious: actSearchPrevious, actNext: actSearchNext}[a])
			return nil
		},
	}
	return q
}
