package tui

import (
	"errors"
	"fmt"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/tui/draw"
	"kitescope/words"
)

// explainPage is the documentation of a check.
type explainPage struct {
	pane
	check  *check.Check
	checks []*check.Check
}

func explainKind() PageKind {
	return PageKind{
		name: "explain", doc: "A check: what it looks at, and what to do.", open: openExplainPage, bare: true,
		words: func(m *Model) []string { return check.IDs(m.cfg.Checks) },
	}
}

// openExplainPage is ":explain CHECK".
func openExplainPage(m *Model, words []string) (page, error) {
	if len(words) == 0 {
		return nil, errors.New("say which check: explain CHECK (tab completes)")
	}
	for _, x := range m.cfg.Checks {
		if x.ID == words[0] {
			return newExplainPage(m, x.ID), nil
		}
	}
	text := "there is no check " + words[0]
	if near := view.Suggest(words[0], check.IDs(m.cfg.Checks)); len(near) > 0 {
		return nil, fmt.Errorf("%s: did you mean %s?", text, strings.Join(near, " or "))
	}
	return nil, errors.New(text)
}

// newExplainPage explains a check that there is.
func newExplainPage(m *Model, id string) page {
	p := &explainPage{checks: m.cfg.Checks}
	for _, x := range m.cfg.Checks {
		if x.ID == id {
			p.check = x
		}
	}
	return p
}

func (p *explainPage) scope() scope          { return inExplain }
func (p *explainPage) crumb() string         { return p.check.ID }
func (p *explainPage) note(*Model) string    { return p.position() }
func (p *explainPage) refresh(*Model) cmd    { return nil }
func (p *explainPage) command(*Model) string { return "explain " + p.check.ID }

func (p *explainPage) can(_ *Model, a action) string {
	if (a == actSearchNext || a == actSearchPrevious) && p.search == "" {
		return "search with / first"
	}
	return ""
}

func (p *explainPage) act(m *Model, a action) cmd {
	if p.move(a) {
		return nil
	}
	switch a {
	case actFilter:
		m.prompt = p.searchPrompt()
	case actCopyRow:
		return m.copyText(p.plain(), words.Plural(len(p.lines), "line"))
	case actBack:
		if p.search != "" {
			p.find("")
			return nil
		}
		return m.back()
	default:
	}
	return nil
}

func (p *explainPage) body(m *Model, w, h int) []string {
	if p.madeFor != w {
		p.set(p.text(min(w-4, proseWidth)), w)
	}
	return p.draw(m.st, w, h)
}

// proseWidth is a line that is read with ease, however wide the terminal.
const proseWidth = 96

func (p *explainPage) text(w int) []paneLine {
	var lines []paneLine
	for _, text := range draw.Wrap(words.Harmless(p.check.Title), w) {
		lines = append(lines, paneLine{text: text, look: lineTitle})
	}
	for _, part := range render.Explanation(p.check, p.checks, w) {
		lines = append(lines, paneLine{})
		if part.Title != "" {
			lines = append(lines, paneLine{text: strings.ToUpper(part.Title), look: lineTitle})
		}
		for _, text := range part.Lines {
			lines = append(lines, paneLine{text: text})
		}
	}
	return lines
}
