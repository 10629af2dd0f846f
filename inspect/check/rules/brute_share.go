package rules

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// bruteForceShare reports collections and nodes that spend much of their search work on comparing rows one by one,
// though an index is defined.
var bruteForceShare = &check.Check{
	ID:       "brute-force-share",
	Title:    "Much of the search work is brute force",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "index_dropped index_failed | segment_flushed segment_created node_lost:indexnode",
	Doc: `50,000 growing rows next to 1.5 million indexed ones slowed a search from 30 ms to over 2 s (Milvus issue
21215). Rows without an index are scanned by brute force: growing rows, and sealed segments that a node loaded without
their vector index. The check adds them up per loaded collection, weighted as in ` + "`kitescope balance`" + ` (rows
times dimensions; with an HNSW index a search compares one or two thousand rows per segment, whatever its size). The
balance prints the weights.

Warning: brute force that does **not** go away on its own is at least 20% of a collection's work. This counts growing
rows that are no longer written, or were flushed long enough ago for growing-flushed, and sealed segments of 1,024
rows or more that were loaded 10 minutes ago and still have no index.

Info: half of a collection's work is brute force because rows are being inserted. It costs latency as long as the
inserts last. Also info: a query node that does twice its share of such work, as the leader of busy shards.

Not judged: collections with a FLAT index or none (brute force by design, see index-unfit), and segments under 1,024
rows, which Milvus never indexes.`,
	Remedy: `Flush collections that are no longer written: ` + "`Collection(NAME).flush()`" + `. For sealed segments
without an index see index-not-loaded, index-missing and index-failed. With steady inserts: lower
` + "`dataCoord.segment.sealProportion`" + ` or ` + "`maxSize`" +
		` to make growing segments smaller, add shards to spread
them over more leaders, or set ` + "`queryNode.segcore.interimIndex.enableIndex`" + ` to give large growing segments a
small index.`,
	Parts:  model.PartObjects | model.PartIndexes | model.PartServing | model.PartChannels | model.PartSegments,
	Needs:  check.NeedDistribution,
	Phases: []latency.Name{latency.KernelGrowing, latency.KernelSealed},
	Run:    runBruteForceShare,
	Roles:  []string{"querycoord", "datanode", "indexnode"}, // rows that no data node writes stay growing
	FollowsFrom: check.CausedBy(check.Shares("collections"), "growing-flushed", "growing-too-old", "growing-too-large",
		"index-not-loaded", "index-missing", "index-failed", "index-stuck"),
}

const (
	lastingShare = 0.2 // of the work, for brute force that does not go away on its own
	passingShare = 0.5
	nodeShare    = 2 // times the mean
)

func runBruteForceShare(p *check.Pass) {
	written := writtenRows(p)
	bare, small := unindexedSealedRows(p)
	for _, l := range p.LoadStates {
		id := l.Collection
		w := p.WorkOf(id)
		if x := p.Collection(id); x == nil || x.Dropped() || w.Flat || w.Cost <= 0 {
			continue
		}
		reportBrute(p, id, &w, written[id], bare[id], small[id])
	}
	bruteNodes(p)
}

// writtenRows returns, by collection, the growing rows that will go away on their own: they are or may still be
// written, or were flushed just now. A segment with leaders in several replicas counts once, as in the work.
func writtenRows(p *check.Pass) map[model.CollectionID]int64 {
	rows := make(map[model.CollectionID]int64)
	written := make(map[*model.LeaderView][]model.SegmentID)
	of := make(map[*model.LeaderView]model.CollectionID)
	open := p.Open()
	for i := range open {
		s := &open[i]
		at := slices.IndexFunc(s.Leaders, func(x model.Served) bool {
			return p.Dedup(s.Collection).GrowingCounts(x.Leader, s.ID)
		})
		if s.Abandoned(p.Now) || at < 0 {
			continue
		}
		v := s.Leaders[at].Leader
		written[v], of[v] = append(written[v], s.ID), s.Collection
	}
	for v, list := range written {
		rows[of[v]] += rowsOf(p, of[v], v, list)
	}
	// Rows of segments that are flushed or compacted already do not last either: leaders release them within a
	// minute or so. growing-flushed has a grace period for that.
	asked := p.AskedAt()
	var seen facts.SegmentSet
	eachGone(p, func(view model.ShardView, g model.GrowingView) {
		s := p.Segment(g.ID)
		if _, late, _ := goneSince(p, s, g, asked); late ||
			!p.Dedup(view.Collection).GrowingCounts(view.LeaderView, g.ID) {
			return
		}
		if seen.Add(g.ID) {
			rows[view.Collection] += p.GrowingRowsIn(view.LeaderView, g.ID)
		}
	})
	return rows
}

// rowsOf returns the rows of some growing segments of a leader. A leader reports only the sum of all, so this is
// the sum less the known rows of the others. The records of segments being written are behind by up to the ten
// minutes between two syncs.
func rowsOf(p *check.Pass, id model.CollectionID, v *model.LeaderView, written []model.SegmentID) int64 {
	_, rows := p.Dedup(id).Growing(v)
	for _, g := range v.Growing {
		if !slices.Contains(written, g.ID) && p.Dedup(id).GrowingCounts(v, g.ID) {
			rows -= p.GrowingRowsIn(v, g.ID)
		}
	}
	return max(0, rows)
}

// unindexedSealedRows returns, by collection, the sealed rows that a node loaded without any index: in segments large
// and old enough to have one, and in segments that are too small to ever get one.
func unindexedSealedRows(p *check.Pass) (rows, small map[model.CollectionID]int64) {
	rows, small = make(map[model.CollectionID]int64), make(map[model.CollectionID]int64)
	asked := p.AskedAt()
	p.EachAnomalies(func(id model.CollectionID, o *facts.Anomalies) {
		var seen facts.SegmentSet
		for _, x := range o.Unindexed {
			if x.Record == nil || !p.Dedup(id).Sealed(x.Node.Node, x.Served.ID) || !seen.Add(x.Served.ID) {
				continue
			}
			switch {
			case x.Record.Rows < facts.MinIndexRows:
				small[id] += x.Record.Rows
			case asked.Sub(facts.VersionTime(x.Served.Version)) >= facts.LoadGrace:
				rows[id] += x.Record.Rows
			}
		}
	})
	return rows, small
}

func reportBrute(p *check.Pass, id model.CollectionID, w *facts.Work, written, large, small int64) {
	share := w.BruteCost / w.Cost
	lastingRows := max(0, w.GrowingRows-written)
	lasting := w.ShareOfGrowing(lastingRows)
	passing := share
	if w.UnindexedRows > 0 {
		unindexed := (w.BruteCost - w.GrowCost) / w.Cost / float64(w.UnindexedRows)
		lasting += unindexed * float64(min(w.UnindexedRows, large))
		passing -= unindexed * float64(min(w.UnindexedRows, small))
	}
	name := facts.CollectionLabel(p.Cluster, id)
	brute := w.GrowingRows + w.UnindexedRows
	f := check.Finding{
		Object: facts.RefCollection(p.Cluster, id),
		Evidence: []check.Evidence{
			check.Share("search work by brute force", share, "query nodes, weighted"),
			check.Share("part that does not go away", lasting, "computed"),
			check.Count("growing rows", w.GrowingRows, "query nodes"),
			check.Count("sealed rows without an index", w.UnindexedRows, "query nodes"),
			check.Count("rows in memory", w.Rows, "query nodes"),
		},
		Objects: bruteHolders(p, id),
	}
	switch {
	case lasting >= lastingShare:
		f.Severity, f.Cost = check.Warning, p.ClusterCost(id, lasting)
		f.Message = fmt.Sprintf("collection %s: %s of the search work is brute force, on %s of %s; %s of that will "+
			"not go away on its own",
			name, words.Share(share), words.Number(brute), words.Plural(w.Rows, "row"), words.Share(lasting/share))
		f.Impact = "With the index, searches would need hardly any of this work."
		if rest := 1 - lasting; rest > 0.05 {
			f.Impact = fmt.Sprintf("Searches take up to %.1f times the work they would take with the index.", 1/rest)
		}
		f.Fix = check.Fix(check.Shell(check.Kitescope(
			"diagnose --only index-not-loaded,index-missing,index-failed,index-stuck",
		)).Does("shows why its sealed segments have no index"))
		if lastingRows > 0 {
			f.Fix = flushSteps(p.Cluster, id)
		}
	case passing >= passingShare:
		f.Severity = check.Info
		f.Message = fmt.Sprintf("collection %s: %s of the search work is brute force, on %s of %s, while rows are "+
			"inserted or indexed",
			name, words.Share(share), words.Number(brute), words.Plural(w.Rows, "row"))
		f.Impact = "Searches are slower while inserts continue; the next flushes end it."
		f.Fix = append(check.Fix(check.Do("wait while inserts continue; flush afterwards")),
			flushSteps(p.Cluster, id)...)
	default:
		return
	}
	p.Report(f)
}

// bruteHolders returns the query nodes that compare rows of a collection one by one.
func bruteHolders(p *check.Pass, id model.CollectionID) []model.Ref {
	var refs []model.Ref
	for _, g := range p.Balance.Groups {
		if g.ID != id {
			continue
		}
		for _, s := range g.Shares {
			if s.BruteRows > 0 {
				refs = append(refs, facts.RefNode("querynode", s.Node))
			}
		}
	}
	return refs
}

// bruteNodes reports query nodes whose work is at least half brute force, and at least twice the mean per node.
func bruteNodes(p *check.Pass) {
	if !p.Loaded.Has(model.PartSessions) {
		p.NoteUnseen("which query nodes take segments")
		return
	}
	brute := make(map[model.NodeID]float64)
	growing := make(map[model.NodeID]int64)
	var total float64
	for _, g := range p.Balance.Groups {
		if g.Collection == nil || facts.FlatByDesign(p.Cluster, g.ID) {
			continue
		}
		for _, s := range g.Shares {
			brute[s.Node] += s.BruteCost
			growing[s.Node] += s.GrowingRows
			total += s.BruteCost
		}
	}
	var known int
	for _, n := range p.Balance.Nodes {
		if n.Known && n.Assignable() {
			known++
		}
	}
	if known < 2 || total <= 0 {
		return
	}
	for _, n := range p.Balance.Nodes {
		cost := brute[n.Node]
		if !n.Known || n.Cost <= 0 || cost/n.Cost < passingShare || cost < nodeShare*total/float64(known) {
			continue
		}
		p.Report(check.Finding{
			Severity: check.Info, Object: facts.RefNode("querynode", n.Node),
			Message: fmt.Sprintf("%s: %s of its search work is brute force, %s of the total on %s; it leads %s and "+
				"has %s",
				n.Name(), words.Share(cost/n.Cost), words.Share(cost/total), words.Plural(known, "query node"),
				words.Plural(n.Leaders, "shard"), words.Plural(growing[n.Node], "growing row")),
			Evidence: []check.Evidence{
				check.Count("brute force, rows times dimensions", int64(cost), "weighted"),
				check.Count("total work", int64(n.Cost), "weighted"),
				check.Count("mean per node", int64(total/float64(known)), "weighted"),
			},
			Impact: "Searches wait longer for this node than for the others.",
			Fix: check.Fix(check.Do("flush collections that are no longer written, or spread shard leaders with "+
				"queryCoord.autoBalanceChannel (2.4 and later)").
				Interrupting(5*time.Minute, "nothing")),
		})
	}
}

// olderVersion reports whether a version is a time more than d before asked.
func olderVersion(version int64, asked time.Time, d time.Duration) bool {
	at := facts.VersionTime(version)
	return !at.IsZero() && asked.Sub(at) > d
}
