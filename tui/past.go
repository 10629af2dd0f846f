package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// past is the history that the source keeps, and the current position in it.
type past struct {
	source history.Past  // nil if the source keeps no history
	axis   *history.Axis // the events; nil until they are read
	err    error         // the error of reading the events
	// reading reports that the events are being read, waiting that reading is scheduled.
	reading, waiting bool

	// inPast reports that the displayed or requested state is not the newest. It is the state of to.
	inPast bool
	to     instant
	shown  int64 // the displayed revision; 0 is the newest
	// busy reports that a past state is being read. At most one read is in flight.
	busy bool
	stop context.CancelFunc // cancels the read in flight
	// newestRequested reports that readNewest was called.
	newestRequested bool
	onsets          onsets
}

// instant is a state to show: the state at revision. Changes are marked relative to the state at base, or,
// if base is 0, relative to the state shown before. newest means that it is the newest state.
type instant struct {
	revision, base int64
	newest         bool
}

const (
	// pastAfter is the delay before the events are read, so that the first screen comes first.
	pastAfter = 300 * time.Millisecond
	// growEvery is the minimum interval between checks for new events.
	growEvery = 10 * time.Second
	// progressEvery is the interval between progress updates while a past state is read.
	progressEvery = 250 * time.Millisecond
)

// withoutPast returns the reason why stepping is unavailable, or "" if it is available.
func (p *past) withoutPast(m *Model) string {
	switch {
	case m.Config.First != nil:
		return m.withoutCluster()
	case m.data.cluster == nil:
		return "no data yet"
	case p.source == nil:
		return "no history here: open a live etcd or an etcd snapshot"
	case p.axis == nil && p.err != nil:
		return p.err.Error()
	case p.axis == nil:
		return "the history is still being read"
	}
	return ""
}

// canStep returns the reason why a time action is unavailable, or "" if it is available.
func (p *past) canStep(m *Model, a Action) string {
	switch a {
	case ActAt:
		if p.source != nil && m.Config.First == nil {
			return "" // a named moment is found without reading all events
		}
	case ActLive:
		if p.source != nil && !p.inPast {
			return "this is the newest state"
		}
		if m.data.newest != nil {
			return ""
		}
	case ActLater:
		if p.source != nil && !p.inPast {
			return "this is the newest state (press " + KeyOf(m, ActEarlier) + " to step back)"
		}
	default:
	}
	return p.withoutPast(m)
}

// step performs a time action.
func (p *past) step(m *Model, a Action) Cmd {
	switch a {
	case ActEarlier:
		return p.stepEvent(m, -1)
	case ActLater:
		return p.stepEvent(m, 1)
	case ActAt:
		m.Prompt = newAtPrompt("")
		return nil
	}
	return p.goLive(m)
}

// stepEvent goes to the state after the previous event (by < 0) or after the next event (by > 0).
func (p *past) stepEvent(m *Model, by int) Cmd {
	x, revision := p.axis, p.to.revision
	if by > 0 {
		if next := x.CountUpTo(revision); next < x.Len() {
			return m.GoTo(x.Event(next).Revision)
		}
		return p.goLive(m)
	}
	if !p.inPast {
		revision = x.History.To + 1
	}
	if before := x.CountUpTo(revision-1) - 1; before >= 0 {
		return m.GoTo(x.Event(before).Revision)
	}
	return p.toOldest(m, revision)
}

// toOldest goes to the oldest state unless from is already the oldest revision.
func (p *past) toOldest(m *Model, from int64) Cmd {
	oldest := p.axis.History.From
	if from <= oldest {
		m.Notify(ToneInfo, "this is the oldest state")
		return nil
	}
	return p.seek(m, instant{revision: oldest})
}

// GoTo shows the state after a revision and marks the changes made by that revision.
func (m *Model) GoTo(revision int64) Cmd {
	if why := m.data.past.withoutPast(m); why != "" {
		m.Notify(ToneWarn, why)
		return nil
	}
	h := m.data.past.axis.History
	revision = min(max(revision, h.From), h.To)
	return m.data.past.seek(m, instant{revision: revision, base: max(revision-1, h.From)})
}

// goLive shows the newest state.
func (p *past) goLive(m *Model) Cmd {
	d := &m.data
	if !p.inPast {
		m.Notify(ToneInfo, "this is the newest state")
		return nil
	}
	if p.busy {
		p.stop()
	}
	if why := p.withoutPast(m); d.newest == nil && why != "" {
		m.Notify(ToneWarn, why)
		return nil
	}
	if d.newest == nil { // the UI was opened at a past moment
		return p.seek(m, instant{revision: p.axis.History.To, newest: true})
	}
	c := d.newest
	d.newest = nil
	p.inPast, p.shown, p.to = false, 0, instant{}
	return m.show(c)
}

// seek goes to a moment. It cancels the read in flight.
func (p *past) seek(m *Model, to instant) Cmd {
	d := &m.data
	if !p.inPast {
		if d.newest == nil {
			d.newest = d.cluster
		}
	}
	p.inPast, p.to = true, to
	if p.busy {
		p.stop() // when the canceled read returns, stateMsg seeks to p.to
		return nil
	}
	p.busy = true
	var ctx context.Context
	ctx, p.stop = m.Context()
	return Batch(readState(ctx, p.source, to), m.After(progressEvery, progressMsg{}))
}

// progressMsg redraws the progress of the read in flight.
type progressMsg struct{}

func (progressMsg) Apply(m *Model) Cmd {
	if !m.data.past.busy {
		return nil
	}
	return m.After(progressEvery, progressMsg{})
}

// readNewest reads the newest state of a source that was opened at a past moment.
func (p *past) readNewest(m *Model) Cmd {
	if p.axis == nil || p.newestRequested {
		return nil
	}
	p.newestRequested = true
	of, revision := p.source, p.axis.History.To
	return func() tea.Msg {
		ctx, stop := m.Context()
		defer stop()
		list, err := of.At(ctx, revision)
		return newestMsg{of, list, err}
	}
}

// newestMsg delivers the newest state while an older state is shown.
type newestMsg struct {
	source history.Past
	list   []*model.Cluster
	err    error
}

func (n newestMsg) Apply(m *Model) Cmd {
	d := &m.data
	switch {
	case d.past.source != n.source:
	case n.err != nil:
		m.Notify(ToneBad, n.err.Error())
	case d.past.inPast && d.newest == nil:
		d.newest = n.list[0]
	}
	return m.Refresh()
}

// stateMsg delivers a past state.
type stateMsg struct {
	source        history.Past
	to            instant
	cluster, base *model.Cluster
	err           error
}

func (r stateMsg) Apply(m *Model) Cmd {
	d := &m.data
	p := &d.past
	if p.source != r.source {
		return nil
	}
	p.busy = false
	p.stop()
	var next Cmd
	switch {
	case !p.inPast: // the user returned to the newest state
		return nil
	case p.to != r.to:
		next = p.seek(m, p.to)
	case r.err != nil:
		return p.showReadError(m, r.err)
	}
	if r.err != nil {
		return next
	}
	p.shown = r.to.revision
	if r.to.newest && next == nil {
		p.inPast, p.shown, p.to = false, 0, instant{}
	}
	return Batch(m.replace(r.base, r.cluster), next)
}

// showReadError shows the error of reading a moment. The displayed state stays.
func (p *past) showReadError(m *Model, err error) Cmd {
	m.Notify(ToneBad, err.Error())
	p.to = instant{revision: p.shown}
	if p.shown == 0 {
		return p.goLive(m)
	}
	return nil
}

// newAtPrompt returns the prompt that "@" opens, with an initial text.
func newAtPrompt(text string) *Prompt {
	p := &Prompt{
		Sign:      "@",
		Accepted:  func(m *Model, form string) Cmd { return m.data.past.goAt(m, form) },
		Cancelled: func(*Model) Cmd { return nil },
		Status:    func(*Model) string { return table.WhenForms + ", rev:24519 (UTC)" },
	}
	p.set(text)
	return p
}

// goAt shows the moment that form describes, in the syntax of --at.
func (p *past) goAt(m *Model, form string) Cmd {
	switch form = strings.TrimSpace(form); form {
	case "":
		return nil
	case "now", "live":
		return p.goLive(m)
	}
	if why := p.canStep(m, ActAt); why != "" {
		m.Notify(ToneWarn, why)
		return nil
	}
	return findMoment(m, p.source, form)
}

// foundMsg delivers the revision of a moment.
type foundMsg struct {
	source   history.Past
	form     string
	revision int64
	err      error
}

func (f foundMsg) Apply(m *Model) Cmd {
	if f.source != m.data.past.source {
		return nil
	}
	if f.err != nil {
		m.Notify(ToneBad, f.err.Error())
		if m.Prompt == nil {
			m.Prompt = newAtPrompt(f.form)
		}
		return nil
	}
	return m.data.past.seek(m, instant{revision: f.revision})
}
