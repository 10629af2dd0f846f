package rules

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// segmentTwice finds sealed segments that two nodes of one replica have in memory.
var segmentTwice = &check.Check{
	ID:       "segment-loaded-twice",
	Title:    "Segment is loaded on two nodes of one replica",
	Severity: check.Warning,
	Symptoms: []string{check.MemoryFull},
	Starts:   "node_joined:querynode | replica_changed config_changed:autoBalance",
	Doc: `A segment uses memory twice because a move never ended. Within a replica each sealed segment belongs on one
node. During a move both nodes have it (and the query segment API lists both): the new node loads it, the leader
switches to it, the old node releases it. Reported: a segment that two nodes of one replica still have 2 minutes after
the newer copy was loaded, longer than a segment task may take (` + "`queryCoord.segmentTaskTimeout`" + `). The time is
the version of the newer copy, set when QueryCoord had it loaded.

The leader uses one copy, so results are correct. Rows count on the node that the leader uses;
` + "`kitescope balance`" + ` shows the other copies separately.`,
	Remedy: `QueryCoord removes duplicate segments on its own, after other work: check whether it is busy, or a node
refuses. Restart QueryCoord to make it compare all nodes again, or restart the query node that the leader does not use
to free its copies.`,
	Parts:       model.PartObjects | model.PartServing | model.PartSegments | model.PartIndexes,
	Needs:       check.NeedDistribution,
	Run:         runSegmentTwice,
	Roles:       []string{"querycoord"},
	FollowsFrom: check.CausedBy(check.Shares("collections"), "leader-channel-split", "stopping-node-serving"),
}

// duplicates holds the segments of one collection that are loaded more than once in a replica.
type duplicates struct {
	segments []model.SegmentID
	nodes    []model.NodeID
	bytes    int64
	rows     int64
	newest   time.Time // load time of the newer copy of the oldest pair
	unsure   int
}

func runSegmentTwice(p *check.Pass) {
	asked := p.AskedAt()
	found := make(map[model.CollectionID]*duplicates)
	members := make(map[model.CollectionID]map[model.NodeID]model.ReplicaID)
	for _, id := range p.Runtime.MultiServed() {
		judgeDuplicates(p, found, members, id, asked)
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		reportDuplicates(p, id, found[id], asked)
	}
}

// memberOf returns the replica of each node of a collection. Nodes in no replica are absent, so they read as 0.
func memberOf(p *check.Pass, id model.CollectionID) map[model.NodeID]model.ReplicaID {
	m := make(map[model.NodeID]model.ReplicaID)
	for _, r := range p.ReplicasOf(id) {
		for _, n := range facts.MembersOf(r) {
			m[n] = r.ID
		}
	}
	return m
}

func judgeDuplicates(
	p *check.Pass, found map[model.CollectionID]*duplicates,
	members map[model.CollectionID]map[model.NodeID]model.ReplicaID, id model.SegmentID, asked time.Time,
) {
	served := p.Runtime.Served(id)
	for i, a := range served {
		if a.Sealed == nil || a.Sealed.Level == model.LevelL0 {
			continue
		}
		replicas := members[a.Sealed.Collection]
		if replicas == nil {
			replicas = memberOf(p, a.Sealed.Collection)
			members[a.Sealed.Collection] = replicas
		}
		for _, b := range served[i+1:] {
			if b.Sealed == nil || replicas[a.Node.Node] != replicas[b.Node.Node] {
				continue
			}
			found[a.Sealed.Collection] = addDuplicates(p, found[a.Sealed.Collection], a, b, asked)
		}
	}
}

func addDuplicates(p *check.Pass, t *duplicates, a, b model.Served, asked time.Time) *duplicates {
	newer := facts.VersionTime(max(a.Sealed.Version, b.Sealed.Version))
	if !newer.IsZero() && asked.Sub(newer) < facts.MoveGrace {
		return t
	}
	if t == nil {
		t = &duplicates{}
	}
	if newer.IsZero() {
		t.unsure++
		return t
	}
	t.segments, t.nodes = append(t.segments, a.Sealed.ID), append(t.nodes, a.Node.Node, b.Node.Node)
	t.newest = earliest(t.newest, newer)
	if s := p.Segment(a.Sealed.ID); s != nil {
		t.rows += s.Rows
		t.bytes += s.Bytes + s.IndexBytes
	}
	return t
}

func reportDuplicates(p *check.Pass, id model.CollectionID, t *duplicates, asked time.Time) {
	if t == nil {
		return
	}
	name := facts.CollectionLabel(p.Cluster, id)
	if t.unsure > 0 {
		p.NoteUnseen(fmt.Sprintf("collection %s: since when %s %s loaded twice", name,
			words.Plural(t.unsure, "segment"), words.Agree(t.unsure, "is", "are")))
	}
	if len(t.segments) == 0 {
		return
	}
	nodes := facts.QueryNodeNames(t.nodes)
	w := p.WorkOf(id)
	f := check.Finding{
		Severity: check.Warning, Object: facts.RefCollection(p.Cluster, id),
		Message: fmt.Sprintf("collection %s: %s, %s, in memory twice in one replica for %s, on %s",
			name, words.Plural(len(t.segments), "segment"), words.Plural(t.rows, "row"),
			words.Span(asked.Sub(t.newest)), words.Summarize(nodes)),
		Evidence: []check.Evidence{
			check.Fact("newer copy loaded", facts.TimeText(t.newest), words.Summarize(nodes)),
			check.Share("surplus rows in memory", w.ShareOfRows(t.rows), "query nodes"),
		},
		Impact: "The nodes waste " + words.Bytes(t.bytes) + " of memory; results are correct, from one of the copies.",
		Fix: check.Fix(
			check.Do("look for tasks with the reason \"redundancies of segment\" in QueryCoord's log"),
			check.Do("if there are none, restart QueryCoord").Restarting(p.Cluster, 2*time.Minute, "querycoord"),
		),
	}
	f.Objects = append(f.Objects, facts.RefNodes(nodes)...)
	f.Objects = append(f.Objects, facts.SomeSegments(t.segments)...)
	p.Report(f)
}
