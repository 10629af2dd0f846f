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

// past is what the source keeps of what was, and where in it the person is.
type past struct {
	of   history.Past  // nil: the source keeps nothing
	axis *history.Axis // what happened; nil until it was read
	err  error         // why it was not
	// reading says that it is being read, waiting that it will be in a moment.
	reading, waiting bool

	// away says that what is shown, or on its way, is not the newest state but that of to.
	away  bool
	to    instant
	shown int64 // the revision that is on the screen, 0: the newest
	// busy says that a cluster is on its way: one at a time.
	busy bool
	stop context.CancelFunc // ends the reading of the cluster that is on its way
	// newestAsked says that readNewest was called.
	newestAsked bool
	onsets      onsets
}

// instant is a state to show: that of a revision, beside that of another one, so that what changed between the two is marked; 0: what
// was shown before. newest says that it is the last one that there is.
type instant struct {
	revision, beside int64
	newest           bool
}

const (
	// pastAfter is how long the reading of what happened waits: what is shown first comes first.
	pastAfter = 300 * time.Millisecond
	// growEvery is the shortest time between two looks at what happened since then.
	growEvery = 10 * time.Second
	// progressEvery is how often it is drawn how far a moment is read.
	progressEvery = 250 * time.Millisecond
)

// withoutPast says why no step can be made, "" if one can.
func (p *past) withoutPast(m *Model) string {
	switch {
	case m.Config.First != nil:
		return m.withoutCluster()
	case m.data.cluster == nil:
		return "no data yet"
	case p.of == nil:
		return "there is no past here: a live etcd keeps one, and so does a file of etcd's"
	case p.axis == nil && p.err != nil:
		return p.err.Error()
	case p.axis == nil:
		return "what happened is still being read"
	}
	return ""
}

// canStep is withoutPast for an action.
func (p *past) canStep(m *Model, a Action) string {
	switch a {
	case ActAt:
		if p.of != nil && m.Config.First == nil {
			return "" // what is named is found without reading everything
		}
	case ActLive:
		if p.of != nil && !p.away {
			return "this is the newest state"
		}
		if m.data.waiting != nil {
			return ""
		}
	case ActLater:
		if p.of != nil && !p.away {
			return "this is the newest state (press " + KeyOf(m, ActEarlier) + " to step back)"
		}
	default:
	}
	return p.withoutPast(m)
}

// step does what the keys of time ask for.
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

// stepEvent goes to the state after the event before, or after the next one.
func (p *past) stepEvent(m *Model, by int) Cmd {
	x, revision := p.axis, p.to.revision
	if by > 0 {
		if next := x.UpTo(revision); next < x.Len() {
			return m.GoTo(x.Event(next).Revision)
		}
		return p.goLive(m)
	}
	if !p.away {
		revision = x.History.To + 1
	}
	if before := x.UpTo(revision-1) - 1; before >= 0 {
		return m.GoTo(x.Event(before).Revision)
	}
	return p.toOldest(m, revision)
}

// toOldest goes to the state that everything begins with, from a revision.
func (p *past) toOldest(m *Model, from int64) Cmd {
	oldest := p.axis.History.From
	if from <= oldest {
		m.Say(ToneInfo, "this is the oldest state that there is")
		return nil
	}
	return p.seek(m, instant{revision: oldest})
}

// GoTo shows the state after a revision, and marks what that one changed.
func (m *Model) GoTo(revision int64) Cmd {
	if why := m.data.past.withoutPast(m); why != "" {
		m.Say(ToneWarn, why)
		return nil
	}
	h := m.data.past.axis.History
	revision = min(max(revision, h.From), h.To)
	return m.data.past.seek(m, instant{revision: revision, beside: max(revision-1, h.From)})
}

// goLive shows the newest state.
func (p *past) goLive(m *Model) Cmd {
	d := &m.data
	if !p.away {
		m.Say(ToneInfo, "this is the newest state")
		return nil
	}
	if p.busy {
		p.stop()
	}
	if why := p.withoutPast(m); d.waiting == nil && why != "" {
		m.Say(ToneWarn, why)
		return nil
	}
	if d.waiting == nil { // it was opened at a moment
		return p.seek(m, instant{revision: p.axis.History.To, newest: true})
	}
	c := d.waiting
	d.waiting = nil
	p.away, p.shown, p.to = false, 0, instant{}
	return m.show(c)
}

// seek goes to a moment. What is asked for while another one is read ends that.
func (p *past) seek(m *Model, to instant) Cmd {
	d := &m.data
	if !p.away {
		if d.waiting == nil {
			d.waiting = d.cluster
		}
	}
	p.away, p.to = true, to
	if p.busy {
		p.stop() // what is asked for now comes in its place
		return nil
	}
	p.busy = true
	var ctx context.Context
	ctx, p.stop = m.Context()
	return Batch(recall(ctx, p.of, to), m.After(progressEvery, progressMsg{}))
}

// progressMsg draws how far a moment is read.
type progressMsg struct{}

func (progressMsg) Apply(m *Model) Cmd {
	if !m.data.past.busy {
		return nil
	}
	return m.After(progressEvery, progressMsg{})
}

// readNewest reads the newest state of a source that was opened at a moment.
func (p *past) readNewest(m *Model) Cmd {
	if p.axis == nil || p.newestAsked {
		return nil
	}
	p.newestAsked = true
	of, revision := p.of, p.axis.History.To
	return func() tea.Msg {
		ctx, stop := m.Context()
		defer stop()
		list, err := of.At(ctx, revision)
		return newestMsg{of, list, err}
	}
}

// newestMsg brings the newest state while an older one is shown.
type newestMsg struct {
	of   history.Past
	list []*model.Cluster
	err  error
}

func (n newestMsg) Apply(m *Model) Cmd {
	d := &m.data
	switch {
	case d.past.of != n.of:
	case n.err != nil:
		m.Say(ToneBad, n.err.Error())
	case d.past.away && d.waiting == nil:
		d.waiting = n.list[0]
	}
	return m.Refresh()
}

// recalledMsg brings a moment that was asked for.
type recalledMsg struct {
	of              history.Past
	to              instant
	cluster, beside *model.Cluster
	err             error
}

func (r recalledMsg) Apply(m *Model) Cmd {
	d := &m.data
	p := &d.past
	if p.of != r.of {
		return nil
	}
	p.busy = false
	p.stop()
	var next Cmd
	switch {
	case !p.away: // back to the newest meanwhile
		return nil
	case p.to != r.to:
		next = p.seek(m, p.to)
	case r.err != nil:
		return p.notThere(m, r.err)
	}
	if r.err != nil {
		return next
	}
	p.shown = r.to.revision
	if r.to.newest && next == nil {
		p.away, p.shown, p.to = false, 0, instant{}
	}
	return Batch(m.replace(r.beside, r.cluster), next)
}

// notThere says why a moment is not shown; what was shown stays.
func (p *past) notThere(m *Model, why error) Cmd {
	m.Say(ToneBad, why.Error())
	p.to = instant{revision: p.shown}
	if p.shown == 0 {
		return p.goLive(m)
	}
	return nil
}

// newAtPrompt returns the line behind "@", with a text.
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

// goAt shows the moment that a form of --at means.
func (p *past) goAt(m *Model, form string) Cmd {
	switch form = strings.TrimSpace(form); form {
	case "":
		return nil
	case "now", "live":
		return p.goLive(m)
	}
	if why := p.canStep(m, ActAt); why != "" {
		m.Say(ToneWarn, why)
		return nil
	}
	return findMoment(m, p.of, form)
}

// foundMsg brings the revision that was meant.
type foundMsg struct {
	of       history.Past
	form     string
	revision int64
	err      error
}

func (f foundMsg) Apply(m *Model) Cmd {
	if f.of != m.data.past.of {
		return nil
	}
	if f.err != nil {
		m.Say(ToneBad, f.err.Error())
		if m.Prompt == nil {
			m.Prompt = newAtPrompt(f.form)
		}
		return nil
	}
	return m.data.past.seek(m, instant{revision: f.revision})
}
