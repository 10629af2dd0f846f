package latency

// waitForNodes returns the phase of the wait for the slowest leader, with its parts. room is the remaining
// time of the request for this phase, in milliseconds.
func (s *searchBuilder) waitForNodes(room float64) *Phase {
	x := s.r.missingPhase(WaitForNodes, "querynode")
	if s.calls == 0 {
		return x
	}
	var all, waits, reduces dist
	for i := range s.leaders {
		n := &s.r.nodes[s.leaders[i].index]
		all, waits, reduces = all.plus(n.leader), waits.plus(n.consistency), reduces.plus(n.shards)
		s.seconds = max(s.seconds, n.seconds)
	}
	x.setMeasured(all, s.seconds)
	x.Why = s.r.missing["querynode"]
	x.Ms, x.Mean, x.Estimate = s.nodes.limitedTo(room)
	x.Estimate = x.Estimate || x.Why != "" || s.r.nodes[s.leaders[0].index].mixed
	c := s.compose(x)
	workers := &Phase{Name: WaitForWorkers, Ms: c.workers, Mean: Interval{0, x.Ms}}
	s.workerParts(workers, c)
	s.part(x, &Phase{Name: ConsistencyWait, Ms: c.consistency, Nodes: c.consistencyOf}, waits, ConsistencyWait)
	if len(s.fan.workers) == 0 {
		workers.Known, workers.Why, workers.Children, workers.Ms = false, s.r.missing["querynode"], nil, 0
		c.rest += c.workers
	}
	x.Children = append(x.Children, workers)
	s.part(x, &Phase{Name: ReduceShards, Ms: c.reduce}, reduces, ReduceShards)
	x.Children = append(x.Children, &Phase{
		Name: Unexplained, Known: true, Ms: c.rest, Mean: Interval{0, c.rest + c.workers},
	})
	for _, p := range x.Children {
		p.Parent, p.Role, p.Estimate = WaitForNodes, "querynode", p.Known
	}
	return x
}

// composition holds the mean times of the slowest leader of a request, in milliseconds.
type composition struct {
	consistency, workers, reduce, rest float64
	consistencyOf                      []NodePhase
	// sealedChance and chance are the probability that the leader waits longest for calls of the kind. sealed
	// and growing are this probability times the mean wait in that case.
	sealed, sealedChance float64
	growing, chance      []float64 // by worker
}

// compose computes the mean times of the slowest leader.
func (s *searchBuilder) compose(x *Phase) *composition {
	c := &composition{growing: make([]float64, len(s.fan.workers)), chance: make([]float64, len(s.fan.workers))}
	means := make([]float64, len(s.leaders))
	for i := range s.leaders {
		means[i] = s.leaders[i].ms()
	}
	chance, then := s.nodes.scaledTo(x.Ms, means)
	for i := range s.leaders {
		l := &s.leaders[i]
		n := &s.r.nodes[l.index]
		p := expectedPieces(l.pieces(), then[i])
		f := chance[i]
		c.consistency, c.workers, c.reduce, c.rest = c.consistency+f*p[0], c.workers+f*p[1], c.reduce+f*p[2],
			c.rest+f*p[3]
		x.Nodes = append(x.Nodes, newNodePhase(n.role, n.node, n.leader, s.r.proxy.total.Count, n.seconds, f*then[i]))
		if n.consistency.known() {
			c.consistencyOf = append(c.consistencyOf,
				newNodePhase(n.role, n.node, n.consistency, s.r.proxy.total.Count, n.seconds, f*p[0]))
		}
		kinds, long := l.workersWait.scaledTo(p[1], l.means)
		c.sealed += f * kinds[0] * long[0]
		c.sealedChance += f * kinds[0]
		if k, ok := s.fan.index[l.index]; ok {
			c.growing[k] += f * kinds[1] * long[1]
			c.chance[k] += f * kinds[1]
		}
	}
	return c
}

// part adds a phase measured by query nodes to its parent, if the release measures it. d is the distribution
// of a single call.
func (s *searchBuilder) part(parent, p *Phase, d dist, name Name) {
	p.Parent, p.Role = parent.Name, "querynode"
	if !d.known() {
		switch name {
		case ConsistencyWait:
			p.Why = "this release counts it in the queue of query nodes"
			if s.queued == 0 {
				p.Why = "no query node has a metric for it"
			}
		case ReadQueue:
			p.Why = "no query node has a metric for it"
		default:
			return // no such work was done
		}
		p.Ms = 0
		parent.Children = append(parent.Children, p)
		return
	}
	ms := p.Ms
	p.setMeasured(d, s.seconds)
	p.Ms, p.Estimate = ms, true
	p.Mean = Interval{0, max(ms, min(parent.Mean.High, s.upperBound(d)))}
	parent.Children = append(parent.Children, p)
}

// upperBound returns the upper bound of a phase. It assumes that all calls of a request are parallel and two are
// never slow together.
func (s *searchBuilder) upperBound(d dist) float64 {
	n := 1.0
	if r := s.r.proxy.total.Count; r > 0 {
		n = max(1, d.Count/r)
	}
	_, each := d.mean()
	return max(each.High, wait([]calls{{n, d.curve()}}).high)
}
