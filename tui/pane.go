package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/tui/draw"
)

// LineLook is the style of a line in a pane.
type LineLook uint8

// Looks of lines.
const (
	LinePlain LineLook = iota
	LineTitle
	LineHead
	LineDim
	LineWarn
	LineBad
	LineChanged
	LineKey     // a key of the key map before the text
	LineColumns // keys of the key map in the text
)

// PaneLine is one line of text with an optional label before it. Both are plain.
type PaneLine struct {
	label string
	text  string
	look  LineLook
	keys  [][2]int  // where keys are in the text, in bytes
	drawn draw.Line // the text in its looks, where it has several
}

func (l *PaneLine) plain() string { return l.label + l.text }

// Pane is a text that scrolls and can be searched: details, help.
type Pane struct {
	Window
	lines   []PaneLine
	madeFor int // the width that lines were laid out for
	left    int
	search  string
	hits    []int // lines that match
	hit     int   // position in hits
}

// set replaces the text; the position stays where it can.
func (p *Pane) set(lines []PaneLine, w int) {
	p.lines, p.madeFor, p.length = lines, w, len(lines)
	p.mark()
}

func (p *Pane) move(a Action) bool {
	if p.Window.Move(a) {
		return true
	}
	switch a {
	case ActLeft:
		p.left = max(0, p.left-8)
	case ActRight:
		p.left += 8
	case ActSearchNext:
		p.step(1)
	case ActSearchPrevious:
		p.step(-1)
	default:
		return false
	}
	return true
}

// find searches the text and goes to the first match at or below the top.
func (p *Pane) find(text string) {
	p.search = strings.ToLower(strings.TrimSpace(text))
	p.mark()
	for i, line := range p.hits {
		if line >= p.Top {
			p.hit = i
			break
		}
	}
	p.step(0)
}

func (p *Pane) mark() {
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

func (p *Pane) step(d int) {
	if len(p.hits) == 0 {
		return
	}
	p.hit = (p.hit + d + len(p.hits)) % len(p.hits)
	line := p.hits[p.hit]
	if line < p.Top || line >= p.Top+p.Height {
		p.Top = line - p.Height/3
	}
	p.Scroll(0)
}

// position says how far the text is scrolled and how the search went.
func (p *Pane) position() string {
	var parts []string
	if p.search != "" {
		if len(p.hits) == 0 {
			parts = append(parts, "/"+p.search+" not found")
		} else {
			parts = append(parts, fmt.Sprintf("/%s %d of %d", p.search, p.hit+1, len(p.hits)))
		}
	}
	if place := p.Place(); place != "" {
		parts = append(parts, place)
	}
	return strings.Join(parts, " · ")
}

func (p *Pane) draw(st *draw.Styles, w, h int) []string {
	p.Fit(len(p.lines), h)
	var out []string
	for i := p.Top; i < min(p.Top+h, len(p.lines)); i++ {
		current := p.search != "" && len(p.hits) > 0 && p.hits[p.hit] == i
		out = append(out, p.line(st, &p.lines[i], w, current))
	}
	return out
}

func (p *Pane) line(st *draw.Styles, l *PaneLine, w int, current bool) string {
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
	if l.drawn != nil && p.left == 0 {
		return " " + l.drawn.CutTo(w-2).Styled(st)
	}
	if l.look == LinePlain && p.left == 0 && len(l.label) > 0 && len(plain) >= len(l.label) {
		return " " + st.Dim.On(l.label) + plain[len(l.label):]
	}
	if l.look == LineColumns && p.left == 0 {
		return " " + withKeys(st, plain, l.keys)
	}
	if l.look == LineKey && len(plain) >= len(l.label) {
		return " " + st.Key.On(l.label) + plain[len(l.label):]
	}
	return " " + LineStyle(st, l.look).On(plain)
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

// LineStyle is the style of a line's look.
func LineStyle(st *draw.Styles, look LineLook) draw.Style {
	switch look {
	case LineTitle:
		return st.Tab
	case LineHead, LineDim:
		return st.Dim
	case LineWarn:
		return st.Warn
	case LineBad:
		return st.Bad
	case LineChanged:
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
func (p *Pane) plain() string {
	var b strings.Builder
	for i := range p.lines {
		b.WriteString(strings.TrimRight(p.lines[i].plain(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// searchPrompt searches while it is typed.
func (p *Pane) searchPrompt() *Prompt {
	before, top := p.search, p.Top
	q := &Prompt{
		Sign:     "/",
		Changed:  func(_ *Model, text string) Cmd { p.find(text); return nil },
		Accepted: func(*Model, string) Cmd { return nil },
		Cancelled: func(*Model) Cmd {
			p.find(before)
			p.Top = top
			return nil
		},
		Status: func(*Model) string { return p.position() },
		Move:   func(_ *Model, a Action) Cmd { p.move(a); return nil },
	}
	return q
}
