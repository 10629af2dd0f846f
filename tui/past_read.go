package tui

import (
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
)

// takePast takes what the feed says of the past.
func (m *Model) takePast(u *history.Update) {
	d := &m.data
	if u.Past != nil {
		d.past.onsets.stop()
		d.past = past{of: u.Past}
	}
	if u.Then && u.Cluster != nil {
		d.past.away, d.past.shown = true, u.Cluster.Origin.Revision
		d.past.to = instant{revision: d.past.shown}
	}
}

// readPast reads what happened in a while, if there is any of it that is not known.
func (m *Model) readPast(after time.Duration) Cmd {
	p := &m.data.past
	if p.of == nil || p.reading || p.waiting {
		return nil
	}
	p.waiting = true
	return m.After(after, grownMsg{p.of})
}

// growPast looks for more of what happened, where the newest cluster is of a later revision.
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

// grownMsg says that it is time to read what happened.
type grownMsg struct{ of history.Past }

func (g grownMsg) Apply(m *Model) Cmd {
	p := &m.data.past
	if p.of != g.of || p.reading {
		return nil
	}
	p.waiting, p.reading = false, true
	return readHistory(m, p.of)
}

// happenedMsg brings what happened.
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

// Axis is what happened, as far as it was read; nil where the source keeps no past, and until then. why says which.
func (m *Model) Axis() (x *history.Axis, why string) {
	if why := m.data.past.withoutPast(m); why != "" {
		return nil, why
	}
	return m.data.past.axis, ""
}

// Describe shows an object, in the state that is shown or on its way.
func (m *Model) Describe(of model.Ref) Cmd {
	if m.resource(of.Resource) == nil {
		m.Say(ToneInfo, "there is no page for "+of.Resource)
		return nil
	}
	return m.Push(newDetailPage(of))
}

// Past is what the source keeps of what was, nil if that is nothing.
func (m *Model) Past() history.Past { return m.data.past.of }

// Shown is the revision that is shown, or on its way; away says that it is not the newest state.
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
