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
		d.past = past{source: u.Past}
	}
	if u.Historical && u.Cluster != nil {
		d.past.inPast, d.past.shown = true, u.Cluster.Origin.Revision
		d.past.to = instant{revision: d.past.shown}
	}
}

// readPast schedules the reading of events after a delay, unless it is already scheduled or running.
func (m *Model) readPast(after time.Duration) Cmd {
	p := &m.data.past
	if p.source == nil || p.reading || p.waiting {
		return nil
	}
	p.waiting = true
	return m.After(after, readEventsMsg{p.source})
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

// readEventsMsg starts the scheduled reading of events.
type readEventsMsg struct{ source history.Past }

func (g readEventsMsg) Apply(m *Model) Cmd {
	p := &m.data.past
	if p.source != g.source || p.reading {
		return nil
	}
	p.waiting, p.reading = false, true
	return readHistory(m, p.source)
}

// eventsMsg delivers the events.
type eventsMsg struct {
	source history.Past
	axis   *history.Axis
	err    error
}

func (h eventsMsg) Apply(m *Model) Cmd {
	p := &m.data.past
	if p.source != h.source {
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
func (m *Model) Describe(ref model.Ref) Cmd {
	if m.resource(ref.Resource) == nil {
		m.Notify(ToneInfo, "no page for "+ref.Resource)
		return nil
	}
	return m.Push(newDetailPage(ref))
}

// Past returns the history of the source, or nil if it keeps none.
func (m *Model) Past() history.Past { return m.data.past.source }

// Revision returns the displayed or requested revision. inPast reports that it is not the newest state.
func (m *Model) Revision() (revision int64, inPast bool) {
	p := &m.data.past
	switch {
	case p.inPast:
		return p.to.revision, true
	case m.data.cluster == nil:
		return 0, false
	}
	return m.data.cluster.Origin.Revision, false
}
