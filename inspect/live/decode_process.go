package live

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"net"
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// Methods of HTTP requests.
const (
	metricsPath   = "/metrics"
	methodMetrics = "GET " + metricsPath
	healthzPath   = "/healthz"
	methodHealthz = "GET " + healthzPath
)

// configMetricsPort is the key under which a process stores the port of its HTTP server (milvus
// internal/http/server.go saves it under the folded key at startup).
const configMetricsPort = "commonmetricsport"

// processRecords holds the HTTP responses of a process.
type processRecords struct {
	model.Process
	// queried holds the sessions for which the process was queried. named holds the sessions that the process's own
	// metrics name, which are more reliable.
	queried, named map[sessionKey]bool
	dates          dates // of pages
}

// addHTTP decodes an HTTP response. A process is identified by its address. Text from a file has none and is
// identified by the session that it names.
func (d *Decoder) addHTTP(r *Record) {
	key := r.Address
	if key == "" {
		key = "?" + sessionKey{r.Role, r.Node}.String()
	}
	p := d.processes[key]
	if p == nil {
		p = &processRecords{
			Process: model.Process{Address: d.text(redact.Address(r.Address))}, queried: map[sessionKey]bool{},
			named: map[sessionKey]bool{}, dates: dates{},
		}
		d.processes[key] = p
	}
	if r.Role != "" {
		p.queried[sessionKey{d.text(r.Role), r.Node}] = true
	}
	q := &pendingRecord{Record: r, outcome: recordOutcome(r)}
	if q.outcome != model.Answered {
		q.reason = oneLine(r.Error)
	}
	if page := pageOf(r.Method); page != nil {
		page.take(d, p, q)
	}
	p.Calls = append(p.Calls, model.Call{
		Role: d.text(r.Role), Node: r.Node, Address: p.Address, Method: d.text(oneLine(pageName(r.Method))),
		Outcome: q.outcome, Reason: q.reason, Took: r.Took,
	})
}

// takeHealthz stores the health that a process reports. An unhealthy process responds too, with the reason in
// the body.
func takeHealthz(d *Decoder, p *processRecords, q *pendingRecord) {
	if text := oneLine(string(q.Response)); text != "" && p.dates.newer(healthzPath, q.At) {
		p.Healthz = d.text(text)
	}
}

// takeMetrics stores the two newest scrapes of a process.
func takeMetrics(d *Decoder, p *processRecords, q *pendingRecord) {
	if q.outcome != model.Answered {
		if p.Metrics == nil && p.dates.newer(metricsPath, q.At) {
			p.Outcome, p.Reason = q.outcome, q.reason
		}
		return
	}
	m, err := d.parseMetrics(bytes.NewReader(q.Response), q.At)
	if err != nil {
		q.set(model.Garbled, err.Error())
		if f, ok := errors.AsType[*failure](err); ok {
			q.set(f.outcome, f.reason)
		}
		if len(m.Families) == 0 {
			if p.Metrics == nil {
				p.Outcome, p.Reason = q.outcome, q.reason
			}
			return
		}
		d.note("metrics of "+cmp.Or(p.Address, q.Node.Name(q.Role))+", in part", err.Error())
	}
	for key := range ownSessions(m) {
		p.named[sessionKey{d.text(key.role), key.node}] = true
	}
	p.addScrape(m)
	p.Outcome, p.Reason = model.Answered, ""
}

// addNames stores only which sessions a scrape names, for scrapes of addresses that no session reported.
func (d *Decoder) addNames(r Record) {
	if r.Method != methodMetrics || recordOutcome(&r) != model.Answered {
		return
	}
	p := d.processes[r.Address]
	if p == nil {
		p = &processRecords{named: map[sessionKey]bool{}}
		d.processes[r.Address] = p
	}
	if m, err := NewDecoder().parseMetrics(bytes.NewReader(r.Response), r.At); err == nil {
		maps.Copy(p.named, ownSessions(m))
	}
}

// AddBefore adds an earlier scrape of a process that has only one scrape, for rates.
func (d *Decoder) AddBefore(r Record) {
	if r.Method != methodMetrics || recordOutcome(&r) != model.Answered || r.Address == "" {
		return
	}
	p := d.processes[r.Address]
	if p == nil || p.Metrics == nil || p.Before != nil {
		return
	}
	m, err := d.parseMetrics(bytes.NewReader(r.Response), r.At)
	if err == nil && m.At.Before(p.Metrics.At) {
		p.Before = m
	}
}

// addScrape inserts a scrape by time. If times are missing, the one added later is newer.
func (p *processRecords) addScrape(m *model.Metrics) {
	switch {
	case p.Metrics == nil:
		p.Metrics = m
	case !m.At.Before(p.Metrics.At):
		p.Before, p.Metrics = p.Metrics, m
	case p.Before == nil || !m.At.Before(p.Before.At):
		p.Before = m
	}
}

// linkProcesses determines the sessions of each process and links them.
func (d *Decoder) linkProcesses() []*model.Process {
	d.addressProcesses()
	keys := slices.Sorted(maps.Keys(d.processes))
	owner := map[sessionKey]*processRecords{}
	claim := func(p *processRecords, sessions map[sessionKey]bool) {
		for key := range sessions {
			if owner[key] == nil {
				owner[key] = p
			}
		}
	}
	for _, k := range keys {
		claim(d.processes[k], d.processes[k].named)
	}
	for _, k := range keys {
		claim(d.processes[k], d.processes[k].plausibleSessions())
	}
	d.addUnqueried(owner)
	d.claimNeighbours(owner)
	list := make([]*model.Process, 0, len(keys))
	for _, k := range keys {
		p := &d.processes[k].Process
		if list = append(list, p); restarted(p.Before, p.Metrics) {
			p.Before = nil
		}
	}
	first := map[*model.Process]sessionKey{}
	for key, p := range owner {
		n := d.nodes[key]
		n.Process = &p.Process
		p.Nodes = append(p.Nodes, n.Ref())
		if known, ok := first[&p.Process]; !ok || key.String() < known.String() {
			first[&p.Process] = key
		}
	}
	for _, p := range list {
		slices.SortFunc(p.Nodes, func(a, b model.Ref) int { return cmp.Compare(a.ID, b.ID) })
		slices.SortStableFunc(p.Calls, func(a, b model.Call) int { return cmp.Compare(a.Method, b.Method) })
		for i := range p.Calls { // of several sessions of a process, it is chance for which it was queried
			if key, ok := first[p]; ok {
				p.Calls[i].Role, p.Calls[i].Node = key.role, key.node
			}
		}
	}
	return list
}

// addUnqueried adds the sessions that only metrics name. Roles under an id that was queried are not sessions of
// their own: a mixcoord counts itself under the roles it unites.
func (d *Decoder) addUnqueried(owner map[sessionKey]*processRecords) {
	asked := map[model.NodeID]bool{}
	for key := range d.nodes {
		asked[key.node] = true
	}
	for key := range owner {
		switch {
		case d.nodes[key] != nil:
		case asked[key.node]:
			delete(owner, key)
		default:
			d.session(key, "").Reason = "only its metrics are known"
		}
	}
}

// plausibleSessions returns the sessions for which the process was queried, without those that its metrics show to be
// elsewhere, because a ServerID belongs to one process.
func (p *processRecords) plausibleSessions() map[sessionKey]bool {
	ids := map[model.NodeID]bool{}
	for key := range p.named {
		ids[key.node] = true
	}
	list := maps.Clone(p.queried)
	maps.DeleteFunc(list, func(key sessionKey, _ bool) bool { return len(ids) > 0 && !ids[key.node] })
	return list
}

// claimNeighbours adds sessions that no metrics name: those that share a gRPC address with a known one (up to
// 2.4 IndexCoord registers DataCoord's), and those whose own configuration refers to the process.
func (d *Decoder) claimNeighbours(owner map[sessionKey]*processRecords) {
	byAddress := map[string]*processRecords{}
	for key, p := range owner {
		if n := d.nodes[key]; n != nil && n.Address != "" {
			byAddress[n.Address] = p
		}
	}
	for key, n := range d.nodes {
		if owner[key] != nil || n.Outcome == model.Stale || n.Outcome == model.OtherCluster {
			continue
		}
		if p := byAddress[n.Address]; p != nil {
			owner[key] = p
		} else if p := d.processes[n.httpAddress()]; p != nil {
			owner[key] = p
		}
	}
}

// httpAddress returns the address of the HTTP server that a session reports, or "" if it reports none.
func (n *liveNode) httpAddress() string {
	port, ok := n.Config.Get(configMetricsPort)
	host, _, err := net.SplitHostPort(n.Address)
	if !ok || err != nil {
		return ""
	}
	return net.JoinHostPort(host, port)
}

// addressProcesses sets the address of metrics from files to the one that one of their sessions reports, and
// merges them with the responses from that address.
func (d *Decoder) addressProcesses() {
	for _, key := range slices.Sorted(maps.Keys(d.processes)) {
		p := d.processes[key]
		if p.Address != "" {
			continue
		}
		address := ""
		for _, k := range slices.SortedFunc(maps.Keys(p.named), func(a, b sessionKey) int {
			return cmp.Compare(a.String(), b.String())
		}) {
			if n := d.nodes[k]; n != nil && address == "" {
				address = n.httpAddress()
			}
		}
		if address == "" {
			continue
		}
		delete(d.processes, key)
		had := d.processes[address]
		if had == nil {
			p.Address = d.text(address)
			d.processes[address] = p
			continue
		}
		had.join(p)
	}
}

// join merges the other records of the same process.
func (p *processRecords) join(other *processRecords) {
	for _, m := range []*model.Metrics{other.Before, other.Metrics} {
		if m != nil {
			p.addScrape(m)
			p.Outcome, p.Reason = model.Answered, ""
		}
	}
	maps.Copy(p.named, other.named)
	maps.Copy(p.queried, other.queried)
	p.Calls = append(p.Calls, other.Calls...)
	p.Healthz = cmp.Or(p.Healthz, other.Healthz)
}
