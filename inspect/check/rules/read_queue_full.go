package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// readQueueFull reports query nodes whose reads wait in the queue.
var readQueueFull = &check.Check{
	ID:       "read-queue-full",
	Title:    "Reads wait in the queue of a query node",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "node_lost:querynode collection_loaded | config_changed:queryNode node_left:querynode",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.ReadQueue, budget.PoolWait, budget.ConsistencyQueue},
	Doc: `Searches queue on a query node although its cores are idle. A query node runs as many reads at a time as it
has cores times ` + "`queryNode.scheduler.maxReadConcurrentRatio`" + ` (default 1); others wait
(` + "`milvus_querynode_sq_queue_latency`" + `). That is fine while the cores are busy. If they are not, requests wait
because of the limit: it is too low, or, up to 2.2, each read counts as ` + "`queryNode.scheduler.cpuRatio`" + ` cores.

The check looks at query nodes where a read waits at least 5 ms, if searches spend 20% of their mean in queues, and
that run as many reads as they may (reads per second times their run time is 70% of the limit or more).

- Warning if the limit is below the number of cores and the node uses less than 80% of them; info if the machine is
  busy all the same.
- Warning if the cores are busy, 90% or more, and searches wait for 50% of their mean: the node cannot do more.
- Info for everything else: the running reads do not use the cores, because other processes on the same machine use
  them, a container quota is reached, or segments wait for a disk.

A higher limit gains at most the time in the queue: requests then may wait for cores instead. If all cores of the
machine are busy, by the use and the reports of its processes, nothing is gained.

If a node does not report its configuration or its cores, that is noted; without the limit, saturation is unknown.`,
	Remedy: `If the limit is too low, set ` + "`queryNode.scheduler.maxReadConcurrentRatio`" + ` to 1 or more (read at
startup). If cores are busy, add query nodes or replicas, or reduce work (indexes, fewer small segments, smaller
limits). If cores are idle at the default limit, check the CPU quota of the container, neighbours, and whether
segments are mapped from a slow disk.`,
	Run:      runReadQueueFull,
	Requests: []string{"proxy", "querynode", "streamingnode"},
	FollowsFrom: slices.Concat(
		check.CausedBy(waitsOnLeader, "imbalance-leaders"),
		check.CausedBy(check.Shares("nodes"), "worker-slow", "process-slow", "memory-pressure"),
		check.CausedBy(
			check.AboutSettings("queryNode.scheduler.maxReadConcurrentRatio", "queryNode.scheduler.cpuRatio"),
			"bad-switches",
		),
		check.CausedBy(surged, "more-requests"),
	),
}

// waitsOnLeader reports whether reads wait on one node alone, and at least half of the wait comes from leading
// shards.
func waitsOnLeader(_ *model.Cluster, effect, cause *check.Finding) bool {
	const mostly = 0.5
	if len(effect.Objects) > 0 || effect.Object != cause.Object {
		return false
	}
	for _, e := range effect.Slows {
		for _, c := range cause.Slows {
			if e.Request == c.Request && c.Ms >= mostly*e.Ms {
				return true
			}
		}
	}
	return false
}

const (
	ratioKey = "queryNode.scheduler.maxReadConcurrentRatio"
	// saturated is the minimum average share of the limit in use for reads to be waiting because of the limit.
	// It is below 1 because reads arrive unevenly.
	saturated = 0.7
	// idle and busy are shares of the processors in use.
	idle, busy = 0.8, 0.9
)

func runReadQueueFull(p *check.Pass) {
	b := overall(p, budget.Search)
	if b == nil {
		if b = overall(p, budget.Query); b == nil {
			return
		}
	}
	whole, ok := costOf(b, budget.ReadQueue, budget.PoolWait, budget.ConsistencyQueue)
	if !ok || !whole.matters(findingShare) {
		return
	}
	var groups [3][]waiting
	for _, w := range workers(p, b) {
		if w.queue == nil || w.queue.Mean.Low < minCostMs {
			continue
		}
		if x, ok := waitingOf(p, &w); ok {
			groups[x.reason] = append(groups[x.reason], x)
		}
	}
	for _, list := range groups {
		if len(list) > 0 {
			reportQueue(p, b, list)
		}
	}
}

// slots holds the number of reads that a node runs on average and its limit.
type slots struct {
	running, limit float64
	ratio          string // as configured; "" if unknown
	used           float64
	cores          int64
	known          bool // whether used and cores are known
}

func slotsOf(w *worker) slots {
	t := slots{}
	if w.call.PerSecond.Known {
		t.running = w.call.PerSecond.Value * max(0, w.call.Ms-w.queue.Ms) / 1000
	}
	t.used, t.cores, t.known = cores(w.node)
	if v, ok := w.node.Config.Get(model.FoldConfigKey(ratioKey)); ok {
		t.ratio = v
		if r, err := strconv.ParseFloat(v, 64); err == nil && r > 0 && t.known {
			t.limit = max(1, float64(int64(r*float64(t.cores))))
		}
	}
	return t
}

// queueReason is the reason why reads wait.
type queueReason int

const (
	lowLimit       queueReason = iota // the limit is low and processors are idle
	busyProcessors                    // all processors are busy
	otherReason                       // processors are not busy and the limit is not low
)

// waiting is a node where reads wait, with the reason.
type waiting struct {
	worker
	slots
	reason queueReason
}

// waitingOf returns the reason why reads wait on a node. ok is false if the node runs fewer reads than its
// limit allows, or if its limit or CPU use is unknown.
func waitingOf(p *check.Pass, w *worker) (x waiting, ok bool) {
	t := slotsOf(w)
	x = waiting{worker: *w, slots: t}
	switch free := t.used / float64(max(1, t.cores)); {
	case !t.known:
		p.NoteUnseen("CPU use of " + w.node.Name() + ", where reads wait " + budget.Milliseconds(w.queue.Ms) + ": " +
			facts.WhySilent(w.node))
		return x, false
	case t.limit == 0:
		p.NoteUnseen("concurrent reads of " + w.node.Name() + ", where they wait " + budget.Milliseconds(w.queue.Ms) +
			": it does not report " + ratioKey)
		return x, false
	case t.running < saturated*t.limit:
		return x, false // reads arrive in bursts, and the node starts waiting reads as soon as it can
	case t.limit < float64(t.cores) && free < idle:
		x.reason = lowLimit
	case free >= busy:
		x.reason = busyProcessors
	default:
		x.reason = otherReason
	}
	return x, true
}

// reportQueue reports the nodes with one reason as one finding, about the node with the longest wait.
func reportQueue(p *check.Pass, b *budget.Budget, list []waiting) {
	slices.SortStableFunc(list, func(x, y waiting) int { return cmp.Compare(y.queue.Waited, x.queue.Waited) })
	c := cost{budget: b, phase: budget.ReadQueue}
	for i := range list {
		c.ms += list[i].queue.Waited
	}
	c.parts = []check.SlowPart{{Phase: list[0].queuePhase(b), Ms: c.ms}}
	queue, _ := costOf(b, budget.ReadQueue, budget.ConsistencyQueue)
	if pool := b.Root.Find(budget.PoolWait); pool != nil && queue.ms > 0 {
		c.add(pool, pool.Ms*min(1, c.ms/queue.ms)) // the pool wait of these nodes, in proportion to their queues
	}
	c.low = max(0, c.ms-roundingError)
	c.gain = budget.Interval{Low: c.low, High: c.ms}
	x, n := &list[0], list[0].node
	switch m := machineOf(p, n); {
	case x.reason != lowLimit:
	case m.full(): // with more reads at a time each takes longer
		c.gain = budget.Interval{}
	default: // a read that leaves the queue earlier may wait for a processor
		c.gain.Low = 0
	}
	f := queueFinding(p, list, &c)
	f = withCosts(p, f, c)
	if m := machineOf(p, n); x.reason == lowLimit && m.processes > 1 {
		f.Evidence = append(f.Evidence,
			check.Factf("CPU of the processes on its machine", "their /metrics", "%s of %s",
				check.Number(m.own, "cores", "%.2f"), check.Number(float64(m.cores), "cores", "%.0f cores")))
	}
	for i := range list {
		x := &list[i]
		if i > 0 {
			f.Objects = append(f.Objects, x.node.Ref())
		}
		f.Evidence = append(f.Evidence,
			check.Factf("concurrent reads on "+x.node.Name(), x.node.Name()+" /metrics", "%s of %s",
				check.Number(x.running, "count", "%.1f"), check.Number(x.limit, "count", "%.0f")))
		f.Evidence = append(f.Evidence, cpuFacts(x.node)...)
	}
	p.Report(f)
}

// queueFinding returns a finding with the reason why reads wait on the node with the longest wait, and the fix.
func queueFinding(p *check.Pass, list []waiting, c *cost) check.Finding {
	x := &list[0]
	n := x.node
	f := check.Finding{Object: n.Ref(), Severity: check.Info}
	first := fmt.Sprintf("reads wait %s in the queue of %s", budget.Milliseconds(x.queue.Ms), n.Name())
	if more := len(list) - 1; more > 0 {
		first += fmt.Sprintf(" (and of %s more)", words.Number(more))
	}
	first += fmt.Sprintf(", %s of a search,", c.plainShareText())
	uses := fmt.Sprintf("%.1f of %d cores", x.used, x.cores)
	switch x.reason {
	case lowLimit:
		f.Severity = check.Warning
		f.Message = fmt.Sprintf("%s while it uses %s: it runs only %.0f at a time (%s is %s)", first, uses, x.limit,
			ratioKey, x.ratio)
		f.Impact = "Searches wait in the queue while cores are idle."
		f.Fix = check.Fix(check.Do("set queryNode.scheduler.maxReadConcurrentRatio to 1 or more in milvus.yaml and "+
			"restart %s", n.Name()).
			Restarting(p.Cluster, 2*time.Minute, "querynode"))
		if m := machineOf(p, n); m.full() {
			f.Severity = check.Info
			f.Message += fmt.Sprintf("; its machine is busy, though: %.1f of %d cores", m.busy, m.cores)
			f.Impact = "Searches wait in the queue; with a higher limit they would wait for cores instead."
			f.Fix = check.Fix(check.Do("free cores first: check what else runs on the machine of %s; then raise "+
				"queryNode.scheduler.maxReadConcurrentRatio", n.Name()).
				Restarting(p.Cluster, 2*time.Minute, "querynode"))
		}
	case busyProcessors:
		f.Severity = c.severity()
		f.Message = fmt.Sprintf("%s because its cores are busy: %s", first, uses)
		f.Impact = "The node works at its limit: more requests only wait longer."
		f.Fix = check.Fix(check.Do("add query nodes or replicas").
			Interrupting(5*time.Minute, "nothing"),
			check.Do("or reduce the work per search: indexes, fewer small segments, smaller limits"))
	default:
		f.Message = fmt.Sprintf("%s while it uses %s, running %.0f at a time: the running reads do not get CPU time, "+
			"or wait for a disk", first, uses, x.limit)
		f.Impact = "Searches queue behind others that wait for CPU time (a quota, neighbours) or for a disk."
		f.Fix = check.Fix(check.Do("check the CPU quota of %s, what else runs on its machine, and whether its "+
			"segments are mapped from a disk", n.Name()))
	}
	return f
}
