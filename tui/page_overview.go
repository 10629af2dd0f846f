package tui

import (
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/view"
	"kitescope/tui/draw"
)

// overviewPage summarizes the cluster. It is the first page and is drawn before any data arrives. All its items
// can be selected. The selected item is opened to the right of the overview or below it.
type overviewPage struct {
	env      *view.Env
	overview *view.Overview // nil before the first data
	largest  *view.Grid     // collections by rows
	busy     bool           // a survey is in flight; a refresh waits for it
	Window
	items []overviewItem
	at    int
	key   string // key of the selected item; "" before the first movement selects the first finding
}

func overviewKind() PageKind {
	return PageKind{
		Name: "overview", Aliases: []string{"home"}, Doc: "The cluster at a glance.", Open: newOverviewPage,
	}
}

func newOverviewPage(*Model, []string) (Page, error) { return &overviewPage{}, nil }

func (p *overviewPage) Scope() Scope          { return InOverview }
func (p *overviewPage) Crumb() string         { return "overview" }
func (p *overviewPage) Command(*Model) string { return "overview" }

func (p *overviewPage) Note(*Model) string { return p.Position() }

func (p *overviewPage) Refresh(m *Model) Cmd {
	if m.data.cluster == nil || p.busy || p.env == m.data.env {
		return nil
	}
	p.busy = true
	return survey(p, m.data.env, m.resource("collections"))
}

// surveyedMsg delivers the data of the overview.
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

// selected returns the item under the cursor, or an empty item.
func (p *overviewPage) selected() overviewItem {
	if p.at < len(p.items) {
		return p.items[p.at]
	}
	return overviewItem{}
}

// finding returns the finding under the cursor, or nil.
func (p *overviewPage) finding() *check.Finding { return p.selected().Finding }

func (p *overviewPage) Can(m *Model, a Action) string {
	if len(p.items) == 0 && m.Width > 0 { // a key before the first frame
		p.layOut(m, m.Width, m.BodyHeight())
	}
	x := p.selected()
	switch {
	case a == ActOpen && x.Page != "":
		return ""
	case a == ActOpen && x.Key != "" && x.Finding == nil && x.Object.Resource == "":
		return "nothing to open"
	}
	return canFinding(m, a, x.Finding, x.Object)
}

func (p *overviewPage) Act(m *Model, a Action) Cmd {
	x := p.selected()
	switch {
	case a == ActBack:
		return m.Back()
	case p.move(a):
	case x.Finding != nil:
		return m.data.judged.act(m, a, x.Finding)
	case a == ActOpen && x.Page != "":
		return m.jump(x.Page)
	case (a == ActOpen || a == ActOwner) && x.Object.Resource != "":
		return m.Push(newDetailPage(x.Object))
	case a == ActCopyRow && x.Object.Resource != "":
		return m.Copy(x.Object.ID, refName(x.Object))
	}
	return nil
}

// move performs a cursor movement. It reports whether a is a movement.
func (p *overviewPage) move(a Action) bool {
	if len(p.items) == 0 {
		return p.Window.Move(a)
	}
	to, ok := Moved(a, p.at, len(p.items), max(2, p.Height/2))
	if ok {
		p.at = max(0, min(to, len(p.items)-1))
		p.key = p.items[p.at].Key
	}
	return ok
}

func (p *overviewPage) Body(m *Model, w, h int) []string {
	lines, left, top := p.layOut(m, w, h)
	if x := p.selected(); x.Key != "" {
		lines[x.Line] = draw.Selected(m.Styles, lines[x.Line], x.From, x.To)
	}
	from, to := p.Visible()
	return draw.Split(m.Styles, lines[from:to], left, top, w, h, func(w, h int) []string { return p.opened(m, w, h) })
}

// minOverviewSplit is the minimum width, in cells, for drawing the opened item to the right of the overview.
const minOverviewSplit = 140

// layOut lays out the overview and locates the selected item.
func (p *overviewPage) layOut(m *Model, w, h int) (lines []string, left, top int) {
	left, top = draw.SplitSize(w, h, minOverviewSplit, w*2/3)
	below := top < h
	if below { // the opened item gets the remaining lines, at least 3 if h allows
		top = h - max(3, min(h/3, 8))
	}
	lines, items := overviewContent{
		Styles: m.Styles, Overview: p.overview, Largest: p.largest, Report: m.data.judged.report,
		Latency: m.data.times.latency,
	}.Lines(left, top)
	if below {
		top = min(top, len(lines))
	}
	p.items = items
	p.Fit(len(lines), top)
	p.place()
	return lines, left, top
}

// place locates the selected item after a layout and scrolls to it.
func (p *overviewPage) place() {
	i := slices.IndexFunc(p.items, func(x overviewItem) bool { return p.key != "" && x.Key == p.key })
	if i < 0 && p.key == "" {
		i = slices.IndexFunc(p.items, func(x overviewItem) bool { return x.Finding != nil })
	}
	if i >= 0 {
		p.at = i
	}
	p.at = max(0, min(p.at, len(p.items)-1))
	if len(p.items) == 0 {
		return
	}
	line := p.items[p.at].Line
	if p.at == 0 {
		line = 0
	}
	p.Scroll(min(0, line-p.Top) + max(0, line-p.Top-p.Height+1))
}

// opened draws the selected item.
func (p *overviewPage) opened(m *Model, w, h int) []string {
	x := p.selected()
	switch {
	case x.Finding != nil:
		lines, _ := openedLines(m, m.data.judged, x.Finding, w, h, 0)
		return lines
	case x.Key == "" || m.data.cluster == nil: // there is nothing to open yet
		return nil
	}
	var lines []string
	for _, text := range draw.Wrap(x.About, w-2) {
		lines = append(lines, " "+text)
	}
	if x.Object.Resource != "" {
		lines = append(lines, " "+draw.Cut(refName(x.Object), w-2),
			" "+m.Styles.Key.On("enter")+m.Styles.Dim.On(" describes it"))
	}
	if x.Page != "" {
		lines = append(lines,
			" "+m.Styles.Key.On("enter")+m.Styles.Dim.On(draw.Cut(" opens :"+x.Page, w-1-draw.Width("enter"))))
	}
	return lines[:min(h, len(lines))]
}

// copies returns the formats in which the selected item can be copied.
func (p *overviewPage) copies(*Model) []MenuItem { return findingCopies(p.finding()) }
