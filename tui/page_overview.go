package tui

import (
	"fmt"

	"kitescope/inspect/view"
)

// overviewPage is the cluster at a glance: the first frame, drawn before any data is there.
type overviewPage struct {
	env      *view.Env
	overview *view.Overview // nil until the first
	largest  *view.Grid     // collections by rows
	busy     bool           // a survey is on its way; a refresh waits for it
	top      int
	height   int
	length   int // lines in all
}

func overviewKind() pageKind {
	return pageKind{name: "overview", aliases: []string{"home"}, doc: "The cluster at a glance.", open: newOverviewPage}
}

func newOverviewPage(*Model, []string) (page, error) { return &overviewPage{}, nil }

func (p *overviewPage) scope() scope          { return inOverview }
func (p *overviewPage) crumb() string         { return "overview" }
func (p *overviewPage) command(*Model) string { return "overview" }

func (p *overviewPage) note(*Model) string {
	if p.length > p.height && p.height > 0 {
		return fmt.Sprintf("lines %d–%d of %d", p.top+1, min(p.length, p.top+p.height), p.length)
	}
	return ""
}

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
	page := max(1, p.height-1)
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
	case actGoFindings:
		return m.goFindings()
	case actUp:
		p.top--
	case actDown:
		p.top++
	case actPageUp, actHalfUp:
		p.top -= page
	case actPageDown, actHalfDown:
		p.top += page
	case actTop:
		p.top = 0
	case actBottom:
		p.top = p.length
	default:
	}
	p.clamp()
	return nil
}

func (p *overviewPage) clamp() { p.top = max(0, min(p.top, p.length-p.height)) }

func (p *overviewPage) click(*Model, int, int) cmd { return nil }

func (p *overviewPage) wheel(_ *Model, lines int) {
	p.top += lines
	p.clamp()
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
	p.height, p.length = h, len(lines)
	p.clamp()
	return lines[p.top:min(p.top+h, len(lines))]
}
