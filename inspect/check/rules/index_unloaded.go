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

// indexNotLoaded reports sealed segments that nodes serve without their finished vector index.
var indexNotLoaded = &check.Check{
	ID:       "index-not-loaded",
	Title:    "Index is built but not loaded",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "index_built index_created | collection_loading",
	Doc: `An index is "Finished" everywhere, but a query node still scans the rows of a segment (Milvus issues 6609,
12958, 19974). A query node that loaded a segment before its index was finished scans all its rows. QueryCoord notices
the finished index and has the node load it (index_checker.go, since 2.3). If that does not happen, searches stay slow
until the collection is loaded again.

The check compares the index files in use on each node (` + "`index_info`" + ` of GetDataDistribution) with the index
records in etcd. Reported: a sealed segment of 1,024 rows or more without files of a vector index that was finished at
least 10 minutes ago. Versions that do not record the finish time (2.3 and older) get half an hour, from the load of
the segment and the definition of the index.

Never reported: FLAT and BIN_FLAT (nodes have no files for them, as observed on 2.3.5), segments under 1,024 rows,
growing segments, and L0.`,
	Remedy: `Run ` + "`Collection(NAME).load(_refresh=True)`" + ` to make QueryCoord compare again. If the node lacks
memory or disk for the files, its log reports it: free some, or add a node. As a last resort release and load the
collection.`,
	Parts: model.PartObjects | model.PartIndexes | model.PartServing | model.PartSegments |
		model.PartSegmentIndexes,
	Needs:       check.NeedDistribution,
	Phases:      []latency.Name{latency.KernelSealed},
	Run:         runIndexNotLoaded,
	Roles:       []string{"querycoord"},
	FollowsFrom: check.CausedBy(check.Shares("collections"), "target-behind"),
}

// unrecordedGrace is the grace period of an index whose finish time is unknown.
const unrecordedGrace = 30 * time.Minute

// unloaded holds the segments of one collection that lack an index on their node.
type unloaded struct {
	index    *model.Index
	counted  facts.SegmentSet
	segments []model.SegmentID
	nodes    []model.NodeID
	rows     int64
	finished time.Time // latest finish time; zero if it is not recorded
	unsure   int
}

func runIndexNotLoaded(p *check.Pass) {
	found := make(map[model.CollectionID]*unloaded)
	asked := p.AskedAt()
	p.EachAnomalies(func(id model.CollectionID, o *facts.Anomalies) {
		wanted := facts.WantedIndexes(p.Cluster, id)
		for _, h := range o.MissingIndex {
			for _, x := range wanted {
				if !facts.HasIndex(h.Served, x) {
					judgeUnloaded(p, found, h.Node, h.Served, x, asked)
				}
			}
		}
	})
	for _, id := range slices.Sorted(maps.Keys(found)) {
		reportUnloaded(p, id, found[id])
	}
}

func judgeUnloaded(
	p *check.Pass, found map[model.CollectionID]*unloaded, n *model.LiveNode, s *model.ServedSegment, x *model.Index,
	asked time.Time,
) {
	record := p.Segment(s.ID)
	if record == nil || record.Rows < p.LeastIndexedRows() {
		return
	}
	r := facts.RecordOf(record, x.ID)
	if r == nil || r.State != model.IndexFinished {
		return // covered by index-missing, index-failed, index-stuck
	}
	late := asked.Sub(r.FinishedAt) > facts.LoadGrace
	if r.FinishedAt.IsZero() {
		late = olderVersion(s.Version, asked, unrecordedGrace) &&
			(x.CreatedAt.IsZero() || asked.Sub(x.CreatedAt) > unrecordedGrace)
	}
	known := !r.FinishedAt.IsZero() || !facts.VersionTime(s.Version).IsZero()
	if !late && known {
		return
	}
	u := found[s.Collection]
	if u == nil {
		u = &unloaded{index: x}
		found[s.Collection] = u
	}
	if !known {
		u.unsure++
		return
	}
	u.nodes = append(u.nodes, n.Node)
	if u.counted.Add(s.ID) {
		u.segments, u.rows = append(u.segments, s.ID), u.rows+record.Rows
	}
	if r.FinishedAt.After(u.finished) {
		u.finished = r.FinishedAt
	}
}

func reportUnloaded(p *check.Pass, id model.CollectionID, u *unloaded) {
	name := facts.CollectionLabel(p.Cluster, id)
	if u.unsure > 0 {
		p.NoteUnseen(fmt.Sprintf("collection %s: when the index of %s was finished", name,
			words.Plural(u.unsure, "segment")))
	}
	if len(u.segments) == 0 {
		return
	}
	w := p.WorkOf(id)
	cost := 0.0
	if w.Cost > 0 && w.UnindexedRows > 0 {
		cost = (w.BruteCost - w.GrowCost) / w.Cost * min(1, float64(u.rows)/float64(w.UnindexedRows))
	}
	nodes := facts.QueryNodeNames(u.nodes)
	f := check.Finding{
		Severity: check.Warning, Object: facts.RefCollection(p.Cluster, id), Cost: p.ClusterCost(id, cost),
		Message: fmt.Sprintf("collection %s: %s, %s, served by %s without the %s index %s, although it is built",
			name, words.Plural(len(u.segments), "segment"), words.Plural(u.rows, "row"), words.Summarize(nodes),
			u.index.Type, u.index.Name),
		Evidence: []check.Evidence{
			check.Fact("index state of these segments", "Finished", "etcd"),
			check.Fact("finished at", facts.TimeText(u.finished), "etcd"),
			check.Fact("index files in use", "none", words.Summarize(nodes)),
		},
		Impact: "Each search scans these rows by brute force: " + words.Share(w.ShareOfRows(u.rows)) +
			" of the collection's rows, about " + words.Share(cost) + " of its search work.",
		Fix: refreshSteps(p, id), Objects: []model.Ref{facts.RefIndex(u.index)},
	}
	f.Objects = append(f.Objects, facts.RefNodes(nodes)...)
	f.Objects = append(f.Objects, facts.SomeSegments(u.segments)...)
	p.Report(f)
}
