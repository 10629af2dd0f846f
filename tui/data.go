package tui

import (
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/words"
)

// data is what the feed has delivered and how old it is.
type data struct {
	cluster  *model.Cluster // what is shown; nil until the first
	previous *model.Cluster // an older state, of which changes are marked: what was shown before; nil until the second
	first    *model.Cluster
	at       time.Time  // when cluster came
	env      *view.Env  // of cluster
	seen     *view.Env  // see rowsEnv
	seenOf   *view.Env  // the env that seen was made of
	judged   *judgement // the diagnosis
	times    Times
	ageTick  int  // the timer that counts
	clock    bool // whether the timer of tickClock runs

	live     bool
	progress string
	err      error
	waits    time.Time      // since when the first cluster is waited for
	retries  bool           // whether the source is tried again after err
	since    time.Time      // when the source that err is about was last heard of; zero: unknown
	lost     []history.Lost // processes that were heard of and are not now

	waiting *model.Cluster // the newest while the past is shown
	past    past
}

// clockEvery is how often ages in cells are worked out anew while nothing else changes.
const clockEvery = 30 * time.Second

// take takes what the feed says.
func (m *Model) take(u *history.Update) Cmd {
	d := &m.data
	d.progress = u.Progress
	if u.Err != nil || u.Progress == "" { // a new attempt alone is no success yet
		d.err, d.since, d.lost, d.retries = u.Err, u.Since, u.Lost, u.Err != nil && u.Live
	}
	if u.Cluster == nil {
		return m.tickAge()
	}
	d.live = u.Live
	m.takePast(u)
	if u.Then {
		return Batch(m.show(u.Cluster), m.readPast(pastAfter))
	}
	if d.past.away {
		d.waiting = u.Cluster
		return m.growPast(u.Cluster)
	}
	return Batch(m.show(u.Cluster), m.growPast(u.Cluster))
}

// sameMetadata reports whether two clusters are of one revision of one etcd, so that
// they differ at most in what etcd says about itself.
func sameMetadata(a, b *model.Cluster) bool {
	return a.Origin.Kind == "etcd" && b.Origin.Kind == "etcd" && a.Origin.Revision != 0 && a.Origin.Revision == b.Origin.Revision
}

// show makes a cluster the current one.
func (m *Model) show(c *model.Cluster) Cmd {
	d := &m.data
	if d.cluster != nil && sameMetadata(d.cluster, c) {
		d.env = newEnv(m, c)
		d.cluster = c // only what etcd says about itself is new: no refresh to compare with
		return Batch(m.Refresh(), judge(m), m.measure())
	}
	return m.replace(nil, c)
}

// replace makes a cluster the current one, beside an older one, nil: the one that was shown until now, unless the person went back from it.
func (m *Model) replace(beside, c *model.Cluster) Cmd {
	d := &m.data
	if beside == nil && (!d.past.away || d.cluster == nil || d.cluster.Origin.Revision < c.Origin.Revision) {
		beside = d.cluster
	}
	d.env = newEnv(m, c)
	d.previous, d.cluster = beside, c
	d.at = m.Config.Now()
	if d.first == nil {
		d.first = c
	}
	return Batch(m.Refresh(), judge(m), m.measure(), m.tickAge(), m.tickClock())
}

func newEnv(m *Model, c *model.Cluster) *view.Env { return view.NewEnv(c, m.Config.Now()) }

// missing says why there is no cluster yet, and since when it is waited for.
func (m *Model) missing() string {
	d := &m.data
	since := " since " + d.waits.Format("15:04:05")
	switch {
	case d.err != nil && d.retries:
		return "no data" + since + ", trying again: " + words.OneLine(d.err.Error())
	case d.err != nil:
		return "no data: " + words.OneLine(d.err.Error())
	case d.progress != "":
		return d.progress + since
	}
	return "connecting" + since
}

// Env is the cluster that is shown, for tables of resources; nil before the first.
func (m *Model) Env() *view.Env { return m.data.env }

// Times is where requests spend their time.
func (m *Model) Times() *Times { return &m.data.times }

// ageShown reports whether the header has an age that grows by itself, and since when.
// A live source has none: it shows the time of the last change, so that an idle
// terminal receives no bytes.
func (d *data) ageShown() (since time.Time, ok bool) {
	switch {
	case d.cluster == nil:
		return time.Time{}, false
	case d.err != nil && !d.since.IsZero():
		return d.since, true
	case d.err == nil && d.past.away:
		return d.cluster.Origin.Taken, d.live && !d.cluster.Origin.Taken.IsZero()
	case d.err != nil:
		return d.at, true
	case len(d.lost) > 0:
		return d.lost[0].Since, true
	case !d.live:
		return d.cluster.Origin.Taken, !d.cluster.Origin.Taken.IsZero()
	}
	return time.Time{}, false
}
