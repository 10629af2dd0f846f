package tui

import (
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/words"
)

// data holds the data that the feed has delivered, and their age.
type data struct {
	cluster   *model.Cluster // the current cluster; nil until the first one
	previous  *model.Cluster // changes are marked against it, usually the cluster shown before; nil until the second
	first     *model.Cluster
	at        time.Time  // time at which cluster arrived
	env       *view.Env  // of cluster
	viewEnv   *view.Env  // see rowsEnv
	viewEnvOf *view.Env  // the env that viewEnv was made from
	judged    *judgement // the diagnosis
	times     Times
	ageTick   int  // serial number of the active age timer
	clock     bool // whether the timer of tickClock is running

	live      bool
	progress  string
	err       error
	waitStart time.Time      // start of the wait for the first cluster
	retrying  bool           // whether the source is retried after err
	since     time.Time      // last contact with the source of err; zero if unknown
	lost      []history.Lost // processes that stopped responding

	newest *model.Cluster // the newest cluster while a past one is shown
	past   past
}

// clockEvery is the interval at which ages in cells are updated while nothing else changes.
const clockEvery = 30 * time.Second

// handleUpdate handles an update of the feed.
func (m *Model) handleUpdate(u *history.Update) Cmd {
	d := &m.data
	d.progress = u.Progress
	if u.Err != nil || u.Progress == "" { // a new attempt alone is not a success yet
		d.err, d.since, d.lost, d.retrying = u.Err, u.Since, u.Lost, u.Err != nil && u.Live
	}
	if u.Cluster == nil {
		return m.tickAge()
	}
	d.live = u.Live
	m.takePast(u)
	if u.Historical {
		return Batch(m.show(u.Cluster), m.readPast(pastAfter))
	}
	if d.past.inPast {
		d.newest = u.Cluster
		return m.growPast(u.Cluster)
	}
	return Batch(m.show(u.Cluster), m.growPast(u.Cluster))
}

// sameMetadata reports whether two clusters have the same revision of the same etcd. They then differ at most
// in the status of etcd itself.
func sameMetadata(a, b *model.Cluster) bool {
	return a.Origin.Kind == "etcd" && b.Origin.Kind == "etcd" && a.Origin.Revision != 0 &&
		a.Origin.Revision == b.Origin.Revision
}

// show makes c the current cluster.
func (m *Model) show(c *model.Cluster) Cmd {
	d := &m.data
	if d.cluster != nil && sameMetadata(d.cluster, c) {
		d.env = newEnv(m, c)
		d.cluster = c // only the status of etcd is new, so this is not a refresh to compare with
		return Batch(m.Refresh(), judge(m), m.measure())
	}
	return m.replace(nil, c)
}

// replace makes c the current cluster and base the cluster to compare it with. If base is nil, c is
// compared with the cluster shown before, unless the user stepped back from that cluster to c.
func (m *Model) replace(base, c *model.Cluster) Cmd {
	d := &m.data
	if base == nil && (!d.past.inPast || d.cluster == nil || d.cluster.Origin.Revision < c.Origin.Revision) {
		base = d.cluster
	}
	d.env = newEnv(m, c)
	d.previous, d.cluster = base, c
	d.at = m.Config.Now()
	if d.first == nil {
		d.first = c
	}
	return Batch(m.Refresh(), judge(m), m.measure(), m.tickAge(), m.tickClock())
}

func newEnv(m *Model, c *model.Cluster) *view.Env { return view.NewEnv(c, m.Config.Now()) }

// missing returns the reason why no cluster is available, and the start of the wait.
func (m *Model) missing() string {
	d := &m.data
	since := " since " + d.waitStart.Format("15:04:05")
	switch {
	case d.err != nil && d.retrying:
		return "no data" + since + ", trying again: " + words.OneLine(d.err.Error())
	case d.err != nil:
		return "no data: " + words.OneLine(d.err.Error())
	case d.progress != "":
		return d.progress + since
	}
	return "connecting" + since
}

// Env returns the environment of the current cluster for tables of resources, nil before the first cluster.
func (m *Model) Env() *view.Env { return m.data.env }

// Times returns the data on where requests spend their time.
func (m *Model) Times() *Times { return &m.data.times }

// ageShown returns the start of the age in the header, and whether the header has an age that grows with time. A
// live source has none. It shows the time of the last change, so that an idle terminal receives no bytes.
func (d *data) ageShown() (since time.Time, ok bool) {
	switch {
	case d.cluster == nil:
		return time.Time{}, false
	case d.err != nil && !d.since.IsZero():
		return d.since, true
	case d.err == nil && d.past.inPast:
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
