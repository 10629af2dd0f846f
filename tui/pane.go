package tui

import (
	"fmt"
	"strings"

	"kitescope/internal/words"
	"kitescope/tui/draw"
)

// Pane is a text that scrolls and can be searched, e.g. details or help.
type Pane struct {
	Window
	lines   []draw.TextLine
	madeFor int // the width that lines were laid out for
	left    int
	search  string
	hits    []int // indexes of matching lines
	hit     int   // index in hits
}

// set replaces the text and keeps the scroll position if possible.
func (p *Pane) set(lines []draw.TextLine, w int) {
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

// find searches the text and selects the first match at or below the top line.
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
		if strings.Contains(strings.ToLower(p.lines[i].Plain()), p.search) {
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

// Can returns the reason why an action on the text is unavailable, or "" if it is available.
func (p *Pane) Can(_ *Model, a Action) string {
	if (a == ActSearchNext || a == ActSearchPrevious) && p.search == "" {
		return "search with / first"
	}
	return ""
}

// Act performs the actions that all text pages have.
func (p *Pane) Act(m *Model, a Action) Cmd {
	switch {
	case p.move(a):
	case a == ActFilter:
		m.Prompt = p.searchPrompt()
	case a == ActBack && p.search != "":
		p.find("")
	case a == ActBack:
		return m.Back()
	case a == ActCopyRow:
		return m.Copy(p.plain(), words.Plural(len(p.lines), "line"))
	}
	return nil
}

// Note returns the scroll position and the state of the search.
func (p *Pane) Note(*Model) string { return p.position() }

// position returns the state of the search and the scroll position.
func (p *Pane) position() string {
	var parts []string
	if p.search != "" {
		if len(p.hits) == 0 {
			parts = append(parts, "/"+p.search+" not found")
		} else {
			parts = append(parts, fmt.Sprintf("/%s %d of %d", p.search, p.hit+1, len(p.hits)))
		}
	}
	if place := p.Position(); place != "" {
		parts = append(parts, place)
	}
	return strings.Join(parts, " · ")
}

func (p *Pane) draw(st *draw.Styles, w, h int) []string {
	p.Fit(len(p.lines), h)
	var out []string
	for i := p.Top; i < min(p.Top+h, len(p.lines)); i++ {
		current := p.search != "" && len(p.hits) > 0 && p.hits[p.hit] == i
		out = append(out, p.lines[i].Draw(st, w, p.left, p.search, current))
	}
	return out
}

// plain returns the whole text.
func (p *Pane) plain() string {
	var b strings.Builder
	for i := range p.lines {
		b.WriteString(strings.TrimRight(p.lines[i].Plain(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// searchPrompt returns a prompt that searches while the user types.
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
	}
	return q
}
