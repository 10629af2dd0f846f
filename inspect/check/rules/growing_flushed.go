package rules

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// growingFlushed reports segments that DataCoord has flushed while a shard leader still serves them as growing.
var growingFlushed = &check.Check{
	ID:       "growing-flushed",
	Title:    "Flushed segment is still served as growing",
	Severity: check.Error,
	Symptoms: []string{check.SearchesSlow, check.SearchesStale, check.MemoryFull},
	Starts:   "segment_flushed | node_joined channel_reassigned node_lost",
	Doc: `Searches scan rows by brute force although their segment was flushed and indexed. After a flush QueryCoord
adds the segment to a new target, has a node load the sealed copy with its index, and makes the shard leader release
the growing one. If that handoff gets stuck, brute force continues. If the sealed copy is loaded too, the rows are in
memory twice and ` + "`entity_num`" + ` counts them twice. Milvus does not report it: in etcd the segment is flushed,
and growing segments do not appear in the query segment API (Milvus issues 17767, 17566, 17914, 34554, 40382).

The check reads the growing segments in each shard leader's view (GetDataDistribution) and their state in etcd.
Reported: a segment that is growing in a view while in etcd it is flushed, dropped after a compaction, or missing, and
either its sealed copy was loaded in the same replica at least 2 minutes before the nodes were queried, or, without a
copy, it was flushed (or dropped) at least 6 minutes before.

Not reported: a handoff in progress. On 2.3.5 with small segments the sealed copy was loaded 3 s after the flush and
the growing one released after 13.5 s, or after 68 s at the latest during inserts. Large segments take as long as they
take to load, and while one target is being loaded the next waits for up to 5 minutes
(` + "`queryCoord.NextTargetSurviveTime`" + `). The time of the flush comes from the segment's position in the channel,
which is the channel's position at the flush; without one the age is unknown.`,
	Remedy: `Find out first what blocks the handoff: a target that does not advance (target-behind), a sealed segment
that is not loaded (segment-not-loaded), a node that is full or does not respond. Then make QueryCoord build a new
target: ` + "`Collection(NAME).load(_refresh=True)`" + `, or restart QueryCoord (up to 2.3 searches fail until it is
back). As a last resort release the collection and load it again; it cannot be searched in between.`,
	Parts:  model.PartObjects | model.PartIndexes | model.PartServing | model.PartSegments,
	Needs:  check.NeedDistribution,
	Phases: []latency.Name{latency.KernelGrowing},
	Run:    runGrowingFlushed,
	Roles:  []string{"querycoord", "querynode", "datacoord", "indexcoord", "indexnode"},
	FollowsFrom: check.CausedBy(check.Shares("collections"), "target-behind", "segment-not-loaded",
		"shard-not-serviceable"),
}

// leftover holds the growing segments of one collection that should have been released.
type leftover struct {
	counted  facts.SegmentSet
	segments []model.SegmentID
	nodes    []model.NodeID
	copies   []model.NodeID // nodes that also serve a segment as sealed, one per segment
	rows     int64
	oldest   time.Time
	gone     int // number of segments that are dropped or have no record
	unsure   int
	target   time.Time // the oldest target of the leaders' views
}

func runGrowingFlushed(p *check.Pass) {
	asked := p.AskedAt()
	found := make(map[model.CollectionID]*leftover)
	eachGone(p, func(view model.ShardView, g model.GrowingView) { judgeGrowing(p, found, view, g, asked) })
	for _, id := range slices.Sorted(maps.Keys(found)) {
		reportLeftover(p, id, found[id], asked)
	}
}

// eachGone calls f for each segment that is growing in a leader's view but is flushed, dropped after a
// compaction, or without a record in etcd.
func eachGone(p *check.Pass, f func(model.ShardView, model.GrowingView)) {
	p.EachAnomalies(func(_ model.CollectionID, o *facts.Anomalies) {
		for _, x := range o.Growing {
			f(x.View, x.Growing)
		}
	})
}

func judgeGrowing(
	p *check.Pass, found map[model.CollectionID]*leftover, view model.ShardView, g model.GrowingView, asked time.Time,
) {
	s := p.Segment(g.ID)
	since, late, known := goneSince(p, s, g, asked)
	copied, loadedAt := sealedCopy(p, view, g.ID)
	if copied != 0 && !loadedAt.IsZero() {
		late, known = asked.Sub(loadedAt) > facts.HandoffGrace, true
		since = earliest(since, loadedAt)
	}
	if !late && known {
		return
	}
	l := found[view.Collection]
	if l == nil {
		l = &leftover{}
		found[view.Collection] = l
	}
	if !known {
		l.unsure++
		return
	}
	l.nodes = append(l.nodes, view.Node.Node)
	l.oldest = earliest(l.oldest, since)
	l.target = earliest(l.target, facts.VersionTime(view.TargetVersion))
	if copied != 0 {
		l.copies = append(l.copies, copied)
	}
	if !l.counted.Add(g.ID) {
		return
	}
	l.segments = append(l.segments, g.ID)
	if s == nil || s.State == model.SegmentDropped {
		l.gone++
	}
	if s != nil {
		l.rows += s.Rows
	}
}

// goneSince returns the time at which a segment stopped growing, and whether that is too long ago. known is
// false if the segment was flushed or dropped at an unknown time.
func goneSince(
	p *check.Pass, s *model.Segment, g model.GrowingView, asked time.Time,
) (since time.Time, late, known bool) {
	switch {
	case s == nil:
		// The metadata may be older than the segment. If it is newer and the segment has no record, the segment
		// was flushed, compacted and removed.
		since = g.At.Time()
		return since, !since.IsZero() && p.Now.Sub(since) > facts.LoadGrace && asked.Sub(since) > facts.LoadGrace, true
	case s.State == model.SegmentDropped:
		since = s.DroppedAt.Time()
	case s.State == model.SegmentFlushed:
		since = s.PositionAt.Time()
	default:
		return time.Time{}, false, true
	}
	return since, !since.IsZero() && asked.Sub(since) > facts.SlowHandoff, !since.IsZero()
}

// sealedCopy returns a node of the same replica that serves the growing segment as sealed too, and the time of
// the load. It returns 0 if there is no such node.
func sealedCopy(p *check.Pass, view model.ShardView, id model.SegmentID) (node model.NodeID, since time.Time) {
	for _, served := range p.Runtime.Served(id) {
		if served.Sealed != nil && sameReplica(p, view.Collection, view.Node.Node, served.Node.Node) {
			return served.Node.Node, facts.VersionTime(served.Sealed.Version)
		}
	}
	return 0, time.Time{}
}

// sameReplica reports whether two nodes serve a collection for the same replica. It is true as well if the
// metadata names neither node.
func sameReplica(p *check.Pass, id model.CollectionID, a, b model.NodeID) bool {
	return a == b || facts.ReplicaWith(p.Cluster, id, a) == facts.ReplicaWith(p.Cluster, id, b)
}

// earliest returns the earlier of two times. A zero time is unknown and ignored.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func reportLeftover(p *check.Pass, id model.CollectionID, l *leftover, asked time.Time) {
	name := facts.CollectionLabel(p.Cluster, id)
	if l.unsure > 0 {
		p.NoteUnseen(fmt.Sprintf("collection %s: when %s served as growing %s flushed", name,
			words.Plural(l.unsure, "segment"), words.Agree(l.unsure, "was", "were")))
	}
	if len(l.segments) == 0 {
		return
	}
	const heavy = 0.5
	w := p.WorkOf(id)
	cost := w.ShareOfGrowing(l.rows)
	f := check.Finding{
		Severity: check.Warning, Object: facts.RefCollection(p.Cluster, id), Cost: p.ClusterCost(id, cost),
	}
	if cost >= heavy && !w.Flat {
		f.Severity = check.Error
	}
	nodes := facts.QueryNodeNames(l.nodes)
	f.Message = fmt.Sprintf("collection %s: %s flushed %s ago %s still served as growing by %s: %s, %s of its rows, "+
		"searched by brute force",
		name, words.Plural(len(l.segments), "segment"), words.Span(asked.Sub(l.oldest)),
		words.Agree(len(l.segments), "is", "are"), words.Summarize(nodes), words.Plural(l.rows, "row"),
		words.Share(w.ShareOfRows(l.rows)))
	f.Evidence = []check.Evidence{
		check.Factf("growing in a leader's view", words.Summarize(nodes), "%s",
			check.Plural(len(l.segments), "segment")),
		check.Fact("flushed or dropped since", facts.TimeText(l.oldest), "etcd"),
	}
	if l.gone > 0 {
		f.Evidence = append(f.Evidence, check.Count("of these, dropped or without a record", l.gone, "etcd"))
	}
	f.Impact = "Each search scans " + words.Plural(l.rows, "row") + " by brute force instead of using the index"
	if cost > 0 {
		f.Impact += ", about " + words.Share(cost) + " of the collection's search work"
	}
	if len(l.copies) > 0 {
		f.Evidence = append(f.Evidence,
			check.Factf("also in memory as sealed", words.Summarize(facts.QueryNodeNames(l.copies)), "%s",
				check.Plural(len(l.copies), "segment")))
		f.Impact += fmt.Sprintf("; %s of the segments %s in memory twice", words.Number(len(l.copies)),
			words.Agree(len(l.copies), "is", "are"))
	}
	f.Impact += "."
	if !l.target.IsZero() {
		f.Evidence = append(f.Evidence,
			check.Factf("target of the shard leader", words.Summarize(nodes), "built %s ago",
				check.Span(asked.Sub(l.target))))
	}
	f.Fix = refreshSteps(p, id)
	f.Objects = append(f.Objects, facts.RefNodes(nodes)...)
	f.Objects = append(f.Objects, facts.SomeSegments(l.segments)...)
	p.Report(f)
}

// refreshSteps returns the steps that make QueryCoord build a new target of a collection.
func refreshSteps(p *check.Pass, id model.CollectionID) []check.Step {
	c, x := p.Cluster, p.Collection(id)
	if x == nil {
		return check.Fix(check.Do("restart QueryCoord: it compares nodes with metadata when it starts").
			Restarting(c, 2*time.Minute, "querycoord"))
	}
	if facts.IsLegacy(c) {
		return check.Fix(check.Do("restart QueryCoord").Restarting(c, 2*time.Minute, "querycoord"), reloadStep(p, id))
	}
	return check.Fix(
		check.Pymilvus(c, x.Database, "Collection(%s).load(_refresh=True)", x.Name).
			Does("makes QueryCoord build a new target").
			Interrupting(2*time.Minute, "nothing"),
		check.Do("if that does not help, restart QueryCoord").Restarting(c, 2*time.Minute, "querycoord"),
		reloadStep(p, id),
	)
}

// flushSteps returns the steps that flush a collection.
func flushSteps(c *model.Cluster, id model.CollectionID) []check.Step {
	x := c.Collection(id)
	if x == nil {
		return check.Fix(check.Do("flush the collection").Interrupting(5*time.Minute, "nothing"))
	}
	return check.Fix(check.Flush(c, x, 5*time.Minute, "seals its growing segments; their index is built and loaded"))
}
