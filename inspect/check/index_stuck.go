package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// partsOfBuilds is what the checks of index builds read.
const partsOfBuilds = model.PartObjects | model.PartIndexes | model.PartSegments | model.PartSegmentIndexes | model.PartServing

// Thresholds of index-stuck. Every build of the captured clusters was finished within a minute; a segment of 1 GB takes minutes
// on an idle index node.
const (
	// stuckAfter is how long a build may wait or run where someone could work on it.
	stuckAfter = 30 * time.Minute
	// idleAfter is how long if nobody can: no index node is registered, or the one that has it is gone.
	idleAfter = 2 * time.Minute
	// progressWithin is how recent the last finished build has to be for the queue to count as moving.
	progressWithin = 10 * time.Minute
)

// IndexStuck finds builds that wait or run for too long.
var IndexStuck = &Check{
	ID:       "index-stuck",
	Title:    "Building an index does not get on",
	Severity: Warning,
	Since:    "0.3",
	Parts:    partsOfBuilds | model.PartSessions,
	Doc: `Looks at index builds in state Unissued, InProgress or Retry, by the time since which segment and index definition are both there.

A finding after 30 minutes; after 2 minutes if no index node (from Milvus 2.6 on: data node) is registered, or if the node that has
the build is gone. Only information, if another build of the same index finished within the last 10 minutes (Milvus 2.5 and later
record that): then there is a queue that moves. FLAT and segments of fewer than 1,024 rows are never looked at.

Meanwhile the segments are searched by brute force, or not loaded. Milvus issues 26860, 32283, 35032 and 36389 are such cases: no idle
index node, a node that restarts again and again, a queue that nobody serves.`,
	Remedy: `Start index nodes, or look why the one that has the build does not finish: memory, restarts, object storage. DataCoord gives a
build to another node once the session of the first is gone. ` + "`indexNode.scheduler.buildParallel`" + ` says how many one node builds at once.`,
	Run:         runIndexStuck,
	FollowsFrom: []Cause{{Check: "etcd-alarm"}},
}

func runIndexStuck(p *Pass) error {
	workers := builders(p.Cluster)
	known := make(map[model.NodeID]bool, len(workers))
	for _, s := range workers {
		known[s.Node] = true
	}
	slow, soon, found := p.before(stuckAfter), p.before(idleAfter), tallies{}
	p.eachUnbuilt(func(b build) {
		if b.record == nil || b.record.State == model.IndexFailed {
			return
		}
		abandoned := len(workers) == 0 || b.record.Node != 0 && b.record.State == model.IndexInProgress && !known[b.record.Node]
		if p.waited(b, slow, stuckAfter) || alive(p.Cluster) && abandoned && p.waited(b, soon, idleAfter) {
			found.add(b)
		}
	})
	work := p.searchWork()
	for _, t := range found.list() {
		p.reportStuck(t, workers, work)
	}
	return nil
}

func (p *Pass) reportStuck(t *tally, workers []*model.Session, work searchWork) {
	finished := p.lastFinished(t)
	f := Finding{
		Severity: Warning, Object: refIndex(t.index), Objects: t.objects(), Impact: p.indexImpact(t),
		Message: fmt.Sprintf("%s waits on %s, %s rows, for up to %s", p.what(t), plural(len(t.segments), "segment"), number(t.rows), span(p.age(t.oldest))),
		Evidence: []Evidence{
			{"states", statesText(t), "etcd"},
			{"waiting since", timeText(t.oldest), "etcd"},
			{"nodes that have builds", nodesText(t), "etcd"},
			{"registered nodes that build", sessionNames(workers), "etcd"},
		},
		Hint: "look at the log and the memory of the index nodes: " + sessionNames(workers),
	}
	if why := most(t.reasons); why != "" {
		f.Evidence = append(f.Evidence, Evidence{"last reason", why, "etcd"})
	}
	if !finished.IsZero() {
		f.Evidence = append(f.Evidence, Evidence{"last finished build", timeText(finished), "etcd"})
	}
	switch {
	case len(workers) == 0 && alive(p.Cluster):
		f.Message += ": no index node is registered"
		f.Hint = "start an index node (Milvus 2.6 and later: a data node)"
	case !finished.IsZero() && p.age(finished) < progressWithin:
		f.Severity = Info
	}
	if onVector(t.collection, t.index) {
		f.Cost = work.share(t.collection, t.rows)
	} else {
		f.Severity = Info
	}
	p.Report(f)
}

// lastFinished is when a build of the same index finished last, zero if the version does not record it.
func (p *Pass) lastFinished(t *tally) time.Time {
	var last time.Time
	for _, s := range p.SegmentsOf(t.collection.ID) {
		if r := recordOf(s, t.index.ID); r != nil && r.State == model.IndexFinished && r.FinishedAt.After(last) {
			last = r.FinishedAt
		}
	}
	return last
}

func statesText(t *tally) string {
	var parts []string
	for state, n := range t.states {
		if n > 0 {
			parts = append(parts, model.IndexState(state).String()+" "+strconv.Itoa(n))
		}
	}
	return strings.Join(parts, ", ")
}

func nodesText(t *tally) string {
	ids := make([]model.NodeID, 0, len(t.nodes))
	for id := range t.nodes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	return few(names)
}

func sessionNames(list []*model.Session) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name()
	}
	return few(names)
}

// timeText is a moment as evidence, "unknown" for none.
func timeText(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}
