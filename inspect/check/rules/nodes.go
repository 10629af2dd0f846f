package rules

import (
	"slices"

	"kitescope/inspect/check"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// worker holds the phases of a query node for requests of one kind.
type worker struct {
	node *model.LiveNode
	// call is a leader's call to the node, and queue its wait in the read scheduler. sealed and growing are its kernels
	// on one segment each. A phase is nil if the node has none.
	call, queue, sealed, growing *budget.NodePhase
}

// workers returns the query nodes that leaders called for requests of a budget, sorted by id.
func workers(p *check.Pass, b *budget.Budget) []worker {
	var list []worker
	for _, n := range p.Runtime.QueryNodes() {
		w := worker{
			node: n, call: partOf(b, budget.WaitForWorkers, n), queue: partOf(b, budget.ReadQueue, n),
			sealed: partOf(b, budget.KernelSealed, n), growing: partOf(b, budget.KernelGrowing, n),
		}
		if w.queue == nil {
			w.queue = partOf(b, budget.ConsistencyQueue, n)
		}
		if w.call != nil && w.call.Calls > 0 {
			list = append(list, w)
		}
	}
	return list
}

// queuePhase returns the name of the read queue's phase in a budget.
func (w *worker) queuePhase(b *budget.Budget) budget.Name {
	if x := b.Root.Find(budget.ConsistencyQueue); x != nil && x.Known {
		return budget.ConsistencyQueue
	}
	return budget.ReadQueue
}

// partOf returns a node's part of a phase, or nil if the node reported none.
func partOf(b *budget.Budget, name budget.Name, n *model.LiveNode) *budget.NodePhase {
	x := b.Root.Find(name)
	if x == nil {
		return nil
	}
	i := slices.IndexFunc(x.Nodes, func(of budget.NodePhase) bool { return of.Node == n.Node })
	if i < 0 {
		return nil
	}
	return &x.Nodes[i]
}

// median returns the median of list, or 0 if list is empty. It sorts list.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	if n := len(list); n%2 == 0 {
		return (list[n/2-1] + list[n/2]) / 2
	}
	return list[len(list)/2]
}

// medianWithout returns the median of sorted without one of its values, or 0 if no other value is left.
func medianWithout(sorted []float64, one float64) float64 {
	at, _ := slices.BinarySearch(sorted, one)
	rest := func(i int) float64 {
		if i >= at {
			i++
		}
		return sorted[i]
	}
	switch n := len(sorted) - 1; {
	case n <= 0:
		return 0
	case n%2 == 0:
		return (rest(n/2-1) + rest(n/2)) / 2
	default:
		return rest(n / 2)
	}
}

// cores returns the number of processors that a node uses and has. known is false if one of them is unknown.
func cores(n *model.LiveNode) (used float64, has int64, known bool) {
	used, _, ok := n.Process.CPU()
	if !ok || n.System == nil || n.System.CPUs <= 0 {
		return 0, 0, false
	}
	return used, n.System.CPUs, true
}

// cpuFacts returns the CPU usage of a process as evidence.
func cpuFacts(n *model.LiveNode) []check.Evidence {
	used, over, ok := n.Process.CPU()
	if !ok {
		return nil
	}
	name, source := "CPU of "+n.Name(), n.Name()+" /metrics"
	if n.System != nil && n.System.CPUs > 0 {
		return []check.Evidence{
			check.Factf(name, source, "%s of %s over %s", check.Number(used, "cores", "%.2f"),
				check.Number(float64(n.System.CPUs), "cores", "%.0f cores"), durationFigure(over)),
		}
	}
	return []check.Evidence{
		check.Factf(name, source, "%s over %s", check.Number(used, "cores", "%.2f cores"), durationFigure(over)),
	}
}
