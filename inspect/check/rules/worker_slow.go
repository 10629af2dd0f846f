package rules

import (
	"fmt"
	"slices"
	"sync"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// workerSlow finds query nodes that are slower than the others at the same work.
var workerSlow = &check.Check{
	ID:       "worker-slow",
	Title:    "Query node is slower than the others at the same work",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "node_joined:querynode segment_flushed | index_dropped collection_loaded",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.WaitForWorkers, budget.KernelSealed, budget.KernelGrowing, budget.ThreadWait},
	Doc: `One query node with a cgroup limit of 0.2 cores took 2.7 times as long as its peers, and every search waited
for it. A request waits for its slowest shard, and a shard for its slowest worker. The check compares the kernel time
per segment (` + "`milvus_querynode_sq_segment_latency`" + `), sealed with sealed and growing with growing, both as
measured and relative to the work of the node's segments (rows times dimensions; with an index, the rows that a graph
compares, weighted as in ` + "`kitescope balance`" + `): larger segments do not make a node slow. If proxies report
collections separately (2.3 and later), only segments of searched collections count, in proportion to their searches
and to the vectors of each. If nodes measure the time per vector
(` + "`milvus_querynode_segment_latency_per_vector`" + `), that must differ as much: a request of 3,000 vectors slows
only the nodes that serve its collection.

Warning: a query node that takes at least twice as long as the median of the others, in both ways (three times if
there is only one other), over 30 searches or more each, and makes the mean search at least 20% and 5 ms longer. Query
nodes of 2.3.5 with the same segments were within 20% of each other on a busy machine. Not reported: a node with
different work from its peers, as ` + "`imbalance-rows`" + ` and the like find.

A process that is paused, or lacks CPU time, measures less than others wait for it: the rest is in the unexplained
part of the breakdown. The finding includes the node's share of that, as far as leaders wait for it. The gain is the
difference to the slowest of the other nodes, which searches would wait for instead.`,
	Remedy: `Find out what is different there: a CPU limit or quota, another kind of machine, a neighbour,
swapped memory, or memory mapped from a slow disk (` + "`mmap`" + `). ` + "`kitescope profile top`" + ` shows its work.
Until it is fixed, move its segments to other nodes: ` + "`kitescope balance --plan`" + `.`,
	Run:      runWorkerSlow,
	Requests: []string{"proxy", "querynode", "streamingnode"},
	FollowsFrom: withHostStarved(check.CausedBy(check.Shares("nodes"), "process-slow", "memory-pressure",
		"cpu-skew")...),
}

const (
	slowerThanMany = 2
	slowerThanOne  = 3
	// fewCalls is the minimum number of calls for comparing the mean of a kernel.
	fewCalls = 30
)

func runWorkerSlow(p *check.Pass) {
	b := overall(p, budget.Search)
	if b == nil {
		return
	}
	list := workers(p, b)
	for _, x := range slowerNodes(p, b, list) {
		reportSlower(p, list, x)
	}
}

// slowNode is a query node that is slower than the others, with the cost to requests.
type slowNode struct {
	*worker
	kernelComparison
	cost
}

// slowerNodes returns the query nodes that are slower than the others at the same work and make searches noticeably
// slower.
func slowerNodes(p *check.Pass, b *budget.Budget, list []worker) (slow []slowNode) {
	work := sync.OnceValue(func() map[model.NodeID]*searchedWork { return workOf(p) })
	ofSealed, ofGrowing := kernelsOf(b, list, false), kernelsOf(b, list, true)
	for i := range list {
		sealed, growing := ofSealed.compare(i, work), ofGrowing.compare(i, work)
		x := sealed
		if !x.slower() || growing.slower() && growing.own > x.own {
			x = growing
		}
		if !x.slower() {
			continue
		}
		if c := slowerCost(b, list, i, &x); c.matters(findingShare) {
			slow = append(slow, slowNode{&list[i], x, c})
		}
	}
	return slow
}

// kernelComparison compares a node's kernel time per segment of one kind with the other nodes.
type kernelComparison struct {
	what                     string
	own, others              float64 // ms per segment: lower bound of this node, upper bound of the others
	estimate, othersEstimate float64 // the same as estimates instead of bounds
	ratio, ratioOfWork       float64
	compared                 int
	workKnown, comparable    bool
}

// kernels holds the kernel times of one kind of segment for all nodes with at least fewCalls calls.
type kernels struct {
	phases  []*budget.NodePhase // by node; nil: too few calls
	list    []worker
	growing bool
	// upperBounds and estimates are the upper bound and the estimate of a call on each node, sorted.
	upperBounds, estimates []float64
}

func kernelsOf(b *budget.Budget, list []worker, growing bool) *kernels {
	k := &kernels{phases: make([]*budget.NodePhase, len(list)), list: list, growing: growing}
	for i := range list {
		x := list[i].kernel(growing)
		if x == nil || x.Calls*b.Requests < fewCalls {
			continue
		}
		k.phases[i], k.upperBounds, k.estimates = x, append(k.upperBounds, x.Mean.High), append(k.estimates, x.Ms)
	}
	slices.Sort(k.upperBounds)
	slices.Sort(k.estimates)
	return k
}

// compare compares the kernel times of a node with those of the other nodes. It calls work only if the node is slower
// before its work is taken into account.
func (k *kernels) compare(i int, work func() map[model.NodeID]*searchedWork) (x kernelComparison) {
	x.what = "sealed"
	if k.growing {
		x.what = "growing"
	}
	own := k.phases[i]
	if own == nil {
		return x
	}
	x.own, x.compared, x.estimate, x.othersEstimate = own.Mean.Low, len(k.upperBounds)-1, own.Ms,
		medianWithout(k.estimates, own.Ms)
	if x.others = medianWithout(k.upperBounds, own.Mean.High); x.others <= 0 {
		return x
	}
	x.ratio, x.ratioOfWork, x.comparable = x.own/x.others, x.own/x.others, true
	if x.slower() {
		x.compareByWork(k, i, work())
	}
	return x
}

// compareByWork compares the kernel times relative to the work, if the work is known for all nodes. It also lowers the
// ratio to the ratio per vector, if that is known.
func (x *kernelComparison) compareByWork(k *kernels, i int, work map[model.NodeID]*searchedWork) {
	own := work[k.list[i].node.Node].perSegment(k.growing)
	x.workKnown = own > 0
	var weighed []float64
	for j, of := range k.phases {
		if j == i || of == nil {
			continue
		}
		each := work[k.list[j].node.Node].perSegment(k.growing)
		x.workKnown = x.workKnown && each > 0
		weighed = append(weighed, of.Mean.High/each)
	}
	if x.workKnown {
		x.ratioOfWork = x.own / own / median(weighed)
	}
	if ratio, known := k.perVector(i); known {
		x.ratioOfWork = min(x.ratioOfWork, ratio)
	}
}

// perVector returns the ratio of a node's time per vector of a segment to the median of the other nodes. Requests with
// many vectors make kernels longer only on the nodes that serve their collection.
func (k *kernels) perVector(i int) (ratio float64, known bool) {
	state := "Sealed"
	if k.growing {
		state = "Growing"
	}
	own := 0.0
	var others []float64
	for j, of := range k.phases {
		x := k.list[j].node.Process
		if of == nil || x == nil {
			continue
		}
		h, ok := metrics.NewWindow(x.Before, x.Metrics).Histogram(metrics.VectorKernel, label("query_type", "search"),
			label("segment_state", state))
		low, high, told := h.Mean()
		switch {
		case !ok || !told || high <= 0:
			return 0, false
		case j == i:
			own = low
		default:
			others = append(others, high)
		}
	}
	if len(others) == 0 {
		return 0, false
	}
	return own / median(others), true
}

func (w *worker) kernel(growing bool) *budget.NodePhase {
	if growing {
		return w.growing
	}
	return w.sealed
}

// slower reports whether a node is slower by a factor that neither chance nor different work explains.
func (x *kernelComparison) slower() bool {
	least := float64(slowerThanMany)
	if x.compared == 1 {
		least = slowerThanOne
	}
	return x.comparable && x.ratio >= least && x.ratioOfWork >= least
}

// searchedWork holds the work and the number of a node's segments, weighted by how often they are searched, so that a
// large segment without searches does not count. Work is in rows times dimensions times vectors.
type searchedWork struct {
	sealed, growing                 float64
	sealedSegments, growingSegments float64
}

// workOf sums the searched work of each node with known work.
func workOf(p *check.Pass) map[model.NodeID]*searchedWork {
	of := map[model.NodeID]*searchedWork{}
	vectors := map[model.CollectionID]float64{}
	for _, b := range budgets(p, budget.Search) {
		vectors[b.Collection] = vectorsOf(b)
	}
	p.SearchedGroups(budget.Search, func(g *balance.Group, often float64) {
		nq := max(1, vectors[g.ID])
		for _, s := range g.Shares {
			if !s.Known {
				continue
			}
			w := of[s.Node]
			if w == nil {
				w = &searchedWork{}
				of[s.Node] = w
			}
			w.growing, w.growingSegments = w.growing+often*nq*s.GrowingCost, w.growingSegments+often*float64(s.Growing)
			w.sealed, w.sealedSegments = w.sealed+often*nq*(s.Cost-s.GrowingCost),
				w.sealedSegments+often*float64(s.Sealed-s.Copies)
		}
	})
	return of
}

// perSegment returns the mean work of searching a segment, or 0 if it is unknown.
func (w *searchedWork) perSegment(growing bool) float64 {
	switch {
	case w == nil:
		return 0
	case growing && w.growingSegments > 0:
		return w.growing / w.growingSegments
	case !growing && w.sealedSegments > 0:
		return w.sealed / w.sealedSegments
	}
	return 0
}

func reportSlower(p *check.Pass, list []worker, x slowNode) {
	n := x.node
	f := check.Finding{
		Object: n.Ref(), Severity: check.Warning,
		Message: fmt.Sprintf("%s takes %s per %s segment, the others %s: searches wait %s for it", n.Name(),
			budget.Milliseconds(x.estimate), x.what, budget.Milliseconds(x.othersEstimate), x.plainShareText()),
		Impact: "Every search of what it serves waits for it, however fast the others are.",
		Fix: check.Fix(
			check.Do("find out what is different on %s: a CPU limit, another kind of machine, swapping", n.Name()),
			check.Shell(check.TopCommand(n)).Does("shows where it spends its CPU"),
			check.Shell(check.Kitescope("balance --plan")).Does("lists moves to other nodes, as a stopgap"),
		),
	}
	f = withCosts(p, f, x.cost)
	f.Evidence = append(f.Evidence, check.Count("other query nodes compared", x.compared, "query nodes /metrics"))
	if x.workKnown {
		f.Evidence = append(f.Evidence,
			check.Factf("slower at the same work by a factor of", "weighted as in kitescope balance", "%s",
				check.Number(x.ratioOfWork, "ratio", "%.1f")))
	}
	for j := range list {
		f.Evidence = append(f.Evidence, cpuFacts(list[j].node)...)
	}
	for _, s := range p.Balance.Nodes {
		if s.Node == n.Node && s.Known {
			f.Evidence = append(f.Evidence, check.Count("sealed segments", s.Sealed, n.Name()),
				check.Count("growing segments", s.Growing, n.Name()))
		}
	}
	check.DowngradeStarting(p.Facts, &f, n, "wait: it is still starting")
	p.Report(f)
}

// slowerCost returns the extra time that the mean request waits for a node, compared with a node as fast as the others.
// It is the surplus part of the node's kernel time. The same part of the unexplained wait of leaders for workers is
// added, because a process without CPU time, or a stopped one, measures nothing until it continues. The lower bounds
// count the unexplained wait in proportion to the node's share of the wait of leaders.
func slowerCost(b *budget.Budget, list []worker, i int, x *kernelComparison) cost {
	w := &list[i]
	var calls []float64
	waited := 0.0
	for j := range list {
		waited += list[j].call.Waited
		if j != i {
			calls = append(calls, list[j].call.Ms)
		}
	}
	kernels := w.call.Waited
	if w.queue != nil {
		kernels -= w.queue.Waited
	}
	longer := 1 - x.othersEstimate/x.estimate
	ms := max(0, kernels*longer)
	beyond := func(other float64) float64 { // the surplus of its calls, as often as leaders wait for it
		return w.call.Waited / max(w.call.Ms, 1e-9) * max(0, w.call.Ms-other)
	}
	ms = min(ms, beyond(median(calls)))
	c := cost{budget: b, phase: budget.WaitForWorkers}
	c.addKernels(w, ms)
	c.low = max(0, c.ms-roundingError)
	// If it were as fast as the others, requests would wait for the slowest of them.
	least := min(ms, beyond(slices.Max(calls)))
	c.gain = budget.Interval{Low: max(0, least-roundingError), High: least}
	if waited <= 0 {
		return c
	}
	share := min(1, w.call.Waited/waited)
	for _, h := range unexplainedPhases(b) {
		c.low += h.Ms * longer * share
		c.gain.Low += h.Ms * longer * share
		c.gain.High += h.Ms * longer
		c.add(h, h.Ms*longer)
	}
	c.gain.High = min(b.Ms, c.gain.High)
	c.gain.Low = min(c.gain.Low, c.gain.High)
	return c
}

// addKernels distributes ms, the wait of a search for the kernels of a node, over the phases of the kernels.
func (c *cost) addKernels(w *worker, ms float64) {
	kinds := []struct {
		name budget.Name
		of   *budget.NodePhase
	}{{budget.KernelSealed, w.sealed}, {budget.KernelGrowing, w.growing}}
	sum := 0.0
	for _, k := range kinds {
		if k.of != nil {
			sum += k.of.Waited
		}
	}
	for _, k := range kinds {
		if k.of != nil && sum > 0 {
			c.add(c.budget.Root.Find(k.name), min(k.of.Waited, ms*k.of.Waited/sum))
		}
	}
	if rest := ms - c.ms; rest > 0 { // the part outside the kernel call
		c.add(&budget.Phase{Name: budget.ThreadWait, Parent: budget.WaitForWorkers}, rest)
	}
}

// unexplainedPhases returns the unexplained phases in the waits for nodes and for workers.
func unexplainedPhases(b *budget.Budget) (list []*budget.Phase) {
	b.Root.Walk(func(x *budget.Phase, _ int) {
		if x.Name == budget.Unexplained && (x.Parent == budget.WaitForNodes || x.Parent == budget.WaitForWorkers) &&
			x.Ms > 0 {
			list = append(list, x)
		}
	})
	return list
}
