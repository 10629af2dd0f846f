package tui

import (
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
)

// takePast stores the history of a feed update.
func (m *Model) takePast(u *history.Update) {
	d := &m.data
	if u.Past != nil {
		d.past.onsets.stop()
		d.past = past{of: u.Past}
	}
	if u.Historical && u.Cluster != nil {
		d.past.away, d.past.shown = true, u.Cluster.Origin.Revision
		d.past.to = instant{revision: d.past.shown}
	}
}

// readPast schedules the reading of events after a delay, unless it is already scheduled or running.
func (m *Model) readPast(after time.Duration) Cmd {
	p := &m.data.past
	if p.of == nil || p.reading || p.waiting {
		return nil
	}
	p.waiting = true
	return m.After(after, grownMsg{p.of})
}

// growPast schedules the reading of new events if the newest cluster has a later revision than the known
// events.
func (m *Model) growPast(newest *model.Cluster) Cmd {
	p := &m.data.past
	switch {
	case p.axis == nil && p.err == nil:
		return m.readPast(pastAfter)
	case p.axis == nil || newest.Origin.Revision > p.axis.History.To:
		return m.readPast(growEvery)
	}
	return nil
}

// grownMsg starts the scheduled reading of events.
type grownMsg struct{ of history.Past }

func (g grownMsg) Apply(m *Model) Cmd {
	p := &m.data.past
	if p.of != g.of || p.reading {
		return nil
	}
	p.waiting, p.reading = false, true
	return readHistory(m, p.of)
}

// happenedMsg delivers the events.
type happenedMsg struct {
	of   history.Past
	axis *history.Axis
	err  error
}

func (h happenedMsg) Apply(m *Model) Cmd {
	p := &m.data.past
	if p.of != h.of {
		return nil
	}
	p.reading, p.err = false, h.err
	if h.err == nil {
		p.axis = h.axis
	}
	return m.Refresh()
}

// Axis returns the events that have been read. If it is nil, why is the reason: the source keeps no history, or
// the events are not read yet.
func (m *Model) Axis() (x *history.Axis, why string) {
	if why := m.data.past.withoutPast(m); why != "" {
		return nil, why
	}
	return m.data.past.axis, ""
}

// Describe opens the description of an object, in the displayed or requested state.
func (m *Model) Describe(of model.Ref) Cmd {
	if m.resource(of.Resource) == nil {
		m.Say(ToneInfo, "no page for "+of.Resource)
		return nil
	}
	return m.Push(newDetailPage(of))
}

// Past returns the history of the source, or nil if it keeps none.
func (m *Model) Past() history.Past { return m.data.past.of }

// Shown returns the displayed or requested revision. away reports that it is not the newest state.
func (m *Model) Shown() (revision int64, away bool) {
	p := &m.data.past
	switch {
	case p.away:
		return p.to.revision, true
	case m.data.cluster == nil:
		return 0, false
	}
	return m.data.cluster.Origin.Revision, false
}
