package latency

import (
	"fmt"
	"math"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// workerSlow finds a query node that is slower than the others at the same work.
var workerSlow = &check.Check{
	ID:       "worker-slow",
	Title:    "A query node is slower than the others at the same work",
	Severity: check.Warning,
	Since:    "0.10",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.WaitForWorkers, budget.KernelSealed, budget.KernelGrowing, budget.ThreadWait},
	Doc: `A request waits for its slowest shard, and a shard for its slowest worker: one slow query node makes all searches of what it has slow. Compared is how long kernels take on one segment (` + "`milvus_querynode_sq_segment_latency`" + `), sealed with sealed and
growing with growing, as it is and for the work that a segment of the node is (rows times dimensions, behind an index what a graph compares, as ` + "`kitescope balance`" + ` weighs it): who has larger segments is not slow.

A finding is a query node that takes twice as long as the median of the others at least, both ways (three times if there is only one other), of 30 searches or more each, and makes the mean search longer by a fifth and 5 ms at least. Query nodes of 2.3.5 with the same segments were within a fifth of
each other, on a machine that others used as well; one that a cgroup held to 0.2 cores took 2.7 times as long. It is a warning. Where the node has other work than its peers, as ` + "`imbalance-rows`" + ` and the like find, nothing is found.

A process that is stopped and goes on measures less than others wait for it: what leaders wait beside is then in the budget's unexplained part, which the gain has at most.`,
	Remedy:      `See what is different there: a CPU limit or quota, another kind of machine, a neighbour, memory that is swapped or mapped from a slow disk (` + "`mmap`" + `). ` + "`kitescope profile pull`" + ` shows what it does. Until that is mended, move its segments to others: ` + "`kitescope balance`" + `.`,
	Run:         runWorkerSlow,
	FollowsFrom: check.CausedBy(check.Shares("nodes"), "process-slow", "memory-pressure", "cpu-skew"),
}

const (
	slowerThanMany = 2
	slowerThanOne  = 3
	// fewCalls is of how many calls on the mean of a kernel is compared.
	fewCalls = 30
)

func runWorkerSlow(p *check.Pass) error {
	if why := blind(p, "proxy", "querynode", "streamingnode"); why != "" {
		return p.Skip(why)
	}
	b := overall(p, budget.Search)
	if b == nil {
		return nil
	}
	list := workers(p, b)
	for i := range list {
		reportSlower(p, b, list, i)
	}
	return nil
}

// pace is how long kernels of a node take on a segment of one kind, against the others.
type pace struct {
	what                string
	own, others         float64 // ms of one segment: at least, of the others at most
	likely, usual       float64 // the same, most likely
	ratio, ratioOfWork  float64
	compared            int
	workKnown, compares bool
}

// paceOf compares a node's kernels with those of the others.
func paceOf(p *check.Pass, b *budget.Budget, list []worker, i int, growing bool) (x pace) {
	x.what = "sealed"
	if growing {
		x.what = "growing"
	}
	own := list[i].kernel(growing)
	if own == nil || own.Calls*b.Requests < fewCalls {
		return x
	}
	ownWork := segmentWork(p, list[i].node.Node, growing)
	x.workKnown = ownWork > 0
	var raw, weighed, usual []float64
	for j := range list {
		k := list[j].kernel(growing)
		if j == i || k == nil || k.Calls*b.Requests < fewCalls {
			continue
		}
		raw, usual = append(raw, k.Mean.High), append(usual, k.Ms)
		work := segmentWork(p, list[j].node.Node, growing)
		x.workKnown = x.workKnown && work > 0
		weighed = append(weighed, k.Mean.High/work)
	}
	x.own, x.compared, x.likely, x.usual = own.Mean.Low, len(raw), own.Ms, middle(usual)
	if x.others = middle(raw); x.others <= 0 {
		return x
	}
	x.ratio, x.ratioOfWork, x.compares = x.own/x.others, x.own/x.others, true
	if x.workKnown {
		x.ratioOfWork = x.own / ownWork / middle(weighed)
	}
	return x
}

func (w *worker) kernel(growing bool) *budget.NodePhase {
	if growing {
		return w.growing
	}
	return w.sealed
}

// slower reports whether a node is so much slower that it is no chance, and no difference of work.
func (x *pace) slower() bool {
	least := float64(slowerThanMany)
	if x.compared == 1 {
		least = slowerThanOne
	}
	return x.compares && x.ratio >= least && x.ratioOfWork >= least
}

// segmentWork is what a search of a segment of a node is on average, in rows times dimensions; 0: unknown.
func segmentWork(p *check.Pass, id model.NodeID, growing bool) float64 {
	for _, s := range p.Balance.Nodes {
		switch {
		case s.Node != id || !s.Known:
		case growing && s.Growing > 0:
			return s.GrowingCost / float64(s.Growing)
		case !growing && s.Sealed-s.Copies > 0:
			return (s.Cost - s.GrowingCost) / float64(s.Sealed-s.Copies)
		}
	}
	return 0
}

func reportSlower(p *check.Pass, b *budget.Budget, list []worker, i int) {
	sealed, growing := paceOf(p, b, list, i, false), paceOf(p, b, list, i, true)
	x := sealed
	if !x.slower() || growing.slower() && growing.own > x.own {
		x = growing
	}
	w := &list[i]
	if !x.slower() {
		return
	}
	c := slowerCost(b, list, i, x.usual/x.likely)
	if !c.matters(much) {
		return
	}
	n := w.node
	f := check.Finding{
		Object: n.Ref(), Severity: check.Warning,
		Message: fmt.Sprintf("%s takes %s for a %s segment, the others %s: searches wait %s for it", n.Name(), budget.Milliseconds(x.likely), x.what, budget.Milliseconds(x.usual), c.ofWhole()),
		Impact:  "Every search of what it serves waits for it, however fast the others are.",
		Hint:    check.Advise("see what slows it down (a CPU limit, another machine, swapping): kitescope profile pull %s; until then move its segments: kitescope balance", n.Name()),
	}
	f = found(p, f, c)
	f.Evidence = append(f.Evidence, check.Count("other query nodes compared", x.compared, "query nodes /metrics"))
	if x.workKnown {
		f.Evidence = append(f.Evidence, check.Measured("times as long for the same work", "weighed as kitescope balance does", "%s", check.Number(x.ratioOfWork, "ratio", "%.1f")))
	}
	for j := range list {
		f.Evidence = append(f.Evidence, usesFacts(list[j].node)...)
	}
	for _, s := range p.Balance.Nodes {
		if s.Node == n.Node && s.Known {
			f.Evidence = append(f.Evidence, check.Count("its sealed segments", s.Sealed, n.Name()), check.Count("its growing segments", s.Growing, n.Name()))
		}
	}
	check.EaseStart(p.Facts, &f, n, "nothing yet: it is starting")
	p.Report(f)
}

// slowerCost is what the mean request waits for a node more than it would if the node took as long as the others, which is that
// part of its kernels' time.
func slowerCost(b *budget.Budget, list []worker, i int, part float64) cost {
	w := &list[i]
	var calls []float64
	for j := range list {
		if j != i {
			calls = append(calls, list[j].call.Ms)
		}
	}
	kernels := w.call.Waited
	if w.queue != nil {
		kernels -= w.queue.Waited
	}
	c := cost{of: b, phase: budget.WaitForWorkers}
	c.ms = max(0, kernels*(1-part))
	if w.call.Ms > 0 {
		// No more than what its calls take longer than those of the others, as often as it is the one that is waited for.
		c.ms = min(c.ms, max(0, w.call.Waited/w.call.Ms*(w.call.Ms-middle(calls))))
	}
	c.low = max(0, c.ms-cut)
	c.gain = budget.Interval{Low: c.low, High: min(b.Ms, c.ms+hidden(b))}
	return c
}

// hidden is what leaders wait for workers that none of these measured.
func hidden(b *budget.Budget) float64 {
	ms := 0.0
	b.Root.Walk(func(x *budget.Phase, _ int) {
		if x.Name == budget.Unexplained && (x.Parent == budget.WaitForNodes || x.Parent == budget.WaitForWorkers) {
			ms += x.Ms
		}
	})
	return math.Max(0, ms)
}
