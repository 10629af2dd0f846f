package latency

import (
	"cmp"
	"math"
	"slices"
)

// searchBuilder holds the state of the computation of a search or query budget.
type searchBuilder struct {
	r       *readings
	request Request
	leaders []leader
	fan     *fanOut
	calls   float64 // of leaders, in the window
	// nodes is the wait for the slowest leader. leadersPerRequest is the mean number of leaders that a request calls.
	nodes             slowestCall
	leadersPerRequest float64
	// seconds is the longest window of a query node, queued the number of tasks in the queues of query nodes.
	seconds, queued float64
}

// searchBudget returns the budget of all searches, or of all queries. It returns nil without requests.
func searchBudget(r *readings, request Request) *Budget {
	r.sum()
	s := &searchBuilder{r: r, request: request}
	s.leaders, s.fan, s.calls = leadersOf(r)
	if !r.proxy.total.known() && s.calls == 0 {
		return nil
	}
	s.computeWait()
	return r.budget(request, s.root())
}

// budget returns the budget of all requests of a kind.
func (r *readings) budget(request Request, root *Phase) *Budget {
	p := &r.proxy
	b := &Budget{
		Request: request, Requests: p.total.Count, Failed: p.failed, PerSecond: perSecond(p.total.Count, p.seconds),
		Root: root, Ms: root.Ms, Mean: root.Mean,
		P50: p.total.quantile(0.5), P95: p.total.quantile(0.95), P99: p.total.quantile(0.99),
	}
	if p.vectors.Known {
		b.VectorsPerSecond = perSecond(p.vectors.Value, p.seconds)
	}
	b.finish()
	return b
}

// totalPhase returns the phase of the whole call.
func (r *readings) totalPhase() *Phase {
	root := (&Phase{Name: Total, Role: "proxy"}).setMeasured(r.proxy.total, r.proxy.seconds)
	for i := range r.proxies {
		x := &r.proxies[i]
		root.Nodes = append(root.Nodes,
			newNodePhase("proxy", x.node, x.total, x.total.Count, x.seconds, root.Ms*x.total.Count/r.proxy.total.Count))
	}
	return root
}

// sum adds up the measurements of all proxies.
func (r *readings) sum() {
	r.proxy = proxyReading{}
	for i := range r.proxies {
		r.proxy.add(&r.proxies[i])
	}
}

// add adds the measurements of another proxy.
func (p *proxyReading) add(o *proxyReading) {
	p.total, p.task, p.queue = p.total.plus(o.total), p.task.plus(o.task), p.queue.plus(o.queue)
	p.queries, p.send = p.queries.plus(o.queries), p.send.plus(o.send)
	p.ids, p.segments = p.ids.plus(o.ids), p.segments.plus(o.segments)
	p.reduce, p.decode, p.misses = p.reduce.plus(o.reduce), p.decode.plus(o.decode), p.misses.plus(o.misses)
	p.rows, p.cacheRequests = p.rows+o.rows, p.cacheRequests+o.cacheRequests
	p.vectors, p.failed = p.vectors.plus(o.vectors), p.failed.plus(o.failed)
	p.seconds = max(p.seconds, o.seconds)
}

func (v Value) plus(o Value) Value { return Value{v.Value + o.Value, v.Known || o.Known} }

// computeWait computes how long a request waits for the slowest of the leaders that it calls.
func (s *searchBuilder) computeWait() {
	requests := s.r.proxy.total.Count
	list := make([]calls, len(s.leaders))
	for i, l := range s.leaders {
		n := &s.r.nodes[l.index]
		list[i].curve = l.curve
		switch {
		case requests <= 0:
			list[i].n = l.n / s.calls
		case s.r.seconds && n.seconds > 0 && s.r.proxy.seconds > 0:
			list[i].n = l.n / n.seconds * s.r.proxy.seconds / requests
		default:
			list[i].n = l.n / requests
		}
		s.leadersPerRequest += list[i].n
	}
	if s.leadersPerRequest > 0 && s.leadersPerRequest < 1 { // a node has restarted, or has no metrics
		for i := range list {
			list[i].n /= s.leadersPerRequest
		}
		s.leadersPerRequest = 1
	}
	s.nodes = wait(list)
}

// root returns the tree of phases below the whole call.
func (s *searchBuilder) root() *Phase {
	p := &s.r.proxy
	if !p.total.known() {
		return s.withoutProxy(&Phase{Name: Total, Role: "proxy"})
	}
	root := s.r.totalPhase()
	left := root.Ms
	part := func(x *Phase) { left -= root.part(x, left).Ms }
	if task, bounds := p.task.mean(); p.task.known() {
		rest := max(0, root.Ms-task)
		part(&Phase{
			Name: ProxyRest, Known: true, Ms: rest,
			Mean: Interval{max(0, root.Mean.Low-bounds.High), max(0, root.Mean.High-bounds.Low)},
		})
	} else {
		part(s.r.missingPhase(ProxyRest, "proxy"))
	}
	part(s.r.measuredPhase(ProxyQueue, p.queue, 1))
	part(s.r.cache())
	reduce, decode := s.r.measuredPhase(ReduceProxy, p.reduce, 1), s.r.measuredPhase(Decode, p.decode, 1)
	nodes := s.waitForNodes(left - reduce.Ms - decode.Ms)
	part(nodes)
	part(reduce)
	part(decode)
	if again := s.requery(left); again != nil {
		part(again)
	}
	part(&Phase{
		Name: Unexplained, Known: true, Ms: left,
		Mean:     Interval{max(0, left-max(0, nodes.Mean.High-nodes.Ms)), left + max(0, nodes.Ms-nodes.Mean.Low)},
		Estimate: nodes.Estimate,
	})
	return root
}

// part adds a part of a whole request. left is the remaining time in milliseconds, which limits the part.
func (p *Phase) part(x *Phase, left float64) *Phase {
	x.Parent, x.Role = p.Name, cmp.Or(x.Role, "proxy")
	if x.Known && x.Mean.Low > p.Mean.High {
		*x = Phase{
			Name: x.Name, Parent: x.Parent, Role: x.Role, Why: "its metric exceeds the time of the whole request",
		}
	}
	x.Ms = min(x.Ms, max(0, left))
	if x.Known {
		x.Mean = Interval{min(x.Mean.Low, x.Ms), max(x.Mean.High, x.Ms)}
	}
	p.Children = append(p.Children, x)
	return x
}

// requery returns the phase of the query that follows a search with vectors in its output, until at least
// 2.5. The proxy sends this query to itself and counts it as a query (internal/proxy/task_search.go,
// Requery). Such queries cannot be distinguished from queries of clients. They are assumed to be requeries if
// a large part of a search is unexplained and the queries of the same collections take about as long as the
// unexplained part.
func (s *searchBuilder) requery(left float64) *Phase {
	const much, alike = 0.2, 0.5
	n := s.r.proxy.total.Count
	if s.request != Search || left < much*s.r.proxy.meanOf() || s.r.proxy.queries.Count > 1.05*n {
		return nil
	}
	ms, _ := s.r.proxy.queries.mean()
	ms *= s.r.proxy.queries.Count / n
	if ms < alike*left {
		return nil
	}
	return &Phase{
		Name: Requery, Known: true, Ms: min(ms, left), Mean: Interval{0, left}, Estimate: true,
		PerSecond: perSecond(s.r.proxy.queries.Count, s.r.proxy.seconds),
	}
}

// meanOf returns the mean of the whole call in milliseconds.
func (p *proxyReading) meanOf() float64 {
	ms, _ := p.total.mean()
	return ms
}

// withoutProxy returns the tree of phases if no proxy has metrics. The time of a leader is known, but the
// number of leaders for a request is not.
func (s *searchBuilder) withoutProxy(root *Phase) *Phase {
	root.Why = cmp.Or(s.r.missing["proxy"], "no proxy counted a request")
	all := 0.0
	for _, l := range s.leaders {
		all += l.n * l.ms() / s.calls
	}
	root.Ms, root.Mean = all, Interval{all, math.Inf(1)}
	root.Estimate = true
	x := s.waitForNodes(all)
	x.Parent = Total
	root.Children = []*Phase{
		s.r.missingPhase(ProxyQueue, "proxy"), x, s.r.missingPhase(ReduceProxy, "proxy"),
		s.r.missingPhase(Decode, "proxy"),
	}
	for _, c := range root.Children {
		c.Parent = Total
	}
	return root
}

// setMeasured sets the fields of a phase from its metric.
func (p *Phase) setMeasured(d dist, seconds float64) *Phase {
	p.Known = true
	p.Ms, p.Mean = d.mean()
	p.P50, p.P99, p.PerSecond = d.quantile(0.5), d.quantile(0.99), perSecond(d.Count, seconds)
	return p
}

// measuredPhase returns a proxy phase that a metric measures. The parameter perRequest is the mean number of
// observations for a request.
func (r *readings) measuredPhase(name Name, d dist, perRequest float64) *Phase {
	if !d.known() {
		return r.missingPhase(name, "proxy")
	}
	p := (&Phase{Name: name, Role: "proxy", Estimate: perRequest != 1}).setMeasured(d, r.proxy.seconds)
	p.Ms, p.Mean = p.Ms*perRequest, Interval{p.Mean.Low * perRequest, p.Mean.High * perRequest}
	return p
}

// missingPhase returns a phase without a metric.
func (r *readings) missingPhase(name Name, role string) *Phase {
	why := r.missing[role]
	if why == "" {
		why = "this release has no metric for it"
		if name == ProxyQueue {
			why = "measured since 2.4"
		}
	}
	return &Phase{Name: name, Role: role, Why: why}
}

// cache returns the phase of metadata requests to the coordinator, averaged over all kinds of requests.
func (r *readings) cache() *Phase {
	p := &r.proxy
	if p.cacheRequests <= 0 || p.misses.Count <= 0 {
		return &Phase{
			Name: MetadataCache, Known: r.missing["proxy"] == "" && p.cacheRequests > 0, Why: r.missing["proxy"],
		}
	}
	x := r.measuredPhase(MetadataCache, p.misses, p.misses.Count/p.cacheRequests)
	x.Estimate = true
	return x
}

// finish computes the shares and sorts the processes of each phase.
func (b *Budget) finish() {
	b.Root.Walk(func(p *Phase, _ int) {
		if b.Root.Ms > 0 {
			p.Share = p.Ms / b.Root.Ms
		}
		slices.SortStableFunc(p.Nodes, func(x, y NodePhase) int {
			return cmp.Or(cmp.Compare(y.Waited, x.Waited), cmp.Compare(x.Role, y.Role), cmp.Compare(x.Node, y.Node))
		})
	})
}
