package latency

import (
	"slices"

	"kitescope/inspect/model"
)

// serving is what a query node said that it serves: how many sealed segments, and how many shards, of each collection.
type serving struct{ sealed, leads map[model.CollectionID]int }

// serving is that of all query nodes that told; nil if the processes were asked for metrics alone.
func (r *reader) serving() map[model.NodeID]*serving {
	all := map[model.NodeID]*serving{}
	for _, n := range r.c.Runtime.QueryNodes() {
		if n.Distribution != nil {
			all[n.Node] = &serving{map[model.CollectionID]int{}, map[model.CollectionID]int{}}
		}
	}
	for _, id := range r.c.Runtime.ServedCollections() {
		for _, on := range r.c.Runtime.SealedOf(id) {
			all[on.Node.Node].sealed[id] = len(on.Segments)
		}
		for _, v := range r.c.Runtime.ViewsOf(id) {
			all[v.Node.Node].leads[id]++
		}
	}
	return all
}

// owners say whose time is that of a process: of collections that requests asked for, a node may serve one alone. Where it serves
// several, or where that is not known, the time is shared.
type owners struct {
	nodes              map[model.NodeID]*serving
	sealed, leads, all map[model.NodeID]model.CollectionID
	// shared is the part of a collection's sealed segments that is on nodes with segments of others.
	shared map[model.CollectionID]float64
}

// ownersOf finds the nodes that serve one of these collections alone. Of a collection whose name the metadata does not know nobody
// knows where it is served: then no node has one owner.
func ownersOf(nodes map[model.NodeID]*serving, asked []model.CollectionID) *owners {
	o := &owners{nodes, map[model.NodeID]model.CollectionID{}, map[model.NodeID]model.CollectionID{}, map[model.NodeID]model.CollectionID{}, map[model.CollectionID]float64{}}
	if slices.Contains(asked, 0) {
		return o
	}
	total, apart := map[model.CollectionID]int{}, map[model.CollectionID]int{}
	for id, s := range nodes {
		sealed, leads := sole(asked, s.sealed), sole(asked, s.leads)
		o.sealed[id], o.leads[id], o.all[id] = sealed, leads, sole(asked, s.sealed, s.leads)
		for _, c := range asked {
			total[c] += s.sealed[c]
		}
		apart[sealed] += s.sealed[sealed]
	}
	for c, n := range total {
		if n > 0 {
			o.shared[c] = 1 - float64(apart[c])/float64(n)
		}
	}
	return o
}

// sole is the only one of some collections of which there is something; 0 if there are several, or none.
func sole(asked []model.CollectionID, counts ...map[model.CollectionID]int) (only model.CollectionID) {
	for _, c := range asked {
		for _, count := range counts {
			switch {
			case count[c] == 0 || only == c:
			case only != 0:
				return 0
			default:
				only = c
			}
		}
	}
	return only
}

// of is the collection whose time a node's is in a phase, 0 if it is that of several.
func (o *owners) of(name Name, node model.NodeID) model.CollectionID {
	switch name {
	case KernelSealed:
		return o.sealed[node]
	case KernelGrowing, ConsistencyWait: // what leaders do of their own shards
		return o.leads[node]
	case ReadQueue, ConsistencyQueue:
		return o.all[node]
	default:
		return 0
	}
}

// column is time that collections share: all of a phase, or what nodes spend in it that serve one collection alone.
type column struct {
	leaf int
	of   model.CollectionID // 0: of all
	ms   float64
}

// columns are those of all phases; told is the time of all requests, of which each phase has its share.
func (o *owners) columns(all *Budget, leaves []*Phase, list []leaning, told float64) []column {
	var columns []column
	for k, p := range leaves {
		rest := p.Share * told
		if all.Ms > 0 {
			own := map[model.CollectionID]float64{}
			for _, n := range p.Of {
				own[o.of(p.Name, n.Node)] += n.Waited / all.Ms * told
			}
			for _, l := range list {
				if ms := min(own[l.id], rest); l.id != 0 && ms > 0 {
					columns = append(columns, column{k, l.id, ms})
					rest -= ms
				}
			}
		}
		columns = append(columns, column{leaf: k, ms: rest})
	}
	return columns
}

// weight is how much of a column a collection's request is likely to have. Of the time of nodes that serve another alone it has next to
// none: what is served may have changed since.
func (o *owners) weight(c column, name Name, l leaning) float64 {
	const moved = 1e-3
	if c.of != 0 {
		if c.of == l.id {
			return 1
		}
		return moved
	}
	if shared, ok := o.shared[l.id]; ok && name == KernelSealed {
		l.sealed *= shared
		return max(moved, shared) * l.weight(name)
	}
	return l.weight(name)
}

// alone is the budget of a collection whose nodes serve no other that is asked for: all that these say is its own, and of the proxies what
// is not told by collection is as of all. nil if it shares a node, or if a node did not say what it serves.
func (r *readings) alone(o *owners, c collectionReading, id model.CollectionID, request Request) *Budget {
	own := &readings{missing: r.missing, seconds: r.seconds}
	for _, n := range r.nodes {
		s := o.nodes[n.node]
		switch {
		case id == 0 || s == nil || n.mixed:
			return nil
		case o.all[n.node] == id:
			own.nodes = append(own.nodes, n)
		case s.sealed[id]+s.leads[id] > 0:
			return nil
		}
	}
	if len(own.nodes) == 0 {
		return nil
	}
	var p proxyReading
	for _, x := range r.proxies {
		p.add(x)
	}
	whole, _ := p.total.mean()
	if task, _ := p.task.mean(); p.task.known() {
		p.task = dist{sum: max(0, c.total.sum-(whole-task)*c.total.count), count: c.total.count, whole: c.total.whole}
	}
	p.total, p.queries, p.vectors, p.failed = c.total, c.queries, Value{}, Value{}
	own.proxies = []proxyReading{p}
	b := searchBudget(own, request)
	if b == nil {
		return nil
	}
	b.Collection, b.Name, b.Database = id, c.name, c.database
	b.Root.Of = nil
	for _, x := range b.Root.Children {
		if x.Role == "proxy" && x.Known {
			x.Estimate, x.PerSecond, x.P50, x.P99 = true, Value{}, Interval{}, Interval{}
		}
	}
	return b
}

// without takes away what a collection's own budget says of phases.
func without(columns []column, leaves []*Phase, own *Budget) {
	for k, p := range leaves {
		ms := 0.0
		for _, x := range own.Root.Leaves() {
			if x.Name == p.Name && x.Parent == p.Parent {
				ms += x.Ms * own.Requests
			}
		}
		for i := range columns {
			if c := &columns[i]; c.leaf == k && (c.of == own.Collection || c.of == 0) {
				taken := min(c.ms, ms)
				if c.of != 0 {
					taken = c.ms
				}
				c.ms, ms = c.ms-taken, max(0, ms-taken)
			}
		}
	}
}
