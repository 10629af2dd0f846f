package latency

import "cmp"

// writeBudget is where the time of all inserts, upserts or deletes goes; nil if there were none. Nothing of it runs at the same
// time but the sending to several channels, which is measured as one.
func writeBudget(w *writes, request Request) *Budget {
	var p writeReading
	for _, x := range w.proxies {
		p.add(x)
	}
	if !p.total.known() {
		return nil
	}
	b := &Budget{Request: request, Requests: p.total.Count, Failed: p.failed, PerSecond: perSecond(p.total.Count, p.seconds)}
	b.P50, b.P95, b.P99 = p.total.quantile(0.5), p.total.quantile(0.95), p.total.quantile(0.99)
	root := (&Phase{Name: Total, Role: "proxy"}).measured(p.total, p.seconds)
	b.Root, b.Ms, b.Mean = root, root.Ms, root.Mean
	for _, x := range w.proxies {
		if x.total.known() {
			root.Of = append(root.Of, of("proxy", x.node, x.total, x.total.Count, x.seconds, root.Ms*x.total.Count/p.total.Count))
		}
	}
	left := root.Ms
	part := func(x *Phase) { left -= root.part(x, left).Ms }
	part(w.told(ProxyQueue, p.queue, p.queue.Count, p.seconds, "measured from 2.4 on"))
	if p.all > 0 && p.misses.Count > 0 {
		part(w.told(MetadataCache, p.misses, p.all, p.seconds, ""))
	}
	if request != Delete {
		if p.ids.known() {
			part(w.told(AllocateIDs, p.ids, p.rows, p.seconds, ""))
		}
		if p.segments.known() {
			part(w.told(AssignSegments, p.segments, p.rows, p.seconds, ""))
		}
	}
	part(w.appended(w.told(WALAppend, p.send, p.send.Count, p.seconds, "this release has no metric of it")))
	part(&Phase{Name: Unexplained, Known: true, Ms: left, Mean: Interval{max(0, left-1), left + 1}})
	if x := w.flushed(p.total.Count); x != nil {
		part(x)
	}
	b.finish()
	return b
}

// flushed is what writing to the storage takes: later, and no part of what the client waits for. nil if nothing was flushed.
func (w *writes) flushed(requests float64) *Phase {
	var all dist
	seconds := 0.0
	p := &Phase{Name: Flush}
	for _, f := range w.flush {
		all, seconds = all.plus(f.d), max(seconds, f.seconds)
		p.Of = append(p.Of, of(f.role, f.node, f.d, requests, f.seconds, 0))
		p.Role = f.role
	}
	if !all.known() {
		return nil
	}
	p.measured(all, seconds)
	p.Call = Value{p.Ms, true}
	p.Ms, p.Mean = 0, Interval{}
	p.Why = "after the answer: no client waits for it"
	return p
}

// add adds another proxy's account.
func (p *writeReading) add(o writeReading) {
	p.total, p.queue, p.send = p.total.plus(o.total), p.queue.plus(o.queue), p.send.plus(o.send)
	p.ids, p.segments, p.misses = p.ids.plus(o.ids), p.segments.plus(o.segments), p.misses.plus(o.misses)
	p.rows, p.all, p.failed = p.rows+o.rows, p.all+o.all, p.failed.plus(o.failed)
	p.seconds = max(p.seconds, o.seconds)
}

// told is a phase that a metric measures, which so many requests share.
func (w *writes) told(name Name, d dist, requests, seconds float64, absent string) *Phase {
	p := &Phase{Name: name, Role: "proxy"}
	if !d.known() {
		p.Why = cmp.Or(w.missing["proxy"], absent)
		return p
	}
	p.measured(d, seconds)
	each := d.Count / requests
	p.Ms, p.Mean = p.Ms*each, Interval{p.Mean.Low * each, p.Mean.High * each}
	p.Estimate = each != 1
	return p
}

// appended adds what the streaming nodes say of appending to the log.
func (w *writes) appended(p *Phase) *Phase {
	for _, a := range w.append {
		if a.d.known() {
			p.Of = append(p.Of, of(a.role, a.node, a.d, 0, a.seconds, 0))
		}
	}
	return p
}
