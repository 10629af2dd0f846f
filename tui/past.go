package tui

import (
	"strings"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/inspect/news"
)

// past is what the source keeps of what was, and where in it the person is.
type past struct {
	of   news.Past     // nil: the source keeps nothing
	axis *history.Axis // what happened; nil until it was read
	err  error         // why it was not
	// reading says that it is being read, waiting that it will be in a moment.
	reading, waiting bool

	// away says that what is shown, or on its way, is not the newest state but that of to.
	away  bool
	to    instant
	shown int64 // the revision that is on the screen, 0: the newest
	// busy says that a cluster is on its way: one at a time.
	busy    bool
	playing bool
	plays   int // counts timers of playing
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
	// playEvery is how long a step is looked at while time goes on.
	playEvery = time.Second
	// undatedSteps is how many steps by time there are where nothing has a time.
	undatedSteps = 60
)

// withoutPast says why no step can be made, "" if one can.
func (m *Model) withoutPast() string {
	p := &m.data.past
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
func (m *Model) canStep(a Action) string {
	p := &m.data.past
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
	case ActLater, ActMinuteLater:
		if p.of != nil && !p.away {
			return "this is the newest state: , goes back"
		}
	default:
	}
	return m.withoutPast()
}

// step does what the keys of time ask for.
func (m *Model) step(a Action) Cmd {
	m.data.past.playing = false
	switch a {
	case ActEarlier:
		return m.stepEvent(-1)
	case ActLater:
		return m.stepEvent(1)
	case ActMinuteEarlier:
		return m.stepTime(-time.Minute)
	case ActMinuteLater:
		return m.stepTime(time.Minute)
	case ActAt:
		m.Prompt = newAtPrompt()
		return nil
	}
	return m.goLive()
}

// stepEvent goes to the state after the event before, or after the next one.
func (m *Model) stepEvent(by int) Cmd {
	p := &m.data.past
	x, revision := p.axis, p.to.revision
	if by > 0 {
		if next := x.UpTo(revision); next < x.Len() {
			return m.GoTo(x.Brief(next).Revision)
		}
		return m.goLive()
	}
	if !p.away {
		revision = x.History.To + 1
	}
	if before := x.UpTo(revision-1) - 1; before >= 0 {
		return m.GoTo(x.Brief(before).Revision)
	}
	return m.toOldest(revision)
}

// toOldest goes to the state that everything begins with, from a revision.
func (m *Model) toOldest(from int64) Cmd {
	oldest := m.data.past.axis.History.From
	if from <= oldest {
		m.Say(ToneInfo, "this is the oldest state that there is")
		return nil
	}
	return m.seek(instant{revision: oldest})
}

// stepTime goes so far back, or on.
func (m *Model) stepTime(by time.Duration) Cmd {
	p := &m.data.past
	x, revision := p.axis, p.to.revision
	if !p.away {
		revision = x.History.To
	}
	far := int64(by)
	if !x.Dated {
		far = max(1, (x.To-x.From)/undatedSteps)
		if by < 0 {
			far = -far
		}
	}
	place := x.Place(revision) + far
	switch {
	case place >= x.To && by > 0:
		return m.goLive()
	case place <= x.From:
		return m.toOldest(revision)
	}
	to := x.Revision(place)
	if by > 0 {
		to = max(to, revision+1)
	} else {
		to = min(to, revision-1)
	}
	return m.seek(instant{revision: to})
}

// GoTo shows the state after a revision, and marks what that one changed.
func (m *Model) GoTo(revision int64) Cmd {
	if why := m.withoutPast(); why != "" {
		m.Say(ToneWarn, why)
		return nil
	}
	h := m.data.past.axis.History
	revision = min(max(revision, h.From), h.To)
	return m.seek(instant{revision: revision, beside: max(revision-1, h.From)})
}

// goLive shows the newest state.
func (m *Model) goLive() Cmd {
	d := &m.data
	p := &d.past
	p.playing = false
	if !p.away {
		m.Say(ToneInfo, "this is the newest state")
		return nil
	}
	if why := m.withoutPast(); d.waiting == nil && why != "" {
		m.Say(ToneWarn, why)
		return nil
	}
	if d.waiting == nil { // it was opened at a moment
		return m.seek(instant{revision: p.axis.History.To, newest: true})
	}
	c := d.waiting
	d.waiting, d.held = nil, 0
	p.away, p.shown, p.to = false, 0, instant{}
	return m.show(c)
}

// seek goes to a moment. What is asked for while a cluster is on its way comes behind it.
func (m *Model) seek(to instant) Cmd {
	d := &m.data
	p := &d.past
	if !p.away {
		if d.waiting == nil {
			d.waiting = d.cluster
		}
		d.paused, d.held = false, 0
	}
	p.away, p.to = true, to
	if p.busy {
		return nil
	}
	p.busy = true
	return recall(m, p.of, to)
}

// recalledMsg brings a moment that was asked for.
type recalledMsg struct {
	of              news.Past
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
	var next Cmd
	switch {
	case !p.away: // back to the newest meanwhile
		return nil
	case p.to != r.to:
		next = m.seek(p.to)
	case r.err != nil:
		return m.notThere(r.err)
	}
	if r.err != nil {
		return next
	}
	p.shown = r.to.revision
	if r.to.newest && next == nil {
		p.away, p.shown, p.to = false, 0, instant{}
	}
	return Batch(m.replace(r.beside, r.cluster), next, m.playOn())
}

// notThere says why a moment is not shown; what was shown stays.
func (m *Model) notThere(why error) Cmd {
	p := &m.data.past
	m.Say(ToneBad, why.Error())
	p.playing, p.to = false, instant{revision: p.shown}
	if p.shown == 0 {
		return m.goLive()
	}
	return nil
}

// play has time go on by itself, event by event, or stops it.
func (m *Model) play() Cmd {
	p := &m.data.past
	if p.playing {
		p.playing = false
		return nil
	}
	if why := m.withoutPast(); why != "" {
		m.Say(ToneWarn, why)
		return nil
	}
	p.playing = true
	return m.stepEvent(1)
}

// playOn is the next step of a past that goes on by itself.
func (m *Model) playOn() Cmd {
	p := &m.data.past
	if !p.playing || !p.away {
		p.playing = false
		return nil
	}
	p.plays++
	return m.After(playEvery, playMsg{p.plays})
}

type playMsg struct{ serial int }

func (t playMsg) Apply(m *Model) Cmd {
	p := &m.data.past
	if t.serial != p.plays || !p.playing || !p.away {
		return nil
	}
	return m.stepEvent(1)
}

// newAtPrompt is the line behind "@".
func newAtPrompt() *Prompt {
	return &Prompt{
		Sign:      "@",
		Accepted:  (*Model).goAt,
		Cancelled: func(*Model) Cmd { return nil },
		Status:    func(*Model) string { return "09:14, -5m, -2d, rev:24519, 2026-11-24T09:14:05Z (UTC)" },
	}
}

// goAt shows the moment that a form of --at means.
func (m *Model) goAt(form string) Cmd {
	switch form = strings.TrimSpace(form); form {
	case "":
		return nil
	case "now", "live":
		return m.goLive()
	}
	if why := m.canStep(ActAt); why != "" {
		m.Say(ToneWarn, why)
		return nil
	}
	return findMoment(m, m.data.past.of, form)
}

// foundMsg brings the revision that was meant.
type foundMsg struct {
	of       news.Past
	revision int64
	err      error
}

func (f foundMsg) Apply(m *Model) Cmd {
	if f.of != m.data.past.of {
		return nil
	}
	if f.err != nil {
		m.Say(ToneBad, f.err.Error())
		return nil
	}
	return m.seek(instant{revision: f.revision})
}
