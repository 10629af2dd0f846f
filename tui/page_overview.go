package tui

import (
	"kitescope/inspect/view"
	"kitescope/tui/sheet"
)

// overviewPage is the cluster at a glance: the first frame, drawn before any data is there.
type overviewPage struct {
	env      *view.Env
	overview *view.Overview // nil until the first
	largest  *view.Grid     // collections by rows
	busy     bool           // a survey is on its way; a refresh waits for it
	Window
}

func overviewKind() PageKind {
	return PageKind{Name: "overview", Aliases: []string{"home"}, Doc: "The cluster at a glance.", Open: newOverviewPage}
}

func newOverviewPage(*Model, []string) (Page, error) { return &overviewPage{}, nil }

func (p *overviewPage) Scope() Scope          { return InOverview }
func (p *overviewPage) Crumb() string         { return "overview" }
func (p *overviewPage) Command(*Model) string { return "overview" }

func (p *overviewPage) Note(*Model) string { return p.Place() }

func (p *overviewPage) Refresh(m *Model) Cmd {
	if m.data.cluster == nil || p.busy || p.env == m.data.env {
		return nil
	}
	p.busy = true
	return survey(p, m.data.env, m.resource("collections"))
}

// surveyedMsg brings an overview that was asked for.
type surveyedMsg struct {
	page     *overviewPage
	env      *view.Env
	overview *view.Overview
	largest  *view.Grid
}

func (s surveyedMsg) Apply(m *Model) Cmd {
	s.page.busy = false
	s.page.env, s.page.overview, s.page.largest = s.env, s.overview, s.largest
	return s.page.Refresh(m)
}

func (p *overviewPage) Can(*Model, Action) string { return "" }

func (p *overviewPage) Act(m *Model, a Action) Cmd {
	switch a {
	case ActBack:
		return m.Back()
	case ActOpen:
		return m.jump("collections")
	case ActHalfUp:
		p.Move(ActPageUp)
	case ActHalfDown:
		p.Move(ActPageDown)
	default:
		p.Move(a)
	}
	return nil
}

func (p *overviewPage) Body(m *Model, w, h int) []string {
	lines := sheet.Sheet{
		Styles: m.Styles, Overview: p.overview, Largest: p.largest, Report: m.data.judged.report, Latency: m.data.times.latency,
	}.Lines(w, h)
	p.Fit(len(lines), h)
	from, to := p.Seen()
	return lines[from:to]
}
