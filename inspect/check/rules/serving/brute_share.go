package serving

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/words"
)

// bruteForceShare finds collections and nodes that spend much of their search work on comparing rows one by one, though
// an index is defined.
var bruteForceShare = &check.Check{
	ID:       "brute-force-share",
	Title:    "Much of the search work is brute force",
	Severity: check.Warning,
	Since:    "0.3",
	Doc: `Rows without an index are compared one by one: growing ones, and sealed segments that a node has loaded without their vector index. This check adds
them up per loaded collection, weighed as ` + "`kitescope balance`" + ` weighs work (rows times dimensions; behind an HNSW index a search
compares a thousand or two rows a segment, whatever its size). The weights are printed with the balance.

A warning is a collection where brute force that does **not** pass by itself is a fifth of the work or more: growing rows that nobody writes
any more, or whose flush was long enough ago for growing-flushed, and sealed segments of 1,024 rows and more that were loaded 10 minutes ago and still have no index.

Only information is a collection where half of the work is brute force because rows are being inserted: that goes on as long as the inserts do, and costs
latency meanwhile; and a query node that does twice its share of such work, as the leader of busy shards.

Not looked at: collections with a FLAT index or none, where brute force is the design (see index-unfit), and segments under
1,024 rows, which Milvus never indexes. Milvus issue 21215 is a case: 50,000 growing rows beside 1.5 million indexed ones took a search from 30 ms to over 2 s.`,
	Remedy: `Flush what is no longer written: ` + "`Collection(NAME).flush()`" + `. For sealed segments without an index see index-not-loaded, index-missing and index-failed. Under
steady inserts: lower ` + "`dataCoord.segment.sealProportion`" + ` or ` + "`maxSize`" + ` makes growing segments smaller, more shards spread them over more leaders, and
` + "`queryNode.segcore.interimIndex.enableIndex`" + ` gives large growing segments a small index of their own.`,
	Parts:       model.PartObjects | model.PartIndexes | model.PartServing | model.PartChannels | model.PartSegments,
	Needs:       check.NeedDistribution,
	Phases:      []latency.Name{latency.KernelGrowing, latency.KernelSealed},
	Run:         runBruteForceShare,
	Roles:       []string{"querycoord", "datanode", "indexnode"}, // rows that no data node writes stay growing
	FollowsFrom: check.CausedBy(check.Shares("collections"), "growing-flushed", "growing-too-old", "growing-too-large", "index-not-loaded", "index-missing", "index-failed", "index-stuck"),
}

const (
	lastingShare = 0.2 // of the work, that does not pass by itself
	passingShare = 0.5
	nodeShare    = 2 // times the mean
)

func runBruteForceShare(p *check.Pass) error {
	written := writtenRows(p)
	bare := bareSealedRows(p)
	for _, l := range p.LoadStates {
		id := l.Collection
		w := p.WorkOf(id)
		if x := p.Collection(id); x == nil || x.Dropped() || w.Flat || w.Cost <= 0 {
			continue
		}
		reportBrute(p, id, &w, written[id], bare[id])
	}
	bruteNodes(p)
	return nil
}

// writtenRows are, by collection, growing rows that pass by themselves: they are still written, or may be, or were
// flushed just now. Of a segment that replicas lead apart they are counted once, as in its work.
func writtenRows(p *check.Pass) map[model.CollectionID]int64 {
	rows := make(map[model.CollectionID]int64)
	written := make(map[*model.LeaderView][]model.SegmentID)
	of := make(map[*model.LeaderView]model.CollectionID)
	open := p.Open()
	for i := range open {
		s := &open[i]
		at := slices.IndexFunc(s.Leaders, func(x model.Served) bool { return p.Once(s.Collection).Grows(x.Leader, s.ID) })
		if s.Left(p.Now) || at < 0 {
			continue
		}
		v := s.Leaders[at].Leader
		written[v], of[v] = append(written[v], s.ID), s.Collection
	}
	for v, list := range written {
		rows[of[v]] += rowsOf(p, of[v], v, list)
	}
	// Nor do those last that are flushed or compacted already: leaders let go of them within a minute or
	// so, for which growing-flushed gives them time.
	asked := p.AskedAt()
	var seen facts.Counted
	eachGone(p, func(view model.ShardView, g model.GrowingView) {
		s := p.Segment(g.ID)
		if _, late, _ := goneSince(p, s, g, asked); late || !p.Once(view.Collection).Grows(view.LeaderView, g.ID) {
			return
		}
		if seen.First(g.ID) {
			rows[view.Collection] += p.GrowingRowsIn(view.LeaderView, g.ID)
		}
	})
	return rows
}

// rowsOf are those of some growing segments of a leader, which tells the sum of all: what the others are not known to have. What is
// recorded of those that are written is behind, by up to the ten minutes between two syncs.
func rowsOf(p *check.Pass, id model.CollectionID, v *model.LeaderView, written []model.SegmentID) int64 {
	_, rows := p.Once(id).Growing(v)
	for _, g := range v.Growing {
		if !slices.Contains(written, g.ID) && p.Once(id).Grows(v, g.ID) {
			rows -= p.GrowingRowsIn(v, g.ID)
		}
	}
	return max(0, rows)
}

// bareSealedRows are, by collection, sealed rows that a node loaded without any index, in segments large and old enough to
// have one.
func bareSealedRows(p *check.Pass) map[model.CollectionID]int64 {
	rows := make(map[model.CollectionID]int64)
	asked := p.AskedAt()
	p.EachOdds(func(id model.CollectionID, o *facts.Odds) {
		var seen facts.Counted
		for _, x := range o.Bare {
			if x.Record == nil || x.Record.Rows < facts.MinIndexRows || asked.Sub(facts.VersionTime(x.Served.Version)) < facts.LoadGrace ||
				!p.Once(id).Sealed(x.Node.Node, x.Served.ID) {
				continue
			}
			if seen.First(x.Served.ID) {
				rows[id] += x.Record.Rows
			}
		}
	})
	return rows
}

func reportBrute(p *check.Pass, id model.CollectionID, w *facts.Work, written, bare int64) {
	share := w.BruteCost / w.Cost
	lastingRows := max(0, w.GrowingRows-written)
	lasting := w.ShareOfGrowing(lastingRows)
	if w.UnindexedRows > 0 {
		lasting += (w.BruteCost - w.GrowCost) / w.Cost * min(1, float64(bare)/float64(w.UnindexedRows))
	}
	name := facts.CollectionLabel(p.Cluster, id)
	brute := w.GrowingRows + w.UnindexedRows
	f := check.Finding{
		Object: facts.RefCollection(p.Cluster, id),
		Evidence: []check.Evidence{
			check.Share("search work by brute force", share, "query nodes, weighed"),
			check.Share("of that lasting", lasting, "worked out"),
			check.Count("growing rows", w.GrowingRows, "query nodes"),
			check.Count("sealed rows without an index", w.UnindexedRows, "query nodes"),
			check.Count("rows in memory", w.Rows, "query nodes"),
		},
		Objects: bruteHolders(p, id),
	}
	switch {
	case lasting >= lastingShare:
		f.Severity, f.Cost = check.Warning, p.Costing(id, lasting)
		f.Message = fmt.Sprintf("collection %s: %s of the search work is brute force, on %s of %s; %s of it does not pass by itself",
			name, words.Share(share), words.Number(brute), words.Plural(w.Rows, "row"), words.Share(lasting/share))
		f.Impact = "Behind the index searches would take hardly any of this work."
		if rest := 1 - lasting; rest > 0.05 {
			f.Impact = fmt.Sprintf("Searches take up to %.1f times the work that they would take behind the index.", 1/rest)
		}
		f.Hint = "why its sealed segments have none: kitescope diagnose --only index-not-loaded,index-missing,index-failed,index-stuck"
		if lastingRows > 0 {
			f.Hint = flushHint(p.Cluster, id)
		}
	case share >= passingShare:
		f.Severity = check.Info
		f.Message = fmt.Sprintf("collection %s: %s of the search work is brute force, on %s of %s, while rows are inserted or indexed",
			name, words.Share(share), words.Number(brute), words.Plural(w.Rows, "row"))
		f.Impact = "Searches are slower as long as the inserts go on; it passes with the next flushes."
		f.Hint = "nothing, if the inserts are meant to go on; after them " + flushHint(p.Cluster, id)
	default:
		return
	}
	p.Report(f)
}

// bruteHolders are the query nodes that compare rows of a collection one by one.
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

// bruteNodes reports query nodes of which most work is brute force, and twice as much of it as the others'.
func bruteNodes(p *check.Pass) {
	if !p.Loaded.Has(model.PartSessions) {
		p.Unseen("which query nodes take segments")
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
		if n.Known && n.Takes() {
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
			Message: fmt.Sprintf("%s: %s of its search work is brute force, %s of all that there is on %s; it leads %s and has %s growing",
				n.Name(), words.Share(cost/n.Cost), words.Share(cost/total), words.Plural(known, "query node"), words.Plural(n.Leaders, "shard"), words.Plural(growing[n.Node], "row")),
			Evidence: []check.Evidence{
				check.Count("brute force, rows times dimensions", int64(cost), "weighed"),
				check.Count("all of its work", int64(n.Cost), "weighed"),
				check.Count("mean of the nodes", int64(total/float64(known)), "weighed"),
			},
			Impact: "Searches wait for this node longer than for the others.",
			Hint:   "flush what is no longer written; shard leaders are moved by balancing channels (queryCoord.autoBalanceChannel, 2.4 and later)",
		})
	}
}

// olderVersion reports whether a version is a time, and one that lies far enough back.
func olderVersion(version int64, asked time.Time, d time.Duration) bool {
	at := facts.VersionTime(version)
	return !at.IsZero() && asked.Sub(at) > d
}
