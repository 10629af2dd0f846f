package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// segmentNotLoaded finds flushed segments of loaded collections that searches do not reach.
var segmentNotLoaded = &check.Check{
	ID:       "segment-not-loaded",
	Title:    "Flushed segment of a loaded collection is not served",
	Severity: check.Error,
	Symptoms: []string{check.SearchesStale},
	Starts:   "node_lost:querynode node_left:querynode segment_flushed segment_compacted | index_built config_changed",
	Doc: `Rows are missing from every result, without an error, because no node serves their segment (Milvus issue
47913 is such a gap of 3 minutes), or searches fail with "segment lacks" (23754, 30827). DataCoord reports the
segments of a channel that should be served (GetRecoveryInfoV2); the view of a shard leader has those that it searches
(GetDataDistribution). Reported: a flushed segment of a loaded collection that is in the first list but not in the
second, neither sealed nor growing.

A segment gets 10 minutes from its flush, or from the compaction that created it. Not reported: a segment whose
sources are all served instead (Milvus does that during compaction and index building), one that another leader of the
same shard still searches, as during a move of the channel; L0, empty and invisible segments; partitions that are not
loaded. The time of the flush comes from the segment's position in the channel; for the result of a compaction, from
the time its sources were dropped.`,
	Remedy: `Check whether nodes have memory for it: a query node that refuses to load logs it, and QueryCoord keeps
retrying. Then run ` + "`Collection(NAME).load(_refresh=True)`" + `, or restart QueryCoord. Imported segments appear
with the next refresh only.`,
	Parts: model.PartObjects | model.PartIndexes | model.PartServing | model.PartSegments,
	Needs: check.NeedDistribution | check.NeedRecovery,
	Run:   runSegmentNotLoaded,
	Roles: []string{"querycoord", "querynode", "datacoord"},
	FollowsFrom: []check.Cause{
		{Check: "files-missing", Applies: check.Shares("segments")},
		check.StorageFails("querynode"),
		{Check: "node-unreachable", Applies: check.Shares("collections")},
		{Check: "stale-session", Applies: check.Shares("collections")},
		{Check: "load-stuck", Applies: check.Shares("collections")},
		{Check: "replica-dead-node", Applies: check.Shares("collections")},
	},
}

// absent holds the segments of one collection that its shard leaders do not have in their views.
type absent struct {
	segments []model.SegmentID
	channels map[string]bool
	replicas map[*model.Replica]bool
	rows     int64 // summed over replicas
	oldest   time.Time
	unsure   int
}

func runSegmentNotLoaded(p *check.Pass) {
	asked := p.AskedAt()
	found := make(map[model.CollectionID]*absent)
	blind := make(map[model.CollectionID]bool)
	for _, n := range p.Runtime.QueryNodes() {
		if n.Distribution == nil {
			continue
		}
		for i := range n.Distribution.Leaders {
			view := &n.Distribution.Leaders[i]
			if !facts.IsLoaded(p.Cluster, view.Collection) {
				continue
			}
			wanted := p.Runtime.RecoveryOf(view.Channel)
			if wanted == nil {
				blind[view.Collection] = true
				continue
			}
			for _, id := range p.Views.Missing()[view] {
				judgeAbsent(p, found, model.ShardView{Node: n, LeaderView: view}, id, asked)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(blind)) {
		p.NoteUnseen("collection " + facts.CollectionLabel(p.Cluster, id) +
			": DataCoord did not report what should be served")
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		reportAbsent(p, id, found[id], asked)
	}
}

// hasSegment reports whether a leader searches a segment, as sealed or growing.
func hasSegment(view *model.LeaderView, id model.SegmentID) bool {
	_, sealed := slices.BinarySearchFunc(view.Sealed, id, func(s model.LeaderSegment, id model.SegmentID) int {
		return cmp.Compare(s.ID, id)
	})
	if sealed {
		return true
	}
	_, growing := slices.BinarySearchFunc(view.Growing, id, func(g model.GrowingView, id model.SegmentID) int {
		return cmp.Compare(g.ID, id)
	})
	return growing
}

// handedOver reports whether another leader of the shard searches a segment. The view of a new leader is empty for a
// second or two, and searches still go to the previous leader (seen on 2.3.5 while a node stops).
func handedOver(p *check.Pass, view model.ShardView, id model.SegmentID) bool {
	own := facts.ReplicaWith(p.Cluster, view.Collection, view.Node.Node)
	return slices.ContainsFunc(p.Runtime.ShardViews(view.Channel), func(other model.ShardView) bool {
		if other.Node == view.Node || !hasSegment(other.LeaderView, id) {
			return false
		}
		r := facts.ReplicaWith(p.Cluster, view.Collection, other.Node.Node)
		return r == own || r == nil // a leaving node is no longer in any replica
	})
}

func judgeAbsent(
	p *check.Pass, found map[model.CollectionID]*absent, view model.ShardView, id model.SegmentID, asked time.Time,
) {
	s := p.Segment(id)
	switch {
	case s == nil, s.State != model.SegmentFlushed, s.Level == model.LevelL0, s.Rows == 0, s.Invisible, s.Importing,
		s.Fake:
		return
	case !facts.WantsPartition(p.LoadState(view.Collection), s.Partition), hasSegment(view.LeaderView, id):
		return
	case len(s.CompactedFrom) > 0 &&
		!slices.ContainsFunc(s.CompactedFrom, func(from model.SegmentID) bool {
			return !hasSegment(view.LeaderView, from)
		}):
		return
	case handedOver(p, view, id):
		return
	}
	at, known := facts.FlushedAt(p.Cluster, s)
	if known && asked.Sub(at) < facts.LoadGrace {
		return
	}
	a := found[view.Collection]
	if a == nil {
		a = &absent{channels: make(map[string]bool), replicas: make(map[*model.Replica]bool)}
		found[view.Collection] = a
	}
	if !known {
		a.unsure++
		return
	}
	a.segments, a.rows = append(a.segments, id), a.rows+s.Rows
	a.channels[view.Channel] = true
	a.replicas[facts.ReplicaWith(p.Cluster, view.Collection, view.Node.Node)] = true
	a.oldest = earliest(a.oldest, at)
}

func reportAbsent(p *check.Pass, id model.CollectionID, a *absent, asked time.Time) {
	name := facts.CollectionLabel(p.Cluster, id)
	if a.unsure > 0 {
		p.NoteUnseen(fmt.Sprintf("collection %s: when %s that no node serves %s flushed", name,
			words.Plural(a.unsure, "segment"), words.Agree(a.unsure, "was", "were")))
	}
	if len(a.segments) == 0 {
		return
	}
	all := p.CollectionTotals(id).Rows * int64(max(1, len(p.ReplicasOf(id))))
	share := min(1, facts.Ratio(a.rows, all))
	segments := facts.SomeSegments(a.segments)
	count := len(slices.Compact(a.segments))
	f := check.Finding{
		Severity: check.Error, Object: facts.RefCollection(p.Cluster, id), Cost: p.ClusterLoss(share),
		Message: fmt.Sprintf("collection %s: %s, %s, flushed up to %s ago but served by no node",
			name, words.Plural(count, "segment"), words.Plural(a.rows/int64(max(1, len(a.replicas))), "row"),
			words.Span(asked.Sub(a.oldest))),
		Evidence: []check.Evidence{
			check.Factf("expected but not served", "DataCoord GetRecoveryInfoV2", "%s", check.Plural(count, "segment")),
			check.Fact("flushed or compacted", facts.TimeText(a.oldest), "etcd"),
			check.Fact("shards", words.Summarize(slices.Sorted(maps.Keys(a.channels))), "leaders' views"),
		},
		Impact: "Searches miss these rows: " + words.Share(share) + " of the collection.",
		Fix:    append(refreshSteps(p, id), check.Fix(check.FindFiles(p.Facts))...),
	}
	if replicas := len(p.ReplicasOf(id)); replicas > 1 {
		f.Message += fmt.Sprintf(", in %d of %d replicas", len(a.replicas), replicas)
	}
	for _, v := range slices.Sorted(maps.Keys(a.channels)) {
		f.Objects = append(f.Objects, facts.RefVChannel(v))
	}
	f.Objects = append(f.Objects, segments...)
	p.Report(f)
}
