package live

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// Client telemetry, since 3.0: each client reports to RootCoord every ten seconds how long its operations took,
// and any proxy returns the reports of all clients (milvus internal/proxy/telemetry_http_handler.go,
// getTelemetryClients; internal/rootcoord/telemetry). It requires a user if authorization is enabled.
const (
	clientsPath   = "/api/v1/_telemetry/clients"
	clientsQuery  = "include_metrics=true"
	methodClients = "GET " + clientsPath + "?" + clientsQuery
)

// clientList is ClientTelemetryResponse of telemetry_models.go, without the users of clients and their
// responses to commands.
type clientList struct {
	Clients []*clientReport `json:"clients"`
}

type clientReport struct {
	ID        string         `json:"client_id,omitempty"`
	Info      *clientInfo    `json:"client_info,omitempty"`
	Databases []string       `json:"databases,omitempty"`
	Metrics   []*clientCalls `json:"metrics,omitempty"`
}

// clientInfo is commonpb.ClientInfo.
type clientInfo struct {
	SDK     string `json:"sdk_type,omitempty"`
	Version string `json:"sdk_version,omitempty"`
	Host    string `json:"host,omitempty"`
}

// clientCalls is commonpb.OperationMetrics. Collections is set only if the request was for metrics by
// collection.
type clientCalls struct {
	Operation   string                  `json:"operation,omitempty"`
	Global      *clientTimes            `json:"global,omitempty"`
	Collections map[string]*clientTimes `json:"collection_metrics,omitempty"`
}

// clientTimes is commonpb.Metrics: the calls between two heartbeats, in milliseconds.
type clientTimes struct {
	Requests int64   `json:"request_count,omitempty"`
	Mean     float64 `json:"avg_latency_ms,omitempty"`
	P99      float64 `json:"p99_latency_ms,omitempty"`
	Max      float64 `json:"max_latency_ms,omitempty"`
}

// clientsProxy returns the proxy to query for all clients, or nil if none is of release 3.0 or later.
func (p *plan) clientsProxy() *session { return p.firstProxy(3, 0) }

// firstProxy returns the proxy with the smallest id among those of the given release or later, or nil if there
// is none.
func (p *plan) firstProxy(release ...int) *session {
	var first *session
	for _, list := range p.sessionsOf {
		for _, x := range list {
			if x.Role == "proxy" && model.VersionAtLeast(x.Version, release...) &&
				(first == nil || x.Node < first.Node) {
				first = x
			}
		}
	}
	return first
}

// inProcess returns the first matching session in the process of a session, or nil if there is none.
func (p *plan) inProcess(s *session, is func(*session) bool) *session {
	if i := slices.IndexFunc(p.sessionsOf[s.Node], is); i >= 0 {
		return p.sessionsOf[s.Node][i]
	}
	return nil
}

func (l *clientList) clean() bool {
	d := NewDecoder()
	for _, c := range l.Clients {
		c.clean(d)
	}
	return l.Clients != nil
}

// takeClients stores the client reports: the slowest call of each kind and client between its last two
// heartbeats, the slowest first.
func takeClients(d *Decoder, p *processRecords, q *pendingRecord, response *clientList) {
	var list []model.SlowRequest
	for _, c := range response.Clients {
		list = c.slowest(d, list, q.Node)
	}
	slices.SortStableFunc(list, func(a, b model.SlowRequest) int { return cmp.Compare(b.Took, a.Took) })
	if len(list) > maxSlow {
		list = list[:maxSlow:maxSlow]
		d.note("client reports "+cmp.Or(p.Address, q.key().String()),
			fmt.Sprintf("more than %d reported: the others are skipped", maxSlow))
	}
	if d.reserve(q, 2*slowSize(list)) {
		p.ClientRequests = list
	}
}

// slowest appends the slowest call of each kind that a client reported, by collection if it is known.
func (c *clientReport) slowest(d *Decoder, list []model.SlowRequest, proxy model.NodeID) []model.SlowRequest {
	if c == nil {
		return list
	}
	s := model.SlowRequest{Source: model.FromClient, Node: proxy, Client: d.text(c.ID)}
	if len(c.Databases) == 1 {
		s.Database = d.text(c.Databases[0])
	}
	if i := c.Info; i != nil {
		s.Client = d.text(cmp.Or(i.Host, c.ID))
		s.SDK = d.text(strings.Trim(i.SDK+"-"+i.Version, "-"))
	}
	for _, calls := range c.Metrics {
		if calls == nil {
			continue
		}
		s.Type = d.text(calls.Operation)
		if len(calls.Collections) == 0 {
			s.Collection = ""
			list = calls.Global.addTo(list, s)
		}
		for _, name := range slices.Sorted(maps.Keys(calls.Collections)) {
			s.Collection = d.text(name)
			list = calls.Collections[name].addTo(list, s)
		}
	}
	return list
}

// addTo appends the slowest call unless there were no calls.
func (t *clientTimes) addTo(list []model.SlowRequest, s model.SlowRequest) []model.SlowRequest {
	if t == nil || t.Requests <= 0 {
		return list
	}
	s.Requests, s.Mean, s.P99, s.Took = t.Requests, milliseconds(t.Mean), milliseconds(t.P99),
		milliseconds(max(t.Max, t.P99))
	return append(list, s)
}

// milliseconds converts milliseconds to a duration. It returns 0 unless ms is between 0 and a day.
func milliseconds(ms float64) time.Duration {
	const day = 24 * 60 * 60 * 1000
	if !(ms > 0 && ms < day) {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// clean truncates the names to the length that is displayed.
func (c *clientReport) clean(d *Decoder) {
	if c == nil {
		return
	}
	c.ID, c.Databases = d.slowName(c.ID), c.Databases[:min(len(c.Databases), 2)] // of several databases none is shown
	for i := range c.Databases {
		c.Databases[i] = d.slowName(c.Databases[i])
	}
	if i := c.Info; i != nil {
		i.SDK, i.Version, i.Host = d.slowName(i.SDK), d.slowName(i.Version), d.slowName(i.Host)
	}
	for _, calls := range c.Metrics {
		if calls == nil {
			continue
		}
		calls.Operation = d.slowName(calls.Operation)
		named := make(map[string]*clientTimes, len(calls.Collections))
		for name, t := range calls.Collections {
			named[d.slowName(name)] = t
		}
		calls.Collections = named
	}
}
