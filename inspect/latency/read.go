package latency

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Compute computes the budgets of a cluster from the metrics of its processes.
func Compute(c *model.Cluster) *Latency {
	r := reader{c: c, l: &Latency{}, nodes: map[*model.Process]map[string]model.NodeID{}, missing: map[string]string{}}
	if c.Runtime == nil {
		r.l.Unknown = []Unknown{{Reason: "the processes were not queried"}}
		return r.l
	}
	r.findSessions()
	for _, p := range c.Runtime.Processes {
		if p.Metrics != nil {
			r.processes = append(r.processes, &process{
				p, metrics.NewWindow(p.Before, p.Metrics), map[metrics.Name][]increase{},
			})
		}
	}
	r.window()
	nodes := r.serving()
	for _, request := range []Request{Search, Query, Insert, Upsert, Delete} {
		in := r.readings(request)
		budget := writeBudget
		if request == Search || request == Query {
			budget = searchBudget
		}
		if b := budget(in, request); b != nil {
			r.l.Budgets = append(r.l.Budgets, split(b, sumCollections(in.proxies), r.traitsOf, nodes, in)...)
		}
	}
	return r.l
}

// reader collects the input of budgets from a cluster.
type reader struct {
	c         *model.Cluster
	l         *Latency
	processes []*process
	nodes     map[*model.Process]map[string]model.NodeID // node IDs by role
	missing   map[string]string
	scraped   int // number of processes that were scraped twice
}

type process struct {
	*model.Process
	w *metrics.Window
	// increases caches the increases by metric, because most histograms are read with several label values for each
	// kind of request.
	increases map[metrics.Name][]increase
}

// increase is the increase of a series of a histogram.
type increase struct {
	labels []model.Pair
	metrics.Histogram
}

// measuredRoles holds the roles whose metrics are used in budgets.
var measuredRoles = []string{"proxy", "querynode", "streamingnode"}

// findSessions finds the sessions of each process, and the sessions with missing metrics.
func (r *reader) findSessions() {
	seen := map[string]bool{}
	for _, n := range r.c.Runtime.Nodes {
		seen[n.Name()] = true
		if n.Process != nil {
			if r.nodes[n.Process] == nil {
				r.nodes[n.Process] = map[string]model.NodeID{}
			}
			r.nodes[n.Process][n.Role] = n.Node
		}
		if why := r.missingReason(n); why != "" && slices.Contains(measuredRoles, n.Role) {
			r.unknown(Unknown{n.Role, n.Node, n.Address, why})
		}
	}
	for _, s := range r.c.Sessions {
		if slices.Contains(measuredRoles, s.Role) && !seen[s.Name()] {
			r.unknown(Unknown{s.Role, s.Node, s.Address, "its metrics are missing"})
		}
	}
	slices.SortFunc(r.l.Unknown, func(a, b Unknown) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Node, b.Node))
	})
	for _, u := range slices.Backward(r.l.Unknown) {
		role := u.Role
		if role == "streamingnode" {
			role = "querynode" // a streaming node contains a query node
		}
		r.missing[role] = u.Node.Name(u.Role) + ": " + u.Reason
	}
}

func (r *reader) unknown(u Unknown) { r.l.Unknown = append(r.l.Unknown, u) }

// missingReason returns the reason why the metrics of a process are missing or incomplete, or "" if they are complete.
func (r *reader) missingReason(n *model.LiveNode) string {
	const ask = "GET /metrics"
	p := n.Process
	if p == nil {
		return cmp.Or(r.noPort(n), n.Reason, "its metrics were not requested")
	}
	if p.Metrics == nil {
		return cmp.Or(p.Reason, reasonOf(p.Outcome), r.noPort(n), "its metrics were not requested")
	}
	for _, call := range p.Calls {
		if call.Method == ask &&
			(call.Outcome == model.Garbled || call.Outcome == model.TooLarge || call.Outcome == model.CutOff) {
			return "its metrics are incomplete: " + cmp.Or(call.Reason, call.Outcome.String())
		}
	}
	return ""
}

// noPort returns the reason why the HTTP port of a session is unknown, with a hint, or "" if no reason was
// recorded.
func (r *reader) noPort(n *model.LiveNode) string {
	for _, s := range r.c.Runtime.Skipped {
		if s.What == "metrics of "+n.Name() {
			return strings.Replace(s.Reason, ": name the port", ": name it with --metrics-port", 1)
		}
	}
	return ""
}

func reasonOf(o model.Outcome) string {
	if o == model.NotAsked || o == model.Answered {
		return ""
	}
	return o.String()
}

// window sets the time window. It is the window of the proxies, if they have metrics.
func (r *reader) window() {
	list := slices.Clone(r.processes)
	slices.SortStableFunc(list, func(a, b *process) int {
		_, x := r.nodes[a.Process]["proxy"]
		_, y := r.nodes[b.Process]["proxy"]
		return cmp.Compare(boolInt(!x), boolInt(!y))
	})
	for i, p := range list {
		if i == 0 {
			r.l.Window = Window{From: p.w.From, To: p.w.To, SinceStart: p.w.SinceStart}
		}
		if !p.w.SinceStart {
			r.scraped++
		}
	}
	r.l.Window.Why = r.windowText(len(list))
}

// windowText describes the time window.
func (r *reader) windowText(processes int) string {
	w := r.l.Window
	took := w.To.Sub(w.From)
	switch {
	case processes == 0:
		return ""
	case r.scraped == 0:
		return "since the start of each process"
	case r.scraped < processes:
		return "between two scrapes; for " + words.Plural(processes-r.scraped, "process") + " since their start"
	case w.From.IsZero() || took <= 0:
		return "between two scrapes of each process"
	}
	return "over a " + words.Span(took.Round(time.Second)) + " window"
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// each returns the increases of the series of a metric.
func (p *process) each(name metrics.Name) []increase {
	list, read := p.increases[name]
	if !read {
		p.w.Each(name, func(labels []model.Pair, h metrics.Histogram) { list = append(list, increase{labels, h}) })
		p.increases[name] = list
	}
	return list
}

// histogram returns the sum of the increases of the series with these labels. The labels alternate keys and
// values.
func (p *process) histogram(name metrics.Name, labels ...string) dist {
	var sum metrics.Histogram
	match := pairs(labels)
	for _, x := range p.each(name) {
		if (model.Series{Labels: x.labels}).Matches(match) {
			sum = sum.Plus(x.Histogram)
		}
	}
	return distOf(sum)
}

// distOf converts a histogram. It returns an empty dist if the sum is missing.
func distOf(h metrics.Histogram) dist {
	if math.IsNaN(h.Sum) {
		return dist{}
	}
	return dist(h)
}

func (p *process) counter(name metrics.Name, labels ...string) Value {
	v, ok := p.w.Counter(name, pairs(labels)...)
	return Value{v, ok}
}

// pairs converts a list of alternating keys and values to labels.
func pairs(labels []string) []model.Pair {
	list := make([]model.Pair, 0, len(labels)/2)
	for i := 0; i+1 < len(labels); i += 2 {
		list = append(list, model.Pair{Key: labels[i], Value: labels[i+1]})
	}
	return list
}

// node returns the role and the node ID of a process. If it has no session in any of the roles, the node ID is
// from the labels of its metrics.
func (r *reader) node(p *process, name metrics.Name, roles ...string) (string, model.NodeID) {
	for _, role := range roles {
		if id, ok := r.nodes[p.Process][role]; ok {
			return role, id
		}
	}
	id := int64(0)
	for _, x := range p.each(name) {
		if n, err := strconv.ParseInt(label(x.labels, "node_id"), 10, 64); err == nil {
			id = n
		}
	}
	return roles[0], model.NodeID(id)
}

func label(labels []model.Pair, keys ...string) string {
	for _, l := range labels {
		if slices.Contains(keys, l.Key) {
			return l.Value
		}
	}
	return ""
}

// collectionCalls returns the whole calls by collection, from the first of the metrics with a collection label.
// Up to 2.4 that is a separate metric; later it is the metric of all calls.
func (p *process) collectionCalls(key, value string, names ...metrics.Name) []collectionReading {
	var list []collectionReading
	for _, name := range names {
		for _, x := range p.each(name) {
			if c := label(x.labels, "collection_name"); c != "" && label(x.labels, key) == value {
				list = append(list, collectionReading{
					database: label(x.labels, "db_name", "database"), name: c, total: distOf(x.Histogram),
				})
			}
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}

// traitsOf returns properties of a collection that affect where its requests spend their time.
func (r *reader) traitsOf(database, name string) traits {
	var l traits
	for _, x := range r.c.Collections {
		if x.Name != name || database != "" && database != r.c.DatabaseName(x.Database) {
			continue
		}
		t := r.c.CollectionTotals(x.ID)
		l = traits{id: x.ID, growing: float64(t.Rows - t.SealedRows), sealed: float64(t.SealedRows)}
		if strings.EqualFold(x.ConsistencyLevel, "Strong") {
			l.consistency = 1
		}
	}
	return l
}
