package latency

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// consistencyWait finds requests that wait for what was written before them.
var consistencyWait = &check.Check{
	ID:       "consistency-wait",
	Title:    "Requests spend their time waiting for consistency",
	Severity: check.Warning,
	Since:    "0.10",
	Parts:    model.PartObjects | model.PartSegments,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.ConsistencyWait, budget.ConsistencyQueue},
	Doc: `A shard leader answers once it has consumed its channel up to the request's guarantee timestamp: with Strong up to now, with Bounded up to 5 seconds ago (` + "`common.gracefulTime`" + `), with Eventually at once. What says how far
it is, are time ticks, one each 200 ms (` + "`proxy.timeTickInterval`" + `): a Strong request waits for the next one and for its way through the queue, 240 ms on a 2.3.5 that was well, however fast the search itself is. That is what
` + "`milvus_querynode_sq_wait_tsafe_latency`" + ` measures (2.3 on; before it is one with the queue of reads, and this check cannot look).

A warning is a wait of half of the mean search or query and more, 5 ms at least; from a fifth on it is an information. What the level of the collection is, the finding says; a request may ask for another one itself.

Waits beyond two and a half ticks are another thing: the stream is late, and no level but Eventually helps. Then it says how far the leaders are behind (` + "`milvus_querynode_consume_tt_lag_ms`" + `), and follows from ` + "`wal-append-slow`" + ` where the queue takes what
is written late, and from ` + "`channel-consumption-lag`" + ` where a leader does not keep up. What the cure of that gives is all but one or two ticks: who asks for Strong waits for the next one in any case, and a client that asks again at once for all of it and its way.`,
	Remedy: `Ask for no more than is needed: ` + "`consistency_level=\"Bounded\"`" + ` in the request does not find rows of the last 5 seconds and does not wait; ` + "`Session`" + ` finds what the same client has written. Where every request needs Strong, a smaller
` + "`proxy.timeTickInterval`" + ` makes waits shorter, and more messages. If waits are longer than a tick or two, see the message queue first.`,
	Run:         runConsistencyWait,
	FollowsFrom: slices.Concat(check.CausedBy(delaysTicks, "wal-append-slow"), check.CausedBy(nil, "queue-unreachable", "timetick-lag"), check.CausedBy(check.Shares("collections"), "channel-consumption-lag")),
}

// delaysTicks reports whether a slow queue is what searches wait for: one that takes messages within a tick or two delays none.
func delaysTicks(_ *model.Cluster, _, cause *check.Finding) bool {
	return slices.ContainsFunc(cause.Slows, func(s check.Slowdown) bool { return s.Phase == budget.ConsistencyWait })
}

// afterLate is what a cure of late ticks gives of a wait: one or two ticks are left.
func afterLate(c *cost, tick time.Duration) budget.Interval {
	const least, most = 1, 2
	ms := float64(tick) / float64(time.Millisecond)
	return budget.Interval{Low: max(0, c.low-most*ms), High: max(0, c.ms-least*ms)}
}

const (
	// usualTick and usualGrace are proxy.timeTickInterval and common.gracefulTime if nobody tells them (Milvus 2.3, configs/milvus.yaml).
	usualTick, usualGrace = 200 * time.Millisecond, 5 * time.Second
	// lateTicks is how many ticks an ordinary Strong request waits for at most, with the way through the queue.
	lateTicks = 2.5
)

func runConsistencyWait(p *check.Pass) error {
	if why := blind(p, "proxy", "querynode", "streamingnode"); why != "" {
		return p.Skip(why)
	}
	var costs []cost
	together := false
	for _, b := range budgets(p, budget.Search, budget.Query) {
		c, ok := costOf(b, budget.ConsistencyWait)
		if !ok {
			together = together || b.Root.Find(budget.ConsistencyQueue) != nil
			continue
		}
		if c.matters(much) {
			costs = append(costs, c)
		}
	}
	if together {
		p.Unseen("waits for consistency: this release counts them in the queue of reads")
	}
	for _, a := range gather(p, costs) {
		reportConsistency(p, a)
	}
	return nil
}

func reportConsistency(p *check.Pass, a about) {
	tick := milliseconds(p, "proxy.timeTickInterval", usualTick)
	for i := range a.costs {
		if c := &a.costs[i]; c.ms > lateTicks*float64(tick)/float64(time.Millisecond) {
			c.gain = afterLate(c, tick)
		}
	}
	c := &a.costs[0]
	lag, behind := lagOf(p, c.of.Collection)
	f := check.Finding{Object: a.object, Severity: c.severity()}
	waits := time.Duration(c.ms * float64(time.Millisecond))
	level := levelOf(p, c.of.Collection)
	switch {
	case float64(waits) > lateTicks*float64(tick):
		f.Message = fmt.Sprintf("%s waits %s for consistency: time ticks, of which one is due each %s, come late", an(c.of), c.ofWhole(), brief(tick))
		f.Impact = "Searches and queries wait until the stream has caught up, at every level but Eventually."
		f.Hint = "see the message queue and RootCoord, which sends the time ticks: kitescope diagnose --only wal-append-slow,timetick-lag,channel-consumption-lag"
	default:
		f.Message = fmt.Sprintf("%s waits %s for consistency, for a time tick (each %s)%s", an(c.of), c.ofWhole(), brief(tick), level.says)
		f.Impact = fmt.Sprintf("At a level that need not wait it takes about %s.", budget.Milliseconds(c.without()))
		f.Hint = check.Python("where rows of the last %s need not be found, ask for less: search(..., consistency_level=%s)", milliseconds(p, "common.gracefulTime", usualGrace), "Bounded")
	}
	f = found(p, f, a.costs...)
	if level.name != "" {
		f.Evidence = append(f.Evidence, check.Fact("consistency level", level.name, "etcd"))
	}
	if behind {
		f.Evidence = append(f.Evidence, check.Measured("leaders are behind by", "milvus_querynode_consume_tt_lag_ms", "%s", lasts(lag)))
	}
	p.Report(f)
}

// level is the consistency level of a collection, and what a message says of it.
type level struct{ name, says string }

func levelOf(p *check.Pass, id model.CollectionID) level {
	x := p.Collection(id)
	if x == nil || x.ConsistencyLevel == "" {
		return level{}
	}
	l := level{name: x.ConsistencyLevel, says: ": its level is " + x.ConsistencyLevel}
	if x.ConsistencyLevel != "Strong" {
		l.says = fmt.Sprintf(": its level is %s, and requests ask for more", x.ConsistencyLevel)
	}
	return l
}

// milliseconds is a setting in milliseconds, which any process may tell.
func milliseconds(p *check.Pass, key string, usual time.Duration) time.Duration {
	return time.Duration(p.SettingCount(key, usual.Milliseconds(), "proxy", "querynode", "rootcoord", "mixcoord", "standalone")) * time.Millisecond
}

// lagOf is how far the slowest leader is behind in a collection, of all collections for 0; known is false if none tells.
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
