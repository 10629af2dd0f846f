package rules

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of index-stuck. Every build of the captured clusters was finished within a minute. A segment of 1
// GB takes minutes on an idle index node.
const (
	// stuckAfter is the maximum time that a build may wait or run if a node is available for it.
	stuckAfter = 30 * time.Minute
	// idleAfter is the maximum time if no index node is registered, or the assigned node is gone.
	idleAfter = 2 * time.Minute
	// manyTries is the minimum number of assignments to a node for a build to count as failing, if they took
	// longer than triedAfter. DataCoord increments the number at each assignment (internal/datacoord,
	// index_builder.go, UpdateVersion), but not if no node has a free slot.
	manyTries, triedAfter = 5, 30 * time.Second
	// progressWithin is the maximum age of the last finished build for the queue to count as moving.
	progressWithin = 10 * time.Minute
	// unseenProgress is the time for which a queue counts as moving while nodes build, if finished builds are
	// not recorded. queueLong is the wait after which even a moving queue has left a build behind. Segments
	// from an import or a sort look as old as their source.
	unseenProgress, queueLong = 3 * time.Hour, 24 * time.Hour
)

// indexStuck reports builds that wait or run for too long.
var indexStuck = &check.Check{
	ID:       "index-stuck",
	Title:    "An index build makes no progress",
	Severity: check.Warning,
	Symptoms: []string{check.LoadsHang, check.IndexingHangs},
	Starts: "30m index_created node_lost:indexnode node_left:indexnode node_lost:datanode | segment_flushed " +
		"node_stopping index_failed",
	Parts: facts.PartsOfBuilds | model.PartSessions,
	Doc: `A build waits forever: no index node is idle, one keeps restarting, or a queue has no workers (Milvus issues
26860, 32283, 35032 and 36389). Meanwhile the segments are searched by brute force, or not loaded. The check looks at
index builds in state Unissued, InProgress or Retry, and at how long segment and index definition have both existed.

Reported after 30 minutes; after 2 minutes if no index node (since Milvus 2.6: data node) is registered or the
assigned node is gone; after 30 seconds if DataCoord has assigned the build five times and no node finished it. Causes
are read-only or full storage (2.3.5: a try every 3 seconds, no reason in etcd), missing insert logs, and a node that
runs out of memory. Segments of an import under way get 12 hours: their times are those of its start. Not judged:
FLAT, and segments of fewer than 1,024 rows.

Info only, for a day, if a build of any index finished within the last 10 minutes (recorded by Milvus 2.5 and later):
the queue moves. Before 2.5 this is not recorded: info for 3 hours while registered nodes build. Always a warning: a
retry with a recorded reason, and a build on a node that is gone.`,
	Remedy: `Start index nodes (Milvus 2.6 and later: data nodes), or find out why the assigned one does not finish:
memory, restarts, object storage. DataCoord reassigns a build once the session of its node is gone. To build more at
once on a node, raise ` + "`indexNode.scheduler.buildParallel`" + `.`,
	Phases: []latency.Name{latency.KernelSealed},
	Run:    runIndexStuck,
	Roles:  []string{"indexnode", "indexcoord", "datacoord"},
	FollowsFrom: []check.Cause{
		{Check: "files-missing", Applies: check.Shares("segments")},
		check.StorageReadOnly(),
		check.StorageFails("indexnode", "datanode"),
		{Check: "etcd-alarm"},
		{Check: "etcd-no-leader"},
	},
}

func runIndexStuck(p *check.Pass) {
	workers := facts.Builders(p.Cluster)
	slow, soon, long, found := p.Before(stuckAfter), p.Before(idleAfter), p.Before(facts.MaxImportTime), tallies{}
	tried := p.Before(triedAfter)
	p.EachBegun(func(b facts.Build) {
		if b.Record.State == model.IndexFailed {
			return
		}
		gone := facts.Alive(p.Cluster) && (len(workers) == 0 || nodeGone(p, b.Record))
		again := b.Record.Version >= manyTries && oldEnough(p, b, tried, triedAfter)
		if again ||
			oldEnough(p, b, slow, stuckAfter) && (!b.Segment.Importing || facts.UnchangedSince(b.Segment, long)) ||
			gone && oldEnough(p, b, soon, idleAfter) {
			found.add(b)
		}
	})
	list := found.list()
	if len(list) == 0 {
		return
	}
	work, pace := p.SearchWork(), findBuildProgress(p)
	for _, t := range list {
		reportStuck(p, t, workers, pace, work)
	}
}

// nodeGone reports whether a build is assigned to a node that is not registered. A stopping node counts as
// registered, because it finishes its builds.
func nodeGone(p *check.Pass, r *model.SegmentIndex) bool {
	return r.State == model.IndexInProgress && builderGone(p, r.Node)
}

func builderGone(p *check.Pass, id model.NodeID) bool { return id != 0 && len(p.SessionsOf(id)) == 0 }

// buildProgress is the progress of all index builds.
type buildProgress struct {
	// last is the time of the last finished build. It is zero if the version does not record it.
	last time.Time
	// working reports whether a registered node is building an index.
	working bool
}

func findBuildProgress(p *check.Pass) (x buildProgress) {
	for _, id := range p.SegmentOwners() {
		d := p.DigestOf(id)
		if d.LastBuilt.After(x.last) {
			x.last = d.LastBuilt
		}
		x.working = x.working ||
			slices.ContainsFunc(d.Building, func(n model.NodeID) bool { return !builderGone(p, n) })
	}
	return x
}

// moves reports whether the queue seems to move although a build has waited for the given time.
func (x buildProgress) moves(p *check.Pass, waits time.Duration) bool {
	if x.last.IsZero() {
		return x.working && waits < unseenProgress
	}
	return p.Age(x.last) < progressWithin && waits < queueLong
}

func reportStuck(p *check.Pass, t *tally, workers []*model.Session, progress buildProgress, work facts.SearchWork) {
	why, waits := facts.MostCommon(t.reasons), p.Age(t.Oldest)
	f := check.Finding{
		Severity: check.Warning, Object: facts.RefIndex(t.Index), Objects: lackingRefs(&t.UnindexedSegments),
		Impact: indexImpact(p, &t.UnindexedSegments),
		Message: fmt.Sprintf("%s: build unfinished on %s, %s rows, for up to %s", indexText(p, &t.UnindexedSegments),
			words.Plural(t.Segments, "segment"), words.Number(t.Rows), words.Span(waits)),
		Evidence: []check.Evidence{
			check.Fact("states", statesText(t), "etcd"),
			check.Fact("waiting since", facts.TimeText(t.Oldest), "etcd"),
			check.Fact("nodes with builds", nodesText(p, t), "etcd"),
			check.Fact("registered nodes that build", facts.SessionNames(workers), "etcd"),
		},
		Fix: check.Fix(
			check.FindFiles(p.Facts),
			check.Shell(check.Kitescope("get nodes --columns "+
				"name,answer,cpu_percent,memory_bytes,memory_limit_bytes,started_at")).
				Does("shows whether the nodes that build are short of CPU or memory, or keep restarting"),
			check.Do("read the logs of %s; if they are only busy, start more", facts.NamesOf(workers)),
		),
	}
	if t.tries > 1 {
		f.Evidence = append(f.Evidence, check.Factf("assigned to a node", "etcd", "%s times", check.N(t.tries)))
	}
	if why != "" {
		f.Evidence = append(f.Evidence, check.Fact("last reason", why, "etcd"))
		f.Fix = slices.Concat(check.Fix(check.Do("fix the cause in the last reason (see evidence); DataCoord then "+
			"retries on its own")), f.Fix)
	}
	if !progress.last.IsZero() {
		f.Evidence = append(f.Evidence,
			check.Fact("last finished build of any index", facts.TimeText(progress.last), "etcd"))
	}
	gone := goneOf(p, t)
	switch {
	case len(workers) == 0 && facts.Alive(p.Cluster):
		role, start := "index node", check.Do("start an index node: none is registered").
			Interrupting(5*time.Minute, "nothing")
		if facts.DataNodesBuild(p.Cluster) {
			role = "data node"
			start = check.Do("start a data node: none is registered, and since Milvus 2.6 they build indexes").
				Interrupting(5*time.Minute, "nothing")
		}
		f.Message += ": no " + role + " is registered to build it"
		f.Fix = check.Fix(start)
	case gone != "":
		f.Message += ": " + gone + " is gone"
		f.Fix = check.Fix(check.Do("restart DataCoord if it does not reassign the build within minutes; see its log "+
			"for why").
			Restarting(p.Cluster, 5*time.Minute, "datacoord"))
	case t.tries >= manyTries:
		f.Message += fmt.Sprintf("; tried %s times", words.Number(t.tries))
		f.Fix = check.Fix(
			check.FindFiles(p.Facts),
			check.Do("find out in the logs of %s why it fails: storage that is read-only or full, missing files, or "+
				"too little memory", facts.NamesOf(workers)),
		)
	case (why == "" || t.states[model.IndexRetry] == 0) && progress.moves(p, waits):
		f.Severity = check.Info
	}
	if facts.OnVector(t.Collection, t.Index) {
		f.Cost = work.Share(t.Collection, t.Rows)
	} else {
		f.Severity = check.Info
	}
	p.Report(f)
}

// goneOf returns the name of a node with one of the builds that is not registered, or "" if there is none.
func goneOf(p *check.Pass, t *tally) string {
	for _, id := range slices.Sorted(maps.Keys(t.nodes)) {
		if facts.Alive(p.Cluster) && t.states[model.IndexInProgress] > 0 && len(p.SessionsOf(id)) == 0 {
			return builderName(p, id)
		}
	}
	return ""
}

// builderName returns the name of a build's node from its session. If the node has no session, the name uses
// the role that builds indexes.
func builderName(p *check.Pass, id model.NodeID) string {
	s := p.SessionIn(id, "indexnode", "datanode")
	switch {
	case s != nil:
		return s.Name()
	case facts.DataNodesBuild(p.Cluster):
		return id.Name("datanode")
	}
	return id.Name("indexnode")
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

func nodesText(p *check.Pass, t *tally) string {
	var names []string
	for _, id := range slices.Sorted(maps.Keys(t.nodes)) {
		names = append(names, builderName(p, id))
	}
	return words.Summarize(names)
}
