package latency

// writeBudget returns the budget of all inserts, upserts or deletes, or nil without requests. The only
// parallel part is sending to several channels, which Milvus measures as a whole.
func writeBudget(r *readings, request Request) *Budget {
	r.sum()
	p := &r.proxy
	if !p.total.known() {
		return nil
	}
	root := r.totalPhase()
	left := root.Ms
	part := func(x *Phase) { left -= root.part(x, left).Ms }
	part(r.measuredPhase(ProxyQueue, p.queue, 1))
	if p.cacheRequests > 0 && p.misses.Count > 0 {
		part(r.cache())
	}
	if request != Delete {
		if p.ids.known() {
			part(r.measuredPhase(AllocateIDs, p.ids, p.ids.Count/p.rows))
		}
		if p.segments.known() {
			part(r.measuredPhase(AssignSegments, p.segments, p.segments.Count/p.rows))
		}
	}
	part(r.addAppends(r.measuredPhase(WALAppend, p.send, 1)))
	part(&Phase{Name: Unexplained, Known: true, Ms: left, Mean: Interval{max(0, left-1), left + 1}})
	if x := r.flushPhase(p.total.Count); x != nil {
		part(x)
	}
	return r.budget(request, root)
}

// flushPhase returns the phase of writing to the object storage, which happens later and is not part of the
// client's latency. It returns nil if nothing was flushed.
func (r *readings) flushPhase(requests float64) *Phase {
	var all dist
	seconds := 0.0
	p := &Phase{Name: Flush}
	for _, f := range r.flush {
		all, seconds = all.plus(f.d), max(seconds, f.seconds)
		p.Nodes = append(p.Nodes, newNodePhase(f.role, f.node, f.d, requests, f.seconds, 0))
		p.Role = f.role
	}
	if !all.known() {
		return nil
	}
	p.setMeasured(all, seconds)
	p.Call = Value{p.Ms, true}
	p.Ms, p.Mean = 0, Interval{}
	p.Why = "after the response: no client waits for it"
	return p
}

// addAppends adds the append times of the streaming nodes.
func (r *readings) addAppends(p *Phase) *Phase {
	for _, a := range r.append {
		if a.d.known() {
			p.Nodes = append(p.Nodes, newNodePhase(a.role, a.node, a.d, 0, a.seconds, 0))
		}
	}
	return p
}
