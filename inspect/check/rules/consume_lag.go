package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// consumptionLag reports query nodes that lag behind in consuming their channels.
var consumptionLag = &check.Check{
	ID:       "channel-consumption-lag",
	Title:    "Query node lags behind its channels",
	Severity: check.Error,
	Symptoms: []string{check.SearchesSlow, check.SearchesFail, check.SearchesStale},
	Starts:   "node_lost node_joined channel_reassigned | collection_loading segment_created",
	Doc: `Strong searches time out because a shard leader is minutes behind its channel. A leader answers a search
once it has consumed its channel up to the guarantee timestamp: now for Strong consistency, 5 seconds ago for Bounded
(` + "`common.gracefulTime`" + `). Time ticks arrive every 200 ms, so a healthy leader lags a few hundred milliseconds
(140 to 260 on a recorded 2.3.5 cluster under load). At a lag of 10 seconds Strong and Bounded searches wait as long.
Beyond ` + "`queryNode.scheduler.maxTimestampLag`" + ` (86,400 seconds) they fail with "timestamp lag too large" (Milvus
issues 39469, 42068, 27770).

Reported: a query node that leads shards and lags 10 seconds or more. Error from 5 minutes. Info for two minutes after
it started or got the shard (a load, a move), while it reads from the checkpoints. The lag comes from
` + "`milvus_querynode_consume_tt_lag_ms`" + ` of the collections it leads and the slowest channel in its GetMetrics
answer. If all leaders lag, there is one finding that blames no node. Until 2.5 RootCoord sends a time tick once it
has one from each registered proxy: all leaders lag while a proxy hangs, or is dead with an unexpired session
(measured on 2.3.5: 13 seconds behind when a proxy had been dead for 16). Ignored: metrics of collections that a node
no longer leads, because they keep their last value.`,
	Remedy: `Check whether the message queue (Kafka, Pulsar) responds quickly, and the CPU of the node: a leader
without CPU time falls behind. If all nodes lag, look at the queue and the time ticks of RootCoord and the proxies. If
one lags, restart it or move its shards.`,
	Parts:    model.PartObjects | model.PartServing,
	Needs:    check.NeedMetrics,
	Phases:   []latency.Name{latency.ConsistencyWait, latency.ConsistencyQueue},
	Slowness: true,
	Run:      runConsumptionLag,
	Roles:    []string{"rootcoord", "proxy", "streamingnode"},
	FollowsFrom: slices.Concat(
		check.CausedBy(nil, "queue-unreachable", "etcd-alarm", "etcd-no-leader"),
		check.CausedBy(check.Shares("nodes"), "node-unreachable", "process-slow"),
		check.CausedBy(check.StopsTicks, "node-unreachable", "stale-session"),
		withHostStarved(),
	),
}

const (
	slowLag = 10 * time.Second
	deadLag = 5 * time.Minute
)

// nodeLag is the lag of a query node in its worst channel.
type nodeLag struct {
	node        *model.LiveNode
	lag         time.Duration
	what        string // the worst channel or collection
	source      string
	assignedAt  time.Time // the time at which the node was assigned it, zero if unknown
	collections []model.CollectionID
}

func runConsumptionLag(p *check.Pass) {
	// Each response is at most as old as the first request, so a node that delayed the others does not make them
	// appear late.
	asked := p.AskedAt()
	if !p.Runtime.From.IsZero() {
		asked = p.Runtime.From.Add(-p.ClockSkew)
	}
	var late []nodeLag
	keepUp := 0
	for _, n := range p.Runtime.QueryNodes() {
		// A channel that was just assigned is read from its checkpoint. That is not a lag of the node's other
		// channels.
		b, reads := nodeLag{node: n}, nodeLag{node: n}
		known := metricLag(p, &b, &reads)
		if q := facts.QuotaOf(n); q != nil && q.SlowestChannel != "" && !q.SlowestAt.Time().IsZero() && leadsOnAny(n) {
			known = true
			// otherwise the channel is still loading and is not searched on this node
			if servesChannel(n, q.SlowestChannel) {
				given := lastAssigned(n, func(c *model.ServedChannel) bool { return c.Name == q.SlowestChannel })
				lagRecord(p, given, &b, &reads).add(asked.Sub(q.SlowestAt.Time()), q.SlowestChannel, "GetMetrics",
					given)
			}
		}
		switch {
		case !known && n.Distribution != nil && len(n.Distribution.Leaders) == 0:
		case !known && n.Outcome == model.Answered:
			p.NoteUnseen(n.Name() + ": consumption of its channels")
		case !known:
		case b.lag >= slowLag && p.CatchingUp(n, b.assignedAt):
			reportLag(p, &b) // regardless of the other nodes
		case b.lag >= slowLag:
			late = append(late, b)
		default:
			if keepUp++; reads.lag >= slowLag {
				reportLag(p, &reads)
			}
		}
	}
	if len(late) > 1 && keepUp == 0 {
		reportAllLate(p, late)
		return
	}
	for i := range late {
		reportLag(p, &late[i])
	}
}

// servesChannel reports whether a node reports that it serves a channel. It returns true if the node did not report
// its channels.
func servesChannel(n *model.LiveNode, name string) bool {
	d := n.Distribution
	return d == nil || slices.ContainsFunc(d.Channels, func(c model.ServedChannel) bool { return c.Name == name }) ||
		slices.ContainsFunc(d.Leaders, func(v model.LeaderView) bool { return v.Channel == name })
}

// lastAssigned returns the latest time at which the node was assigned one of some channels, zero if unknown.
func lastAssigned(n *model.LiveNode, of func(*model.ServedChannel) bool) (at time.Time) {
	if n.Distribution == nil {
		return at
	}
	for i := range n.Distribution.Channels {
		if c := &n.Distribution.Channels[i]; of(c) && facts.VersionTime(c.Version).After(at) {
			at = facts.VersionTime(c.Version)
		}
	}
	return at
}

// lagRecord returns the record that a lag belongs to: catchingUp if the channel was just assigned, steady otherwise.
func lagRecord(p *check.Pass, assigned time.Time, steady, catchingUp *nodeLag) *nodeLag {
	if p.InWarmup(assigned) {
		return catchingUp
	}
	return steady
}

func leadsOnAny(n *model.LiveNode) bool {
	return n.Distribution == nil || len(n.Distribution.Leaders) > 0
}

// leads reports whether a node leads a shard of a collection. It returns true if the node did not report its
// shards.
func leads(n *model.LiveNode, id model.CollectionID) bool {
	return n.Distribution == nil ||
		slices.ContainsFunc(n.Distribution.Leaders, func(v model.LeaderView) bool { return v.Collection == id })
}

// ledBy returns the number of collections of which a node leads shards, 1 if the node did not report them.
func ledBy(n *model.LiveNode) int {
	if n.Distribution == nil {
		return 1
	}
	led := make(map[model.CollectionID]bool)
	for i := range n.Distribution.Leaders {
		led[n.Distribution.Leaders[i].Collection] = true
	}
	return len(led)
}

func (b *nodeLag) add(lag time.Duration, what, source string, assigned time.Time) {
	if lag > b.lag {
		b.lag, b.what, b.source, b.assignedAt = lag, what, source, assigned
	}
}

// metricLag reads the lags of a node's collections from the metrics of its process. It returns false if there are
// none.
func metricLag(p *check.Pass, steady, catchingUp *nodeLag) bool {
	n := steady.node
	if n.Process == nil || n.Process.Metrics == nil {
		return false
	}
	known := false
	for _, s := range n.Process.Metrics.Samples("milvus_querynode_consume_tt_lag_ms") {
		id, err := strconv.ParseInt(s.Label("collection_id"), 10, 64)
		if err != nil || s.Label("node_id") != n.Node.String() || s.Label("msg_type") == "delete" {
			continue
		}
		collection := model.CollectionID(id)
		if !leads(n, collection) {
			continue
		}
		known = true
		lag := time.Duration(s.Value * float64(time.Millisecond))
		given := lastAssigned(n, func(c *model.ServedChannel) bool { return c.Collection == collection })
		b := lagRecord(p, given, steady, catchingUp)
		b.add(lag, "collection "+facts.CollectionLabel(p.Cluster, collection), "milvus_querynode_consume_tt_lag_ms",
			given)
		if lag >= slowLag {
			b.collections = append(b.collections, collection)
		}
	}
	return known
}

func (b *nodeLag) evidence(name string) check.Evidence {
	return check.Factf(name, b.node.Name()+" "+b.source, "%s, %s", check.Span(b.lag), b.what)
}

func reportLag(p *check.Pass, b *nodeLag) {
	n := b.node
	f := check.Finding{
		Severity: check.Warning, Object: n.Ref(), Cost: lagCost(p, b),
		Message:  fmt.Sprintf("%s is %s behind in consuming %s", n.Name(), words.Span(b.lag), b.what),
		Evidence: []check.Evidence{b.evidence("lag")},
		Fix: check.Fix(check.Do("check the CPU of %s, and whether the message queue is slow", n.Name()),
			check.Do("if it does not catch up, restart it or move its shards").
				Restarting(p.Cluster, 2*time.Minute, "querynode")),
	}
	setSearchImpact(&f, b.lag, " on its shards")
	addLateObjects(p, &f, b)
	check.DowngradeCatchingUp(p.Facts, &f, n, b.assignedAt)
	p.Report(f)
}

// reportAllLate reports, in one finding, that all leaders are behind, without blaming a node.
func reportAllLate(p *check.Pass, late []nodeLag) {
	worst := slices.MaxFunc(late, func(a, b nodeLag) int { return cmp.Compare(a.lag, b.lag) })
	f := check.Finding{
		Severity: check.Warning,
		Message: fmt.Sprintf("all %d query nodes that lead shards are behind, by up to %s", len(late),
			words.Span(worst.lag)),
		Fix: check.Fix(check.Do("check the message queue, and RootCoord and the proxies: they send the time ticks")),
	}
	for i := range late {
		b := &late[i]
		f.Cost = min(1, f.Cost+lagCost(p, b))
		f.Evidence = append(f.Evidence, b.evidence("lag of "+b.node.Name()))
		f.Objects = append(f.Objects, b.node.Ref())
	}
	for i := range late {
		addLateObjects(p, &f, &late[i])
	}
	setSearchImpact(&f, worst.lag, "")
	if p.Now.IsZero() { // the nodes may have started just now
		f.Severity, f.Cost = check.Info, 0
	}
	p.Report(f)
}

func lagCost(p *check.Pass, b *nodeLag) float64 {
	return p.ClusterLoss(float64(ledBy(b.node))*min(1, float64(b.lag)/float64(deadLag))) / 2
}

// setSearchImpact sets the impact and severity of a lag for searches.
func setSearchImpact(f *check.Finding, lag time.Duration, where string) {
	does := "wait that long"
	if lag >= deadLag {
		f.Severity, does = check.Error, "time out"
	}
	f.Impact = "Searches with Strong or Bounded consistency" + where + " " + does +
		"; other searches miss the newest rows."
}

// addLateObjects adds the late collections and channels to f.
func addLateObjects(p *check.Pass, f *check.Finding, b *nodeLag) {
	add := func(refs ...model.Ref) {
		for _, r := range refs {
			if !slices.Contains(f.Objects, r) {
				f.Objects = append(f.Objects, r)
			}
		}
	}
	for _, id := range facts.CompactIDs(b.collections) {
		add(facts.RefCollection(p.Cluster, id))
	}
	if b.node.Distribution == nil {
		return
	}
	for i := range b.node.Distribution.Leaders {
		if v := &b.node.Distribution.Leaders[i]; v.Channel == b.what {
			add(facts.RefCollection(p.Cluster, v.Collection), facts.RefVChannel(v.Channel))
		}
	}
}
