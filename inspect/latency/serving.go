package latency

import (
	"slices"

	"kitescope/inspect/model"
)

// serving maps each query node to the collections that it serves, because it has their segments or leads their
// shards.
type serving map[model.NodeID]map[model.CollectionID]bool

// serving returns the collections of all query nodes that reported their distribution. It is empty if only
// metrics were requested from the processes.
func (r *reader) serving() serving {
	all := serving{}
	for _, n := range r.c.Runtime.QueryNodes() {
		if n.Distribution != nil {
			all[n.Node] = map[model.CollectionID]bool{}
		}
	}
	for _, id := range r.c.Runtime.ServedCollections() {
		for _, on := range r.c.Runtime.SealedOf(id) {
			all[on.Node.Node][id] = true
		}
		for _, v := range r.c.Runtime.ViewsOf(id) {
			all[v.Node.Node][id] = true
		}
	}
	return all
}

// exclusiveBudget returns the budget of a collection whose nodes serve no other collection. All measurements of these
// nodes belong to the collection. Proxy phases without a collection label are taken from all requests. It
// returns nil if the collection shares a node, or if the served collections are unknown.
func (r *readings) exclusiveBudget(
	nodes serving, c collectionReading, id model.CollectionID, others []model.CollectionID, request Request,
) *Budget {
	own := &readings{missing: r.missing, seconds: r.seconds}
	for _, n := range r.nodes {
		served := nodes[n.node]
		switch shared := slices.ContainsFunc(others, func(x model.CollectionID) bool { return x != id && served[x] }); {
		case served == nil || n.mixed || served[id] && shared:
			return nil
		case served[id]:
			own.nodes = append(own.nodes, n)
		}
	}
	if len(own.nodes) == 0 {
		return nil
	}
	p := r.proxy
	whole, _ := p.total.mean()
	if task, _ := p.task.mean(); p.task.known() {
		p.task = dist{
			Sum: max(0, c.total.Sum-(whole-task)*c.total.Count), Count: c.total.Count, Truncated: c.total.Truncated,
		}
	}
	p.total, p.queries, p.vectors, p.failed = c.total, c.queries, Value{}, Value{}
	own.proxies = []proxyReading{p}
	b := searchBudget(own, request)
	if b == nil {
		return nil
	}
	b.Collection, b.Name, b.Database = id, c.name, c.database
	b.Root.Nodes = nil
	for _, x := range b.Root.Children {
		if x.Role == "proxy" && x.Known {
			x.Estimate, x.PerSecond, x.P50, x.P99 = true, Value{}, Interval{}, Interval{}
		}
	}
	return b
}
