package rules

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// consistencyWait reports requests that wait for earlier writes to become visible.
var consistencyWait = &check.Check{
	ID:       "consistency-wait",
	Title:    "Requests wait for consistency",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.SearchesStale},
	Starts:   "node_lost node_joined | channel_reassigned collection_altered",
	Parts:    model.PartObjects | model.PartSegments,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.ConsistencyWait, budget.ConsistencyQueue},
	Doc: `Strong searches take far longer than the search itself. A shard leader answers once it has consumed its
channel up to the request's guarantee timestamp: now for Strong, 5 seconds ago for Bounded
(` + "`common.gracefulTime`" + `), at once for Eventually. Time ticks, one every 200 ms
(` + "`proxy.timeTickInterval`" + `), carry the stream's time. A Strong request waits for the next tick and its way
through the queue, 240 ms on a healthy 2.3.5, however fast the search is.
` + "`milvus_querynode_sq_wait_tsafe_latency`" + ` measures this (2.3 and later; older versions count it as part of the
read queue, and this check could not run).

Warning: waits of at least 50% of the mean search or query, at least 5 ms; info from 20%. Query nodes measure the
waits of all collections together. The finding names a collection only if no other was searched in the window, or its
nodes serve no other. It includes the collection's level, or the collections at Strong; a request may override it.

Waits beyond two and a half ticks are a different problem: the stream is late, and only Eventually helps. The finding
then includes the lag of the leaders (` + "`milvus_querynode_consume_tt_lag_ms`" + `). It follows from
` + "`wal-append-slow`" + ` if the queue is slow to accept messages, and from ` + "`channel-consumption-lag`" + ` if a
leader does not keep up. Fixing that gains all but one or two ticks: a Strong request always waits for the next tick,
and a client that sends the next request at once waits a full tick and its way.`,
	Remedy: `Request no more consistency than needed: ` + "`consistency_level=\"Bounded\"`" +
		` in the request misses rows
of the last 5 seconds and does not wait; ` + "`Session`" + ` finds rows that the same client has written. If every
request needs Strong, a smaller ` + "`proxy.timeTickInterval`" + ` shortens waits but sends more messages. If waits are
longer than a tick or two, look at the message queue first.`,
	Run:      runConsistencyWait,
	Requests: []string{"proxy", "querynode", "streamingnode"},
	FollowsFrom: slices.Concat(check.CausedBy(delaysTicks, "wal-append-slow"), check.CausedBy(nil, "queue-unreachable"),
		check.CausedBy(check.ClusterWideOr(nil), "timetick-lag"),
		check.CausedBy(check.Shares("collections"), "channel-consumption-lag")),
}

// delaysTicks reports whether the slow queue in cause delays searches. A queue that accepts messages within a tick
// or two does not.
func delaysTicks(_ *model.Cluster, _, cause *check.Finding) bool {
	return slices.ContainsFunc(cause.Slows, func(s check.Slowdown) bool { return s.Phase == budget.ConsistencyWait })
}

// lateTickGain returns the gain of fixing late ticks: all of the wait but one or two ticks.
func lateTickGain(c *cost, tick time.Duration) budget.Interval {
	const least, most = 1, 2
	ms := float64(tick) / float64(time.Millisecond)
	return budget.Interval{Low: max(0, c.low-most*ms), High: max(0, c.ms-least*ms)}
}

const (
	// usualTick and usualGrace are the defaults of proxy.timeTickInterval and common.gracefulTime (Milvus 2.3,
	// configs/milvus.yaml).
	usualTick, usualGrace = 200 * time.Millisecond, 5 * time.Second
	// lateTicks is the maximum wait of an ordinary Strong request in ticks, including the way through the queue.
	lateTicks = 2.5
)

func runConsistencyWait(p *check.Pass) {
	var costs []cost
	together := false
	for _, b := range separateBudgets(p, budget.Search, budget.Query) {
		c, ok := costOf(b, budget.ConsistencyWait)
		if !ok {
			together = together || b.Root.Find(budget.ConsistencyQueue) != nil
			continue
		}
		if c.matters(findingShare) {
			costs = append(costs, c)
		}
	}
	if together {
		p.NoteUnseen("waits for consistency: this version counts them as part of the read queue")
	}
	for _, a := range gather(p, costs) {
		reportConsistency(p, a)
	}
}

func reportConsistency(p *check.Pass, a costGroup) {
	tick := milliseconds(p, "proxy.timeTickInterval", usualTick)
	for i := range a.costs {
		if c := &a.costs[i]; c.ms > lateTicks*float64(tick)/float64(time.Millisecond) {
			c.gain = lateTickGain(c, tick)
		}
	}
	c := &a.costs[0]
	lag, behind := lagOf(p, c.budget.Collection)
	f := check.Finding{Object: a.object, Severity: c.severity()}
	waits := time.Duration(c.ms * float64(time.Millisecond))
	level := levelOf(p, c.budget)
	switch {
	case float64(waits) > lateTicks*float64(tick):
		f.Message = fmt.Sprintf("%s waits %s for consistency: time ticks, due every %s, arrive late",
			requestPhrase(c.budget), c.shareText(), brief(tick))
		f.Impact = "Searches and queries wait until the stream has caught up, at every level except Eventually."
		f.Fix = check.Fix(
			check.Do("check the message queue, and RootCoord: it sends the time ticks"),
			check.Shell(check.Kitescope("diagnose --only wal-append-slow,timetick-lag,channel-consumption-lag")).
				Does("shows what delays them"),
		)
	default:
		f.Message = fmt.Sprintf("%s waits %s for consistency, for the next time tick (every %s)%s",
			requestPhrase(c.budget), c.shareText(), brief(tick), level.text)
		f.Impact = fmt.Sprintf("At a level that does not wait it takes about %s.", budget.Milliseconds(c.remainingMs()))
		f.Fix = check.Fix(check.Do("search with consistency_level=\"Bounded\" wherever rows of the last %s may be "+
			"missing from results", milliseconds(p, "common.gracefulTime", usualGrace)))
	}
	f = withCosts(p, f, a.costs...)
	if level.name != "" {
		f.Evidence = append(f.Evidence, check.Fact("consistency level", level.name, "etcd"))
	}
	if behind {
		f.Evidence = append(f.Evidence,
			check.Factf("lag of the leaders", "milvus_querynode_consume_tt_lag_ms", "%s", durationFigure(lag)))
	}
	p.Report(f)
}

// level is the consistency level of a collection, and the text about it in a message.
type level struct{ name, text string }

func levelOf(p *check.Pass, b *budget.Budget) level {
	if b.Collections > 0 {
		return strongCollections(p, b.Request)
	}
	x := p.Collection(b.Collection)
	if x == nil || x.ConsistencyLevel == "" {
		return level{}
	}
	l := level{name: x.ConsistencyLevel, text: "; its level is " + x.ConsistencyLevel}
	if x.ConsistencyLevel != "Strong" {
		l.text = fmt.Sprintf("; its level is %s, but requests use a stricter one", x.ConsistencyLevel)
	}
	return l
}

// strongCollections returns the collections at level Strong among those with requests of a kind. Their requests wait
// unless they override the level.
func strongCollections(p *check.Pass, kind budget.Request) level {
	var names []string
	for _, b := range budgets(p, kind) {
		if x := p.Collection(b.Collection); x != nil && x.ConsistencyLevel == "Strong" {
			names = append(names, x.Name)
		}
	}
	if len(names) == 0 {
		return level{}
	}
	return level{name: "Strong: " + words.Summarize(names), text: "; at level Strong: " + words.Summarize(names)}
}

// milliseconds returns a setting in milliseconds, which any process may report.
func milliseconds(p *check.Pass, key string, usual time.Duration) time.Duration {
	return time.Duration(p.SettingCount(key, usual.Milliseconds(), "proxy", "querynode", "rootcoord", "mixcoord",
		"standalone")) * time.Millisecond
}

// lagOf returns the lag of the slowest leader of a collection, or of all collections if id is 0. known is false if
// no node reports it.
func lagOf(p *check.Pass, id model.CollectionID) (lag time.Duration, known bool) {
	for _, n := range p.Runtime.QueryNodes() {
		if n.Process == nil {
			continue
		}
		for _, s := range n.Process.Metrics.Samples("milvus_querynode_consume_tt_lag_ms") {
			if id == 0 || s.Label("collection_id") == id.String() {
				known = true
				lag = max(lag, time.Duration(s.Value*float64(time.Millisecond)))
			}
		}
	}
	return lag, known
}
