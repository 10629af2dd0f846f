package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/view"
	"kitescope/internal/words"
	"kitescope/tui/draw"
)

// explainPage is the documentation of a check.
type explainPage struct {
	Pane
	check  *check.Check
	checks []*check.Check
}

func explainKind() PageKind {
	return PageKind{
		Name: "explain", Doc: "Explain a check: what it examines, and what to do.",
		Args: "CHECK", Open: openExplainPage, WithoutCluster: true,
		Words: func(m *Model) []string { return check.IDs(documentedChecks(m)) },
	}
}

// openExplainPage runs ":explain CHECK".
func openExplainPage(m *Model, words []string) (Page, error) {
	if len(words) == 0 {
		return nil, errors.New("check required: explain CHECK (tab completes)")
	}
	if check.Find(documentedChecks(m), words[0]) != nil {
		return newExplainPage(m, words[0]), nil
	}
	text := "no check " + words[0]
	if near := view.Suggest(words[0], check.IDs(documentedChecks(m))); len(near) > 0 {
		return nil, fmt.Errorf("%s: did you mean %s?", text, strings.Join(near, " or "))
	}
	return nil, errors.New(text)
}

// newExplainPage returns the page of an existing check.
func newExplainPage(m *Model, id string) Page {
	all := documentedChecks(m)
	return &explainPage{check: check.Find(all, id), checks: all}
}

// documentedChecks returns all documented checks: the checks of the diagnosis and those of pages.
func documentedChecks(m *Model) []*check.Check {
	all := slices.Clip(m.Config.Checks)
	for i := range m.kinds {
		all = append(all, m.kinds[i].Checks...)
	}
	return all
}

func (p *explainPage) Scope() Scope          { return InExplain }
func (p *explainPage) Crumb() string         { return "explain " + p.check.ID }
func (p *explainPage) Refresh(*Model) Cmd    { return nil }
func (p *explainPage) Command(*Model) string { return "explain " + p.check.ID }

func (p *explainPage) Body(m *Model, w, h int) []string {
	if p.madeFor != w {
		p.set(p.text(min(w-4, proseWidth)), w)
	}
	return p.draw(m.Styles, w, h)
}

// proseWidth is the maximum line width of prose, in cells, even in wider terminals.
const proseWidth = 96

func (p *explainPage) text(w int) []draw.TextLine {
	var lines []draw.TextLine
	for _, text := range draw.Wrap(words.Sanitize(p.check.Title), w) {
		lines = append(lines, draw.TextLine{Text: text, Look: draw.LookTitle})
	}
	return append(lines, explanation(p.check, p.checks, w)...)
}
