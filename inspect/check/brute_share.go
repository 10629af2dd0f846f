package check

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// BruteForceShare finds collections and nodes that spend much of their search work on comparing rows one by one, though
// an index is defined.
var BruteForceShare = &Check{
	ID:       "brute-force-share",
	Title:    "Much of the search work is brute force",
	Severity: Warning,
	Since:    "0.3",
	Doc: `
Rows without an index are compared one by one: growing ones, and sealed segments that a node has loaded without their vector index. This check adds
them up per loaded collection, weighed as ` + "`kitescope balance`" + ` weighs work (rows times dimensions; behind an HNSW index a search
compares a thousand or two rows a segment, whatever its size). The weights are printed with the balance.

A warning is a collection where brute force that does **not** pass by itself is a fifth of the work or more: growing rows that nobody writes
any more, or whose flush was long enough ago for growing-flushed, and sealed segments of 1,024 rows and more that were loaded 10 minutes ago and still have no index.

Only information is a collection where half of the work is brute force because rows are being inserted: that goes on as long as the inserts do, and costs
latency meanwhile; and a query node that does twice its share of such work, as the leader of busy shards.

Not looked at: collections with a FLAT index or none, where brute force is the design (see index-unfit), and segments under
1,024 rows, which Milvus never indexes. Milvus issue 21215 is a case: 50,000 growing rows beside 1.5 million indexed ones took a search from 30 ms to over 2 s.
`,
	Remedy: `
Flush what is no longer written: ` + "`Collection(NAME).flush()`" + `. For sealed segments without an index see index-not-loaded, index-missing and index-failed. Under
steady inserts: lower ` + "`dataCoord.segment.sealProportion`" + ` or ` + "`maxSize`" + ` makes growing segments smaller, more shards spread them over more leaders, and
` + "`queryNode.segcore.interimIndex.enableIndex`" + ` gives large growing segments a small index of their own.
`,
	Parts: model.PartObjects | model.PartIndexes | model.PartServing | model.PartChannels | model.PartSegments,
	Needs: NeedDistribution,
	Run:   runBruteForceShare,
	Roles: []string{"querycoord", "datanode", "indexnode"}, // rows that no data node writes stay growing
	FollowsFrom: []Cause{
		{Check: "growing-flushed", Of: shares("collections")},
		{Check: "growing-too-old", Of: shares("collections")},
		{Check: "growing-too-large", Of: shares("collections")},
		{Check: "index-not-loaded", Of: shares("collections")},
		{Check: "index-missing", Of: shares("collections")},
		{Check: "index-failed", Of: shares("collections")},
		{Check: "index-stuck", Of: shares("collections")},
	},
}

const (
	lastingShare = 0.2 // of the work, that does not pass by itself
	passingShare = 0.5
	nodeShare    = 2 // times the mean
)

func runBruteForceShare(p *Pass) error {
	written := p.writtenRows()
	bare := p.bareSealedRows()
	for _, l := range p.LoadStates {
		id := l.Collection
		w := p.workOf(id)
		if x := p.Collection(id); x == nil || x.Dropped() || w.flat || w.cost <= 0 {
			continue
		}
		p.reportBrute(id, &w, written[id], bare[id])
	}
	p.bruteNodes()
	return nil
}

// writtenRows are, by collection, growing rows that pass by themselves: they are still written, or may be, or were
// flushed just now. Of a segment that replicas lead apart they are counted once, as in its work.
func (p *Pass) writtenRows() map[model.CollectionID]int64 {
	rows := make(map[model.CollectionID]int64)
	open := p.open()
	for i := range open {
		s := &open[i]
		at := slices.IndexFunc(s.leaders, func(x model.Served) bool { return p.Once(s.Collection).Grows(x.Leader, s.ID) })
		if s.left(p.Now) || at < 0 {
			continue
		}
		if s.rows > 0 {
			rows[s.Collection] += s.rows
			continue
		}
		// Of a segment whose rows nobody says, all growing rows of its shard may be.
		_, all := p.Once(s.Collection).Growing(s.leaders[at].Leader)
		rows[s.Collection] += all
	}
	// Nor do those last that are flushed or compacted already: leaders let go of them within a minute or
	// so, for which growing-flushed gives them time.
	asked := p.askedAt()
	var seen counted
	p.eachGone(func(view model.ShardView, g model.GrowingView) {
		s := p.Segment(g.ID)
		if _, late, _ := p.goneSince(s, g, asked); late || !p.Once(view.Collection).Grows(view.LeaderView, g.ID) {
			return
		}
		if seen.first(g.ID) {
			rows[view.Collection] += p.GrowingRowsIn(view.LeaderView, g.ID)
		}
	})
	return rows
}

// bareSealedRows are, by collection, sealed rows that a node loaded without any index, in segments large and old enough to
// have one.
func (p *Pass) bareSealedRows() map[model.CollectionID]int64 {
	rows := make(map[model.CollectionID]int64)
	asked := p.askedAt()
	p.eachOdds(func(id model.CollectionID, o *odds) {
		var seen counted
		for _, x := range o.bare {
			if x.record == nil || x.record.Rows < minIndexRows || asked.Sub(versionTime(x.served.Version)) < loadGrace ||
				!p.Once(id).Sealed(x.node.Node, x.served.ID) {
				continue
			}
			if seen.first(x.served.ID) {
				rows[id] += x.record.Rows
			}
		}
	})
	return rows
}

func (p *Pass) reportBrute(id model.CollectionID, w *work, written, bare int64) {
	share := w.bruteCost / w.cost
	lastingRows := max(0, w.growingRows-written)
	lasting := w.shareOfGrowing(lastingRows)
	if w.unindexedRows > 0 {
		lasting += (w.bruteCost - w.growCost) / w.cost * min(1, float64(bare)/float64(w.unindexedRows))
	}
	name := collectionLabel(p.Cluster, id)
	brute := w.growingRows + w.unindexedRows
	f := Finding{
		Object: refCollection(p.Cluster, id),
		Evidence: []Evidence{
			{"search work by brute force", percent(share), "query nodes, weighed"},
			{"of that lasting", percent(lasting), "worked out"},
			{"growing rows", number(w.growingRows), "query nodes"},
			{"sealed rows without an index", number(w.unindexedRows), "query nodes"},
			{"rows in memory", number(w.rows), "query nodes"},
		},
		Objects: p.bruteHolders(id),
	}
	switch {
	case lasting >= lastingShare:
		f.Severity, f.Cost = Warning, p.costing(id, lasting)
		f.Message = fmt.Sprintf("collection %s: %s of the search work is brute force, on %s of %s; %s of it does not pass by itself",
			name, percent(share), number(brute), plural(w.rows, "row"), percent(lasting/share))
		f.Impact = "Behind the index searches would take hardly any of this work."
		if rest := 1 - lasting; rest > 0.05 {
			f.Impact = fmt.Sprintf("Searches take up to %.1f times the work that they would take behind the index.", 1/rest)
		}
		f.Hint = "why its sealed segments have none: kitescope diagnose --only index-not-loaded,index-missing,index-failed,index-stuck"
		if lastingRows > 0 {
			f.Hint = flushHint(p.Cluster, id)
		}
	case share >= passingShare:
		f.Severity = Info
		f.Message = fmt.Sprintf("collection %s: %s of the search work is brute force, on %s of %s, while rows are inserted or indexed",
			name, percent(share), number(brute), plural(w.rows, "row"))
		f.Impact = "Searches are slower as long as the inserts go on; it passes with the next flushes."
		f.Hint = "nothing, if the inserts are meant to go on; after them " + flushHint(p.Cluster, id)
	default:
		return
	}
	p.Report(f)
}

// bruteHolders are the query nodes that compare rows of a collection one by one.
func (p *Pass) bruteHolders(id model.CollectionID) []model.Ref {
	var refs []model.Ref
	for _, g := range p.Balance.Groups {
		if g.ID != id {
			continue
		}
		for _, s := range g.Shares {
			if s.BruteRows > 0 {
				refs = append(refs, refNode("querynode", s.Node))
			}
		}
	}
	return refs
}

// bruteNodes reports query nodes of which most work is brute force, and twice as much of it as the others'.
func (p *Pass) bruteNodes() {
	brute := make(map[model.NodeID]float64)
	growing := make(map[model.NodeID]int64)
	var total float64
	for _, g := range p.Balance.Groups {
		if g.Collection == nil || flatByDesign(p.Cluster, g.ID) {
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
		p.Report(Finding{
			Severity: Info, Object: refNode("querynode", n.Node),
			Message: fmt.Sprintf("%s: %s of its search work is brute force, %s of all that there is on %s; it leads %s and has %s growing",
				n.Name(), percent(cost/n.Cost), percent(cost/total), plural(known, "query node"), plural(n.Leaders, "shard"), plural(growing[n.Node], "row")),
			Evidence: []Evidence{
				{"brute force, rows times dimensions", number(int64(cost)), "weighed"},
				{"all of its work", number(int64(n.Cost)), "weighed"},
				{"mean of the nodes", number(int64(total / float64(known))), "weighed"},
			},
			Impact: "Searches wait for this node longer than for the others.",
			Hint:   "flush what is no longer written; shard leaders are moved by balancing channels (queryCoord.autoBalanceChannel, 2.4 and later)",
		})
	}
}

// olderVersion reports whether a version is a time, and one that lies far enough back.
func olderVersion(version int64, asked time.Time, d time.Duration) bool {
	at := versionTime(version)
	return !at.IsZero() && asked.Sub(at) > d
}
