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

// growingOld finds rows that stay growing: nobody inserts any more, and nothing will close their segments soon.
var growingOld = &check.Check{
	ID:       "growing-too-old",
	Title:    "Rows stay in growing segments",
	Severity: check.Warning,
	Since:    "0.3",
	Doc: `Rows that were inserted lie in growing segments until those are sealed and flushed; only then an index is built. Until
then every search compares them one by one (from some thousand rows on with a small interim index,
` + "`queryNode.segcore.interimIndex`" + `), on the shard leader's node alone. DataCoord seals a segment by itself in three cases:

- it is full: ` + "`sealProportion`" + ` of its largest size, see growing-too-large;
- nothing was written for ` + "`maxIdleTime`" + ` (10 minutes) **and** it is larger than ` + "`minSizeFromIdleToSealed`" + ` (16 MB). A smaller one
  is never sealed for being idle; where 16 MB is more than a full segment, none ever is;
- it is as old as ` + "`maxLife`" + ` (24 hours).

So some thousand rows that are inserted and not flushed cost each search for up to a day. Users meet this as "search is slow
after a small insert" (milvus issues 21215, 15344).

A finding is: rows of a loaded collection to which nothing was written for 2 minutes, and which idle sealing does not reach;
a warning if they cost a tenth of the collection's search work, else an information. Also: a segment past ` + "`maxLife`" + `, one that idle
sealing should have closed, and one that is sealed and not flushed because its channel stands still (milvus issue 29092).

No finding is a segment that is being written, however large its part of the work: that is the price of inserting. When a segment was last
written is told by DataCoord's memory, by a streaming node's record, or by etcd up to the channel's checkpoint; where none
of them tells, a segment counts as left alone if it is 2 minutes old and its shard leaders consume no inserts at all, else it is said to be unknown. Limits are those of the cluster's own configuration, else the version's defaults.`,
	Remedy: `Flush after a batch of inserts: ` + "`Collection(NAME).flush()`" + ` or ` + "`MilvusClient.flush(NAME)`" + `. The index is built and loaded within
seconds to minutes, and the growing segment is released about 15 seconds after the sealed one is there. Do not flush after each
small insert: each flush makes a segment of its own, and many small segments are a finding, too. Where small batches come all the time,
a lower ` + "`dataCoord.segment.minSizeFromIdleToSealed`" + ` lets idle sealing do it. Segments past their limits mean that DataCoord or a
data node does not do its work: look at the channel's checkpoint and at the data node that watches it.`,
	Parts:       model.PartObjects | model.PartIndexes | model.PartServing | model.PartChannels | model.PartSegments,
	Phases:      []latency.Name{latency.KernelGrowing},
	Run:         runGrowingOld,
	Roles:       []string{"datacoord", "datanode", "streamingnode", "rootcoord"},
	FollowsFrom: check.CausedBy(check.Shares("vchannels"), "node-unreachable"),
}

// oldRows are the segments of one collection that stay growing.
type oldRows struct {
	idle, overdue, stuck []model.SegmentID
	rows                 int64
	leaders              []model.NodeID
	channels             map[string]bool
	// since is the last write among the idle ones; started the start of the oldest, untilLife when it is sealed at last.
	since, started time.Time
	largest        int64 // MaxRows of the idle ones
	by             string
	unsure         int
}

// What DataCoord is given beyond its own limits: it looks at segments with each time tick of their channel, and
// a data node then writes them.
const (
	overdueGrace  = 10 * time.Minute
	idleSealGrace = 3 * time.Minute
)

func runGrowingOld(p *check.Pass) error {
	open := p.Open()
	if len(open) == 0 {
		return nil
	}
	policy := p.SealPolicy()
	now := p.Now
	for start := 0; start < len(open); {
		end := start
		id := open[start].Collection
		for end < len(open) && open[end].Collection == id {
			end++
		}
		reportOld(p, id, gatherOld(p, &policy, open[start:end], now), &policy)
		start = end
	}
	return nil
}

func gatherOld(p *check.Pass, policy *facts.SealPolicy, open []facts.OpenSegment, now time.Time) *oldRows {
	var o oldRows
	loaded := facts.IsLoaded(p.Cluster, open[0].Collection)
	for i := range open {
		s := &open[i]
		idle, isIdle := s.IdleFor(now)
		switch {
		case s.State != model.SegmentGrowing:
			if v := p.VChannel(s.VChannel); v != nil && now.Sub(v.Checkpoint.At.Time()) > overdueGrace && now.Sub(s.ExpireAt.Time()) > overdueGrace && !s.ExpireAt.Time().IsZero() {
				o.stuck = append(o.stuck, s.ID)
				o.take(s)
			}
		// Up to 2.1 a segment's life counted from the last allocation.
		case !s.StartedAt.IsZero() && now.Sub(s.StartedAt) > policy.MaxLife+overdueGrace && !facts.IsLegacy(p.Cluster),
			policy.Known && policy.SealsIdle(s) && isIdle && idle > policy.MaxIdle+idleSealGrace:
			o.overdue = append(o.overdue, s.ID)
			o.take(s)
		case !loaded:
		case s.Rows > 0 && s.Left(now) && !policy.SealsIdle(s), s.Rows > 0 && isIdle && idle > policy.MaxIdle+idleSealGrace:
			o.idle = append(o.idle, s.ID)
			o.take(s)
			o.largest = max(o.largest, s.MaxRows)
			if s.WrittenAt.After(o.since) {
				o.since, o.by = s.WrittenAt, s.By
			}
		case s.Unsure(now):
			o.unsure++
		}
	}
	return &o
}

// take counts one segment.
func (o *oldRows) take(s *facts.OpenSegment) {
	o.rows += s.Rows
	for _, l := range s.Leaders {
		o.leaders = append(o.leaders, l.Node.Node)
	}
	if o.channels == nil {
		o.channels = make(map[string]bool)
	}
	o.channels[s.VChannel] = true
	if o.started.IsZero() || !s.StartedAt.IsZero() && s.StartedAt.Before(o.started) {
		o.started = s.StartedAt
	}
}

func reportOld(p *check.Pass, id model.CollectionID, o *oldRows, policy *facts.SealPolicy) {
	name := facts.CollectionLabel(p.Cluster, id)
	if o.unsure > 0 {
		p.Unseen(fmt.Sprintf("collection %s: when rows were last written to %s", name, words.Plural(o.unsure, "growing segment")))
	}
	count := len(o.idle) + len(o.overdue) + len(o.stuck)
	if count == 0 {
		return
	}
	w := p.WorkOf(id)
	cost := w.ShareOfGrowing(o.rows)
	f := check.Finding{Severity: check.Warning, Object: facts.RefCollection(p.Cluster, id), Cost: p.Costing(id, cost)}
	rows := words.Plural(o.rows, "row") + " in " + words.Plural(count, "growing segment")
	switch {
	case len(o.overdue) > 0:
		f.Message = fmt.Sprintf("collection %s: %s, %s of them past the limits at which DataCoord seals (%s idle, %s old)",
			name, rows, words.Number(len(o.overdue)), words.Span(policy.MaxIdle), words.Span(policy.MaxLife))
	case len(o.stuck) > 0:
		f.Message = fmt.Sprintf("collection %s: %s, %s of them sealed and not flushed: the checkpoint of %s stands still",
			name, rows, words.Number(len(o.stuck)), words.Plural(len(o.channels), "channel"))
	default:
		f.Severity = idleSeverity(p, id, &w, o.rows)
		when := words.Span(p.Now.Sub(o.since)) + " after the last insert"
		switch {
		case p.Now.IsZero():
			when = "no longer written"
		case o.since.IsZero():
			when = "begun " + words.Span(p.Now.Sub(o.started)) + " ago and no longer written"
		}
		f.Message = fmt.Sprintf("collection %s: %s, %s: without a flush they stay unindexed%s",
			name, rows, when, until(o.started, p.Now, policy.MaxLife))
	}
	f.Impact = idleImpact(&w, cost, len(o.leaders) > 0)
	f.Hint = flushHint(p.Cluster, id)
	f.Evidence = o.evidence(&w, policy)
	f.Objects = append(f.Objects, facts.RefNodes(facts.QueryNodeNames(o.leaders))...)
	for _, v := range p.VChannelsOf(id) {
		if o.channels[v.Name] {
			f.Objects = append(f.Objects, facts.RefVChannel(v.Name))
		}
	}
	f.Objects = append(f.Objects, facts.SomeSegments(slices.Concat(o.idle, o.overdue, o.stuck))...)
	p.Report(f)
}

// idleSeverity weighs idle rows: a warning if they cost a tenth of the collection's search work. Where nodes
// did not say what they serve, a twentieth of its rows counts the same, unless all of them are compared anyway.
func idleSeverity(p *check.Pass, id model.CollectionID, w *facts.Work, rows int64) check.Severity {
	const costly, many = 0.1, 0.05
	if w.Known && w.Cost > 0 {
		if w.ShareOfGrowing(rows) >= costly {
			return check.Warning
		}
		return check.Info
	}
	all := p.CollectionTotals(id).Rows
	if !w.Flat && all > 0 && float64(rows) >= many*float64(all) {
		return check.Warning
	}
	return check.Info
}

func idleImpact(w *facts.Work, cost float64, served bool) string {
	switch {
	case cost > 0 && w.Flat:
		return "They are " + words.Share(cost) + " of the collection's search work; the collection is searched by brute force anyway."
	case cost > 0:
		return "Each search compares them one by one: about " + words.Share(cost) + " of the collection's search work, all of it on shard leaders."
	case served:
		return "Each search compares them one by one, on the shard leaders."
	}
	return "Searches compare them one by one; what that costs is unknown, as no query node said what it serves."
}

// until says when a segment is sealed at last.
func until(started, now time.Time, life time.Duration) string {
	if started.IsZero() || now.IsZero() {
		return " up to " + words.Span(life)
	}
	return fmt.Sprintf(" for another %s (%s at most)", words.Span(started.Add(life).Sub(now)), words.Span(life))
}

func (o *oldRows) evidence(w *facts.Work, policy *facts.SealPolicy) []check.Evidence {
	list := []check.Evidence{check.Count("growing rows", o.rows, "")}
	if !o.since.IsZero() {
		list = append(list, check.Fact("last written", facts.TimeText(o.since), o.by))
	} else if len(o.idle) > 0 {
		list = append(list, check.Fact("inserts that the shard leaders consume now", "none", "GetMetrics InsertConsumeThroughput"))
	}
	if !o.started.IsZero() {
		list = append(list, check.Fact("oldest since", facts.TimeText(o.started), "start position"))
	}
	if w.Rows > 0 {
		list = append(list, check.Count("rows in memory", w.Rows, "query nodes"))
	}
	if o.largest > 0 && !policy.Known {
		list = append(list, check.Fact("idle sealing", "unknown: DataCoord did not tell its configuration", ""))
	} else if o.largest > 0 {
		format, args := "from %s rows (%s) on", []any{check.N(policy.IdleRows(o.largest)), check.Figure{Value: policy.MinSize * (1 << 20), Unit: "bytes", Text: fmt.Sprintf("%g MB", policy.MinSize)}}
		if policy.IdleRows(o.largest) >= policy.FullRows(o.largest) {
			format, args = format+": never, a segment is full at %s rows", append(args, check.N(policy.FullRows(o.largest)))
		}
		list = append(list, check.Measured("idle sealing", policy.From, format, args...))
	}
	return append(list, check.Lasts("sealed at the age of", policy.MaxLife, policy.From))
}

// flushHint says how to flush a collection.
func flushHint(c *model.Cluster, id model.CollectionID) check.Hint {
	if c.Collection(id) == nil {
		return "flush the collection"
	}
	return collectionCall(c, id, "flush()")
}
