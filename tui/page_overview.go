package tui

import (
	"kitescope/inspect/view"
)

// overviewPage is the cluster at a glance: the first frame, drawn before any data is there.
type overviewPage struct {
	env      *view.Env
	overview *view.Overview // nil until the first
	largest  *view.Grid     // collections by rows
	busy     bool           // a survey is on its way; a refresh waits for it
	window
}

func overviewKind() PageKind {
	return PageKind{name: "overview", aliases: []string{"home"}, doc: "The cluster at a glance.", open: newOverviewPage}
}

func newOverviewPage(*Model, []string) (page, error) { return &overviewPage{}, nil }

func (p *overviewPage) scope() scope          { return inOverview }
func (p *overviewPage) crumb() string         { return "overview" }
func (p *overviewPage) command(*Model) string { return "overview" }

func (p *overviewPage) note(*Model) string { return p.place() }

func (p *overviewPage) refresh(m *Model) cmd {
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

func (s surveyedMsg) apply(m *Model) cmd {
	s.page.busy = false
	s.page.env, s.page.overview, s.page.largest = s.env, s.overview, s.largest
	return s.page.refresh(m)
}

func (p *overviewPage) can(*Model, action) string { return "" }

func (p *overviewPage) act(m *Model, a action) cmd {
	switch a {
	case actBack:
		return m.back()
	case actGoCollections:
		return m.jump("collections")
	case actGoSegments:
		return m.jump("segments")
	case actGoNodes:
		return m.jump("nodes")
	case actGoVChannels:
		return m.jump("vchannels")
	case actGoIndexes:
		return m.jump("indexes")
	case actGoTasks:
		return m.jump("tasks")
	case actGoUndecoded:
		return m.jump("undecoded")
	case actGoKeys:
		return m.jump("keys")
	case actGoDiff:
		return m.jump("diff")
	case actGoBalance:
		return m.jump("balance")
	case actHalfUp:
		p.move(actPageUp)
	case actHalfDown:
		p.move(actPageDown)
	default:
		p.move(a)
	}
	return nil
}

func (p *overviewPage) body(m *Model, w, h int) []string {
	s := sheet{st: m.st, o: p.overview}
	if s.o == nil {
		s.o = &view.Overview{}
		s.waiting = true
	}
	lines := append(s.findings(m.data.judged.report, w), s.lines(w)...)
	if room := h - len(lines) - 3; room > 1 && p.largest != nil && p.largest.Len() > 0 {
		lines = append(lines, s.collections(p.largest, w, room)...)
	}
	p.fit(len(lines), h)
	from, to := p.seen()
	return lines[from:to]
}
