package timeline

import (
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/history"
	"kitescope/internal/words"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// page is the timeline.
type page struct {
	state    *sharedState
	shown    []*lane // the lanes that match the filter, including those of findings
	why      string  // the reason why there is nothing to show
	findings []tui.Beginning
	filter   string // lower case

	lane   int           // under the cursor, an index of shown
	event  int           // under the cursor, a position on axis; -1 if none
	axis   *history.Axis // nil until the first lanes
	top    int           // the first visible lane
	height int           // number of visible lanes
	rows   []int
	// from and to are the places that bound the visible part; 0, 0 shows everything.
	from, to int64
	left, w  int // of the last frame, in cells: the space before the track, and the track
	longest  int // width in cells of the longest lane name, regardless of the filter
}

func (t *sharedState) open(m *tui.Model, words []string) (tui.Page, error) {
	if m.Past() == nil {
		_, why := m.Axis()
		return nil, errors.New(why)
	}
	return &page{state: t, filter: strings.ToLower(strings.Join(words, " ")), event: -1}, nil
}

// Scope implements tui.Page.
func (p *page) Scope() tui.Scope { return InTimeline }

// Crumb implements tui.Page.
func (p *page) Crumb() string { return "timeline" }

// Command implements tui.Page.
func (p *page) Command(*tui.Model) string { return "history" }

// Note implements tui.Page.
func (p *page) Note(*tui.Model) string {
	var parts []string
	if l := p.state.lanes; l != nil {
		parts = append(parts, words.Plural(l.axis.Len(), "event")+": + new - gone • changed ▲ trouble")
		if p.zoomed() {
			parts = append(parts, "from "+draw.Stamp(l.axis, l.axis.Revision(p.from)))
		}
	}
	return strings.Join(append(parts, tui.FilterNote(p.filter)...), " · ")
}

func (p *page) zoomed() bool { return p.to > p.from }

// Dated implements tui.Dated.
func (p *page) Dated() {}

// Refresh implements tui.Page.
func (p *page) Refresh(m *tui.Model) tui.Cmd {
	x, why := m.Axis()
	p.why = why
	if x == nil {
		return nil
	}
	t := p.state
	p.findings = m.Beginnings()
	p.rebuildLanes()
	if t.busy || t.lanes != nil && t.lanes.axis == x {
		return nil
	}
	t.busy = true
	return func() tea.Msg { return sortedMsg{t, newLanes(x)} }
}

// sortedMsg delivers lanes.
type sortedMsg struct {
	state *sharedState
	lanes *lanes
}

// Apply implements tui.Message.
func (s sortedMsg) Apply(m *tui.Model) tui.Cmd {
	s.state.busy, s.state.lanes = false, s.lanes
	return m.Refresh()
}

// rebuildLanes builds the list of lanes. The cursor stays on its lane and event if they still exist.
func (p *page) rebuildLanes() {
	l := p.state.lanes
	if l == nil {
		return
	}
	at := p.current()
	p.shown, p.longest = p.shown[:0:0], 0
	for i := range p.findings {
		x := &p.findings[i]
		name := x.Finding.Check
		if x.Finding.Object.Name != "" {
			name += " " + x.Finding.Object.Name
		}
		in := &lane{group: findingLanes, key: x.Finding.Key(), name: words.Sanitize(name), span: x}
		p.longest = max(p.longest, draw.Width(in.name))
		if l.matches(in, p.filter) {
			p.shown = append(p.shown, in)
		}
	}
	for _, in := range l.all {
		p.longest = max(p.longest, draw.Width(in.name))
		if l.matches(in, p.filter) {
			p.shown = append(p.shown, in)
		}
	}
	kept := slices.IndexFunc(p.shown, func(in *lane) bool {
		return at != nil && in.group == at.group && in.key == at.key
	})
	if kept >= 0 {
		p.lane = kept
	}
	p.clamp()
	if kept < 0 || p.axis != l.axis {
		p.place(l.axis)
	}
}

// place moves the cursor to the same event on axis x, or else to the nearest event of the lane.
func (p *page) place(x *history.Axis) {
	was, place := p.currentEvent(), x.To
	if was != nil {
		place = p.axis.EventPosition(p.event)
	}
	p.axis = x
	p.toNearest(place)
	if was == nil || p.event < 0 {
		return
	}
	for _, i := range p.events(p.current()) {
		if e := x.Event(int(i)); e.Revision == was.Revision && e.Kind == was.Kind && e.Object.ID == was.Object.ID {
			p.event = int(i)
		}
	}
}

func (p *page) clamp() { p.lane = max(0, min(p.lane, len(p.shown)-1)) }

// current returns the lane under the cursor, nil if there is none.
func (p *page) current() *lane {
	if p.lane < len(p.shown) {
		return p.shown[p.lane]
	}
	return nil
}

// events returns the events of a lane that match the filter, in order.
func (p *page) events(in *lane) []int32 {
	if p.filter == "" || strings.Contains(strings.ToLower(in.name+" "+in.group.title()), p.filter) {
		return in.events
	}
	var list []int32
	for _, i := range in.events {
		if e := p.state.lanes.axis.Event(int(i)); p.state.lanes.eventHas(&e, p.filter) {
			list = append(list, i)
		}
	}
	return list
}

// toNearest puts the cursor on the event of the lane that is nearest to a place.
func (p *page) toNearest(place int64) {
	p.event = -1
	in := p.current()
	if in == nil {
		return
	}
	x := p.state.lanes.axis
	best := int64(-1)
	for _, i := range p.events(in) {
		away := x.EventPosition(int(i)) - place
		if away < 0 {
			away = -away
		}
		if best < 0 || away <= best {
			p.event, best = int(i), away
		}
	}
}

// cursorPlace returns the place of the cursor.
func (p *page) cursorPlace() int64 {
	x := p.state.lanes.axis
	in := p.current()
	switch {
	case p.event >= 0:
		return p.axis.EventPosition(p.event)
	case in != nil && in.span != nil:
		return x.Position(in.span.Revision)
	}
	return x.To
}

// currentEvent returns the event under the cursor, nil if there is none.
func (p *page) currentEvent() *history.Event {
	if p.event < 0 {
		return nil
	}
	e := p.axis.Event(p.event)
	return &e
}

// Can implements tui.Page.
func (p *page) Can(_ *tui.Model, a tui.Action) string {
	in := p.current()
	switch a {
	case tui.ActOpen, tui.ActCopyRow, tui.ActTopTable:
		if in == nil || p.event < 0 && in.span == nil {
			return "no event selected"
		}
	case tui.ActZoomIn, tui.ActZoomOut, tui.ActLeft, tui.ActRight:
		if in == nil {
			return "no event selected"
		}
	}
	return ""
}

// Act implements tui.Page.
func (p *page) Act(m *tui.Model, a tui.Action) tui.Cmd {
	if to, ok := tui.Moved(a, p.lane, len(p.shown), p.height); ok {
		p.moveTo(to)
		return nil
	}
	switch a {
	case tui.ActLeft:
		p.moveEvent(-1)
	case tui.ActRight:
		p.moveEvent(1)
	case tui.ActOpen:
		return p.enter(m)
	case tui.ActZoomIn:
		p.zoom(0.4)
	case tui.ActZoomOut:
		p.zoom(2.5)
	case tui.ActFilter:
		m.Prompt = tui.FilterPrompt(p.filter, p.find, func(*tui.Model) string {
			return words.Plural(len(p.shown), "lane")
		})
	case tui.ActTopTable:
		return m.Push(p.state.eventsOf(p.current()))
	case tui.ActCopyRow:
		return m.Copy(p.sentence(m)+"\n", "event")
	case tui.ActBack:
		switch {
		case p.filter != "":
			return p.find(m, "")
		case p.zoomed():
			p.from, p.to = 0, 0
			return nil
		}
		return m.Back()
	}
	return nil
}

func (p *page) find(_ *tui.Model, text string) tui.Cmd {
	p.filter = strings.ToLower(strings.TrimSpace(text))
	p.rebuildLanes()
	if p.state.lanes != nil {
		p.toNearest(p.cursorPlace())
	}
	return nil
}

// moveTo moves to another lane, to the event that is nearest in time.
func (p *page) moveTo(to int) {
	place := p.cursorPlace()
	p.lane = to
	p.clamp()
	p.toNearest(place)
	p.follow()
}

// moveEvent moves to an event of the lane that is by positions later, or earlier if by is negative.
func (p *page) moveEvent(by int) {
	in := p.current()
	list := p.events(in)
	if i := slices.Index(list, int32(p.event)); i >= 0 && i+by >= 0 && i+by < len(list) {
		p.event = int(list[i+by])
	}
	p.follow()
}

// follow scrolls so that the cursor stays in the visible part of the time.
func (p *page) follow() {
	if !p.zoomed() {
		return
	}
	at, span := p.cursorPlace(), p.to-p.from
	if at < p.from || at > p.to {
		p.setRange(at-span/2, span)
	}
}

// setRange sets the visible part of the time.
func (p *page) setRange(from, span int64) {
	x := p.state.lanes.axis
	if span >= x.To-x.From {
		p.from, p.to = 0, 0
		return
	}
	p.from = max(x.From, min(from, x.To-span))
	p.to = p.from + span
}

// zoom shows a shorter or longer time around the cursor. The shortest is that of minSpan.
func (p *page) zoom(by float64) {
	from, to := p.visibleRange()
	span := max(int64(float64(to-from)*by), p.minSpan())
	at := p.cursorPlace()
	share := 0.5
	if at >= from && at <= to && to > from {
		share = float64(at-from) / float64(to-from)
	}
	p.setRange(at-int64(share*float64(span)), span)
}

// minSpan returns the shortest visible time: two seconds, or twenty revisions.
func (p *page) minSpan() int64 {
	if p.state.lanes.axis.Dated {
		return 2e9
	}
	return 20
}

// visibleRange returns the places that bound the visible part.
func (p *page) visibleRange() (from, to int64) {
	if p.zoomed() {
		return p.from, p.to
	}
	x := p.state.lanes.axis
	return x.From, max(x.To, x.From+1)
}

// enter shows the object under the cursor at the time of the event. A removed object is shown as it was
// before the event.
func (p *page) enter(m *tui.Model) tui.Cmd {
	e := p.currentEvent()
	if e == nil {
		s := p.current().span
		return tui.Batch(m.GoTo(s.Revision), m.Describe(s.Finding.Object))
	}
	return visit(m, e)
}

func visit(m *tui.Model, e *history.Event) tui.Cmd {
	revision := e.Revision
	if isGone(e) {
		revision--
	}
	return tui.Batch(m.GoTo(revision), m.Describe(e.Object))
}
