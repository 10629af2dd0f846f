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

// growingOld reports rows that stay growing because inserts have stopped and their segments will not be sealed
// soon.
var growingOld = &check.Check{
	ID:       "growing-too-old",
	Title:    "Rows stay in growing segments",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.FlushesHang, check.MemoryFull},
	Starts:   "1h segment_created | node_lost:datanode node_left:datanode channel_released config_changed:segment",
	Doc: `A few thousand rows, inserted and not flushed, slow down each search for up to a day. Users report this as
"search is slow after a small insert" (Milvus issues 21215, 15344). Inserted rows are in growing segments until these
are sealed and flushed; only then an index is built. Until then every search scans them by brute force (from some
thousand rows on with a small interim index, ` + "`queryNode.segcore.interimIndex`" + `), on the shard leader's node
alone. DataCoord seals a segment on its own in three cases:

- it is full: ` + "`sealProportion`" + ` of its maximum size, see growing-too-large;
- nothing was written for ` + "`maxIdleTime`" + ` (10 minutes) **and** it is larger than
  ` + "`minSizeFromIdleToSealed`" + ` (16 MB). Smaller ones are never sealed for being idle; if 16 MB is more than a
  full segment, none is;
- it is ` + "`maxLife`" + ` (24 hours) old.

Reported: rows of a loaded collection that were not written for 2 minutes and that idle sealing does not reach.
Warning if they cost 10% of the collection's search work, otherwise info. Also a segment past ` + "`maxLife`" + `, one
that idle sealing should have closed, one that is sealed but not flushed because its channel does not advance (Milvus
issue 29092), and one that is Flushing 10 minutes after its last allocation ended (Milvus issue 25681): a data node
needs seconds.

Not reported: a segment that is being written, however large its share of the work, because inserting has this cost.
The time of the last write comes from DataCoord's memory, a streaming node's record, or etcd up to the channel's
checkpoint. If none has it, a segment counts as idle if it is 2 minutes old and its shard leaders consume no inserts
at all; otherwise it is unknown. Limits come from the cluster's configuration, or are the defaults of its version.`,
	Remedy: `Flush after a batch of inserts: ` + "`Collection(NAME).flush()`" + ` or ` + "`MilvusClient.flush(NAME)`" +
		`.
The index is built and loaded within seconds to minutes, and the growing segment is released about 15 seconds after
the sealed one is loaded. Do not flush after each small insert: each flush creates a segment, and many small segments
are a finding too. If small batches arrive all the time, lower ` + "`dataCoord.segment.minSizeFromIdleToSealed`" + ` to
let idle sealing work. If segments are past their limits, DataCoord or a data node is not doing its work: look at the
channel's checkpoint and the data node that watches it.`,
	Parts:       model.PartObjects | model.PartIndexes | model.PartServing | model.PartChannels | model.PartSegments,
	Phases:      []latency.Name{latency.KernelGrowing},
	Run:         runGrowingOld,
	Roles:       []string{"datacoord", "datanode", "streamingnode", "rootcoord"},
	FollowsFrom: check.CausedBy(check.Shares("vchannels"), "node-unreachable"),
}

// oldRows holds the segments of one collection that stay growing.
type oldRows struct {
	idle, overdue, stuck []model.SegmentID
	rows                 int64
	leaders              []model.NodeID
	channels             map[string]bool
	// since is the time of the last write to the idle segments. started is the start of the oldest segment.
	since, started time.Time
	largest        int64 // maximum MaxRows of the idle segments
	behind         bool  // the checkpoint of a stuck segment does not advance
	source         string
	unsure         int
}

// Grace periods beyond DataCoord's own limits. DataCoord checks segments at each time tick of their channel,
// and a data node writes them afterwards.
const (
	overdueGrace  = 10 * time.Minute
	idleSealGrace = 3 * time.Minute
)

func runGrowingOld(p *check.Pass) {
	open := p.Open()
	if len(open) == 0 {
		return
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
}

func gatherOld(p *check.Pass, policy *facts.SealPolicy, open []facts.OpenSegment, now time.Time) *oldRows {
	var o oldRows
	loaded := facts.IsLoaded(p.Cluster, open[0].Collection)
	for i := range open {
		s := &open[i]
		idle, isIdle := s.IdleFor(now)
		switch {
		case s.State != model.SegmentGrowing:
			limit := transientStateOf(p, "segments", "", s.State.String()).limit
			v := p.VChannel(s.VChannel)
			behind := v != nil && now.Sub(v.Checkpoint.At.Time()) > limit
			// A segment that was idle for hours may have been sealed just now. Data nodes flush within seconds.
			if since := sealedAfter(s.Segment); (behind || s.State == model.SegmentFlushing) && !since.IsZero() &&
				now.Sub(since) > limit {
				o.stuck = append(o.stuck, s.ID)
				o.add(s)
				o.behind = o.behind || behind
			}
		// Up to 2.1 a segment's life counted from the last allocation.
		case !s.StartedAt.IsZero() && now.Sub(s.StartedAt) > policy.MaxLife+overdueGrace && !facts.IsLegacy(p.Cluster),
			policy.Known && policy.SealsIdle(s) && isIdle && idle > policy.MaxIdle+idleSealGrace:
			o.overdue = append(o.overdue, s.ID)
			o.add(s)
		case !loaded:
		case s.Rows > 0 && s.Abandoned(now) && !policy.SealsIdle(s),
			s.Rows > 0 && isIdle && idle > policy.MaxIdle+idleSealGrace:
			o.idle = append(o.idle, s.ID)
			o.add(s)
			o.largest = max(o.largest, s.MaxRows)
			if s.WrittenAt.After(o.since) {
				o.since, o.source = s.WrittenAt, s.WrittenSource
			}
		case s.MaybeAbandoned(now):
			o.unsure++
		}
	}
	return &o
}

// sealedAfter returns a time after which the segment was sealed: the end of its last allocation. It returns
// zero if that is unknown.
func sealedAfter(s *model.Segment) time.Time {
	if s.ExpireAt.Time().IsZero() {
		return time.Time{}
	}
	return facts.LastTouched(s)
}

// add adds one segment to the totals.
func (o *oldRows) add(s *facts.OpenSegment) {
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
		p.NoteUnseen(fmt.Sprintf("collection %s: time of the last write to %s", name,
			words.Plural(o.unsure, "growing segment")))
	}
	count := len(o.idle) + len(o.overdue) + len(o.stuck)
	if count == 0 {
		return
	}
	w := p.WorkOf(id)
	cost := w.ShareOfGrowing(o.rows)
	f := check.Finding{
		Severity: check.Warning, Object: facts.RefCollection(p.Cluster, id), Cost: p.ClusterCost(id, cost),
	}
	rows := words.Plural(o.rows, "row") + " in " + words.Plural(count, "growing segment")
	switch {
	case len(o.overdue) > 0:
		f.Message = fmt.Sprintf("collection %s: %s, %s of these past the limits at which DataCoord seals (%s idle, "+
			"%s old)",
			name, rows, words.Number(len(o.overdue)), words.Span(policy.MaxIdle), words.Span(policy.MaxLife))
	case len(o.stuck) > 0 && !o.behind:
		f.Message = fmt.Sprintf("collection %s: %s, %s of these sealed and not flushed, though the checkpoint advances",
			name, rows, words.Number(len(o.stuck)))
	case len(o.stuck) > 0:
		f.Message = fmt.Sprintf("collection %s: %s, %s of these sealed but not flushed: the checkpoint of %s does "+
			"not advance",
			name, rows, words.Number(len(o.stuck)), words.Plural(len(o.channels), "channel"))
	default:
		f.Severity = idleSeverity(p, id, &w, o.rows)
		when := words.Span(p.Now.Sub(o.since)) + " after the last insert"
		switch {
		case p.Now.IsZero():
			when = "no longer written"
		case o.since.IsZero():
			when = "started " + words.Span(p.Now.Sub(o.started)) + " ago and no longer written"
		}
		f.Message = fmt.Sprintf("collection %s: %s, %s: unindexed until a flush%s",
			name, rows, when, until(o.started, p.Now, policy.MaxLife))
	}
	f.Impact = idleImpact(&w, cost, len(o.leaders) > 0)
	f.Fix = flushSteps(p.Cluster, id)
	if len(o.stuck) > 0 { // DataCoord has already sealed them, so another flush does not help
		f.Fix = watcherFix(p, id, o.channels)
	}
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

// watcherFix returns the steps that restart the nodes that should write the channels of a collection and do
// not.
func watcherFix(p *check.Pass, id model.CollectionID, channels map[string]bool) []check.Step {
	var names []string
	for _, v := range p.VChannelsOf(id) {
		if s := p.SessionIn(v.Watcher, "datanode", "streamingnode"); channels[v.Name] && v.Watched && s != nil &&
			!slices.Contains(names, s.Name()) {
			names = append(names, s.Name())
		}
	}
	if len(names) == 0 {
		return check.Fix(check.Do("look at the data nodes and DataCoord: no node is known to write these channels"))
	}
	return check.Fix(
		check.Do("look for these channels in the log of %s: it should write them; "+
			"another flush does not help, as the segments are sealed", names),
		check.Do("restart %s if it does not have them (channel not found)", names).
			Restarting(p.Cluster, 5*time.Minute, "datanode"),
	)
}

// idleSeverity returns a warning if idle rows cost at least a tenth of the collection's search work, and info
// otherwise. If the work is unknown, it compares with a twentieth of the collection's rows, unless all rows are
// searched by brute force anyway.
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
		return "They cost " + words.Share(cost) +
			" of the collection's search work; the collection has no index and is searched by brute force anyway."
	case cost > 0:
		return "Each search scans them by brute force: about " + words.Share(cost) +
			" of the collection's search work, all on shard leaders."
	case served:
		return "Each search scans them by brute force, on the shard leaders."
	}
	return "Searches scan them by brute force; the cost is unknown, because no query node reported what it serves."
}

// until returns the time until a segment is sealed by age, as text.
func until(started, now time.Time, life time.Duration) string {
	if started.IsZero() || now.IsZero() {
		return ", or until sealed at the age of " + words.Span(life)
	}
	return fmt.Sprintf(", or for another %s (sealed at the age of %s)", words.Span(started.Add(life).Sub(now)),
		words.Span(life))
}

func (o *oldRows) evidence(w *facts.Work, policy *facts.SealPolicy) []check.Evidence {
	list := []check.Evidence{check.Count("growing rows", o.rows, "")}
	if !o.since.IsZero() {
		list = append(list, check.Fact("last written", facts.TimeText(o.since), o.source))
	} else if len(o.idle) > 0 {
		list = append(list,
			check.Fact("inserts consumed by the shard leaders", "none", "GetMetrics InsertConsumeThroughput"))
	}
	if !o.started.IsZero() {
		list = append(list, check.Fact("start of the oldest", facts.TimeText(o.started), "start position"))
	}
	if w.Rows > 0 {
		list = append(list, check.Count("rows in memory", w.Rows, "query nodes"))
	}
	if o.largest > 0 && !policy.Known {
		list = append(list, check.Fact("idle sealing", "unknown: DataCoord did not report its configuration", ""))
	} else if o.largest > 0 {
		format, args := "from %s rows (%s)", []any{
			check.N(policy.IdleRows(o.largest)),
			check.Figure{Value: policy.MinSize * (1 << 20), Unit: "bytes", Text: fmt.Sprintf("%g MB", policy.MinSize)},
		}
		if policy.IdleRows(o.largest) >= policy.FullRows(o.largest) {
			format, args = format+": never reached, a segment is full at %s rows",
				append(args, check.N(policy.FullRows(o.largest)))
		}
		list = append(list, check.Factf("idle sealing", policy.Source, format, args...))
	}
	return append(list, check.Duration("sealed at age", policy.MaxLife, policy.Source))
}
