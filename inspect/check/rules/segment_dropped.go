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

// segmentDropped finds segments in the memory of query nodes that the metadata marks as dropped or does not contain.
var segmentDropped = &check.Check{
	ID:       "segment-loaded-dropped",
	Title:    "Dropped segment is still in memory",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesStale, check.MemoryFull},
	Starts:   "segment_dropped segment_compacted collection_dropped partition_dropped | collection_released",
	Doc: `Query nodes keep segments in memory that were compacted away. They should release dropped segments once the
leaders have switched to their successors. Reported: a sealed segment on a query node that has been dropped in etcd
for 10 minutes, or that is not in etcd although it was loaded 10 minutes before the metadata was read. Also a
collection that is no longer loaded, or gone, while nodes hold its segments that were not dropped or loaded in the
last 10 minutes (warning if it is gone, otherwise info: it may have been released just now).

Not reported: sources of a compaction that DataCoord still wants served (GetRecoveryInfoV2), or whose result no node
serves yet. On 2.3.5 sources were served for about 40 s after their compaction; if an index has to be built, Milvus
keeps them until it is done.`,
	Remedy: `Check whether the target of the collection advances (target-behind): old segments go with the next one.
Restart the query node to free the memory at once. If a collection that was released or dropped stays in memory,
restart QueryCoord: it releases unknown collections that it finds on nodes.`,
	Parts:       model.PartObjects | model.PartServing | model.PartSegments | model.PartIndexes,
	Needs:       check.NeedDistribution,
	Run:         runSegmentDropped,
	Roles:       []string{"querycoord"},
	FollowsFrom: check.CausedBy(check.Shares("collections"), "target-behind", "segment-not-loaded"),
}

// remains holds the segments of one collection that should no longer be in memory.
type remains struct {
	counted  facts.SegmentSet
	segments []model.SegmentID
	nodes    []model.NodeID
	rows     int64
	bytes    int64
	dropped  time.Time // oldest drop time
	unknown  int
	unsure   int
	searched int // segments in a leader's view
}

func runSegmentDropped(p *check.Pass) {
	asked := p.AskedAt()
	found := make(map[model.CollectionID]*remains)
	kept := &compactionSources{p, make(map[model.CollectionID]map[model.SegmentID]bool)}
	p.EachAnomalies(func(id model.CollectionID, o *facts.Anomalies) {
		if !wanted(p, id) {
			for _, on := range p.Runtime.SealedOf(id) {
				for _, s := range on.Segments {
					kept.judge(found, on.Node, s, asked)
				}
			}
			return
		}
		for _, x := range o.Strays {
			kept.judge(found, x.Node, x.Served, asked)
		}
	})
	for _, id := range slices.Sorted(maps.Keys(found)) {
		reportRemains(p, id, found[id], asked)
	}
}

// wanted reports whether a collection exists and has a load state, so that it belongs in memory.
func wanted(p *check.Pass, id model.CollectionID) bool {
	x := p.Collection(id)
	return x != nil && !x.Dropped() && p.LoadState(id) != nil
}

func (b *compactionSources) judge(
	found map[model.CollectionID]*remains, n *model.LiveNode, s *model.ServedSegment, asked time.Time,
) {
	record := b.Segment(s.ID)
	loaded := facts.VersionTime(s.Version)
	var since time.Time
	switch {
	case !wanted(b.Pass, s.Collection):
		if record != nil {
			since = record.DroppedAt.Time()
		}
		if asked.Sub(since) < facts.LoadGrace || asked.Sub(loaded) < facts.LoadGrace {
			return // being dropped, or loaded after the metadata was read
		}
	case record == nil:
		since = loaded
		if !since.IsZero() && (asked.Sub(since) < facts.LoadGrace || b.Now.Sub(since) < facts.LoadGrace) {
			return // the metadata is older than the segment
		}
	default:
		since = record.DroppedAt.Time()
		if !since.IsZero() && asked.Sub(since) < facts.LoadGrace || b.needed(record) {
			return
		}
	}
	r := found[s.Collection]
	if r == nil {
		r = &remains{}
		found[s.Collection] = r
	}
	if since.IsZero() && wanted(b.Pass, s.Collection) {
		r.unsure++
		return
	}
	r.nodes = append(r.nodes, n.Node)
	r.dropped = earliest(r.dropped, since)
	if record != nil {
		r.bytes += record.Bytes + record.IndexBytes
	}
	if !r.counted.Add(s.ID) {
		return
	}
	r.segments = append(r.segments, s.ID)
	if record == nil {
		r.unknown++
	} else {
		r.rows += record.Rows
	}
	for _, v := range b.Runtime.ShardViews(s.Channel) {
		if hasSegment(v.LeaderView, s.ID) {
			r.searched++
			break
		}
	}
}

// compactionSources caches, by collection, the compaction sources that are served until a node serves the result.
type compactionSources struct {
	*check.Pass
	sources map[model.CollectionID]map[model.SegmentID]bool
}

// needed reports whether a dropped segment still has to be served, because DataCoord wants it or
// because no node serves its successor.
func (b *compactionSources) needed(s *model.Segment) bool {
	if wanted := b.Runtime.RecoveryOf(s.VChannel); wanted != nil {
		if _, ok := slices.BinarySearch(wanted.Flushed, s.ID); ok {
			return true
		}
	}
	sources, ok := b.sources[s.Collection]
	if !ok {
		sources = make(map[model.SegmentID]bool)
		for _, x := range b.SegmentsOf(s.Collection) {
			if x.State == model.SegmentFlushed && len(x.CompactedFrom) > 0 && len(b.Runtime.Served(x.ID)) == 0 {
				for _, from := range x.CompactedFrom {
					sources[from] = true
				}
			}
		}
		b.sources[s.Collection] = sources
	}
	return sources[s.ID]
}

func reportRemains(p *check.Pass, id model.CollectionID, r *remains, asked time.Time) {
	name := facts.CollectionLabel(p.Cluster, id)
	if r.unsure > 0 {
		p.NoteUnseen(fmt.Sprintf("collection %s: when %s in memory %s dropped", name, words.Plural(r.unsure, "segment"),
			words.Agree(r.unsure, "was", "were")))
	}
	if len(r.segments) == 0 {
		return
	}
	nodes := facts.QueryNodeNames(r.nodes)
	w := p.WorkOf(id)
	f := check.Finding{Severity: check.Warning, Object: facts.RefCollection(p.Cluster, id)}
	what := words.Plural(len(r.segments), "segment") + ", " + words.Plural(r.rows, "row")
	x := p.Collection(id)
	switch {
	case x == nil || x.Dropped():
		f.Message = fmt.Sprintf("collection %s is dropped, but %s, %s still in memory on %s",
			name, what, words.Agree(len(r.segments), "is", "are"), words.Summarize(nodes))
	case !wanted(p, id):
		f.Severity = check.Info
		f.Message = fmt.Sprintf("collection %s is not loaded, but %s, %s in memory on %s",
			name, what, words.Agree(len(r.segments), "is", "are"), words.Summarize(nodes))
	default:
		f.Message = fmt.Sprintf("collection %s: %s, dropped up to %s ago, %s still in memory on %s", name, what,
			words.Span(asked.Sub(r.dropped)), words.Agree(len(r.segments), "is", "are"), words.Summarize(nodes))
		if r.searched > 0 {
			f.Cost = p.ClusterCost(id, w.ShareOfRows(r.rows))
		}
	}
	f.Evidence = []check.Evidence{
		check.Factf("in memory", words.Summarize(nodes), "%s", check.Plural(len(r.segments), "segment")),
		check.Count("still searched by a shard leader", r.searched, "leaders' views"),
	}
	if !r.dropped.IsZero() {
		f.Evidence = append(f.Evidence, check.Fact("dropped since", facts.TimeText(r.dropped), "etcd"))
	}
	if r.unknown > 0 {
		f.Evidence = append(f.Evidence, check.Count("without a record", r.unknown, "etcd"))
	}
	f.Impact = "The nodes waste " + words.Bytes(r.bytes) + " of memory."
	if r.searched > 0 && wanted(p, id) {
		f.Impact += " Searches scan these rows in addition to their compacted copies."
	}
	f.Fix = check.Fix(
		check.Do("wait a minute; if they stay, restart QueryCoord").Restarting(p.Cluster, 2*time.Minute, "querycoord"),
		check.Do("or restart the query nodes one at a time: %s", nodes).
			Restarting(p.Cluster, 5*time.Minute, "querynode"),
	)
	if wanted(p, id) {
		f.Fix = refreshSteps(p, id)
	}
	f.Objects = append(f.Objects, facts.RefNodes(nodes)...)
	f.Objects = append(f.Objects, facts.SomeSegments(r.segments)...)
	p.Report(f)
}
