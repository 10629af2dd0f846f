package latency

// workerParts splits the wait of leaders for workers into phases. x is the phase of this wait, and x.Ms is
// its length for a request.
func (s *searchBuilder) workerParts(x *Phase, c *composition) {
	x.Known, x.Parent = true, WaitForNodes
	p := &workerPhases{
		queue: &Phase{Name: ReadQueue}, pool: &Phase{Name: PoolWait}, thread: &Phase{Name: ThreadWait},
		sealed: &Phase{Name: KernelSealed}, growing: &Phase{Name: KernelGrowing},
		reduce: &Phase{Name: ReduceSegments}, rest: &Phase{Name: Unexplained, Known: true},
	}
	var chance, then []float64
	if c.sealedChance > 0 && s.fan.n > 0 {
		means := make([]float64, len(s.fan.workers))
		for i := range s.fan.workers {
			means[i] = s.fan.workers[i].sealed.ms()
		}
		chance, then = s.fan.sealed.scaledToSubset(c.sealed/c.sealedChance, means)
	}
	var all, queues, cores, sealed, growing, reduces dist
	for i := range s.fan.workers {
		w := &s.fan.workers[i]
		n := &s.r.nodes[w.index]
		var parts [2][]float64
		waited := c.growing[i]
		if chance != nil {
			parts[0] = times(expectedPieces(w.sealed.pieces(), then[i]), c.sealedChance*chance[i])
			waited += c.sealedChance * chance[i] * then[i]
		}
		if c.chance[i] > 0 {
			parts[1] = times(expectedPieces(w.growing.pieces(), c.growing[i]/c.chance[i]), c.chance[i])
		}
		x.Nodes = append(x.Nodes, newNodePhase(n.role, n.node, n.worker, s.r.proxy.total.Count, n.seconds, waited))
		p.add(s, w, n, parts)
		s.seconds = max(s.seconds, n.seconds)
		s.queued += n.queue.Count
		if n.consistency.Count == 0 && n.leader.Count > 0 {
			p.queue.Name = ConsistencyQueue
		}
		all, queues, cores = all.plus(n.worker), queues.plus(n.queue), cores.plus(n.core)
		sealed, growing, reduces = sealed.plus(n.sealed), growing.plus(n.growing), reduces.plus(n.segments)
	}
	x.P50, x.P99, x.PerSecond = all.quantile(0.5), all.quantile(0.99), perSecond(all.Count, s.seconds)
	s.part(x, p.queue, queues, ReadQueue)
	if p.pool.Ms > 0 {
		p.pool.Known, p.pool.Parent, p.pool.Role, p.pool.Estimate, p.pool.Mean = true, WaitForWorkers, "querynode",
			true, Interval{0, max(p.pool.Ms, x.Mean.High)}
		x.Children = append(x.Children, p.pool)
	}
	s.part(x, p.thread, cores, ThreadWait)
	// The metric measures the kernel, not the wait for a thread.
	p.thread.P50, p.thread.P99, p.thread.Mean = Interval{}, Interval{}, Interval{0, max(p.thread.Ms, x.Mean.High)}
	s.part(x, p.sealed, sealed, KernelSealed)
	s.part(x, p.growing, growing, KernelGrowing)
	s.part(x, p.reduce, reduces, ReduceSegments)
	p.rest.Parent, p.rest.Role, p.rest.Estimate = WaitForWorkers, "querynode", true
	p.rest.Ms = x.Ms
	for _, c := range x.Children {
		p.rest.Ms -= c.Ms
	}
	p.rest.Ms = max(0, p.rest.Ms)
	p.rest.Mean = Interval{0, x.Mean.High}
	x.Children = append(x.Children, p.rest)
}

// workerPhases holds the phases of workers.
type workerPhases struct{ queue, pool, thread, sealed, growing, reduce, rest *Phase }

// add adds the wait of a request for a worker: queue, kernel, reduction and the rest, for calls on sealed and
// on growing segments.
func (p *workerPhases) add(s *searchBuilder, w *worker, n *nodeReading, parts [2][]float64) {
	queued := 0.0
	for k, t := range parts {
		if t == nil {
			continue
		}
		kernel, each := p.sealed, n.sealed
		if k == 1 {
			kernel, each = p.growing, n.growing
		}
		queued += t[0]
		p.thread.Ms += t[1] * (1 - w.core)
		kernel.Ms += t[1] * w.core
		p.reduce.Ms += t[2]
		p.pool.Ms += t[4]
		if each.known() {
			kernel.Nodes = append(kernel.Nodes,
				newNodePhase(n.role, n.node, each, s.r.proxy.total.Count, n.seconds, t[1]*w.core))
		}
	}
	p.queue.Ms += queued
	if n.queue.known() {
		p.queue.Nodes = append(p.queue.Nodes,
			newNodePhase(n.role, n.node, n.queue, s.r.proxy.total.Count, n.seconds, queued))
	}
}

func times(list []float64, f float64) []float64 {
	for i := range list {
		list[i] *= f
	}
	return list
}
