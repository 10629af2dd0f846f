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

// What clients measured themselves, since 3.0: each tells RootCoord every ten seconds how long its operations took, and any proxy
// hands on what all of them told (milvus internal/proxy/telemetry_http_handler.go, getTelemetryClients; internal/rootcoord/telemetry).
// It wants a user where authorization is enabled.
const (
	clientsPath   = "/api/v1/_telemetry/clients"
	clientsQuery  = "include_metrics=true"
	methodClients = "GET " + clientsPath + "?" + clientsQuery
)

// clientList is ClientTelemetryResponse of telemetry_models.go, without who uses a client and what it answered to commands.
type clientList struct {
	Clients []*clientTold `json:"clients"`
}

type clientTold struct {
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

// clientCalls is commonpb.OperationMetrics: by collection only where that was asked for.
type clientCalls struct {
	Operation   string                  `json:"operation,omitempty"`
	Global      *clientTimes            `json:"global,omitempty"`
	Collections map[string]*clientTimes `json:"collection_metrics,omitempty"`
}

// clientTimes is commonpb.Metrics: of the calls between two heartbeats, in milliseconds.
type clientTimes struct {
	Requests int64   `json:"request_count,omitempty"`
	Mean     float64 `json:"avg_latency_ms,omitempty"`
	P99      float64 `json:"p99_latency_ms,omitempty"`
	Max      float64 `json:"max_latency_ms,omitempty"`
}

// tellsOfClients is the one proxy that is asked for all clients, nil if there is none of such a release.
func (p *plan) tellsOfClients() *session { return p.firstProxy(3, 0) }

// firstProxy is the proxy with the least id of those of a release or later, nil if there is none.
func (p *plan) firstProxy(release ...int) *session {
	var first *session
	for _, list := range p.sessionsOf {
		for _, x := range list {
			if x.Role == "proxy" && model.Since(x.Version, release...) && (first == nil || x.Node < first.Node) {
				first = x
			}
		}
	}
	return first
}

// inProcess is the first session of some kind that a session's process holds, nil if there is none.
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

// takeClients takes what clients told in: of each the slowest call of a kind between its last two heartbeats, the slowest of all first.
func takeClients(d *Decoder, p *processRecords, q *question, told *clientList) {
	var list []model.SlowRequest
	for _, c := range told.Clients {
		list = c.slowest(d, list, q.Node)
	}
	slices.SortStableFunc(list, func(a, b model.SlowRequest) int { return cmp.Compare(b.Took, a.Took) })
	if len(list) > maxSlow {
		list = list[:maxSlow:maxSlow]
		d.note("client reports "+cmp.Or(p.Address, q.key().String()), fmt.Sprintf("there is more than %d of it: the others are left out", maxSlow))
	}
	if d.takes(q, 2*weighSlow(list)) {
		p.ClientRequests = list
	}
}

// slowest adds the slowest call of each kind that a client tells of, by collection where it knows that.
func (c *clientTold) slowest(d *Decoder, list []model.SlowRequest, proxy model.NodeID) []model.SlowRequest {
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

// addTo adds the slowest call, if there was one.
func (t *clientTimes) addTo(list []model.SlowRequest, s model.SlowRequest) []model.SlowRequest {
	if t == nil || t.Requests <= 0 {
		return list
	}
	s.Requests, s.Mean, s.P99, s.Took = t.Requests, lasted(t.Mean), lasted(t.P99), lasted(max(t.Max, t.P99))
	return append(list, s)
}

// lasted is a number of milliseconds as a duration, 0 if it is none.
func lasted(ms float64) time.Duration {
	const day = 24 * 60 * 60 * 1000
	if !(ms > 0 && ms < day) {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// clean leaves names of a length that is shown.
func (c *clientTold) clean(d *Decoder) {
	if c == nil {
		return
	}
	c.ID, c.Databases = d.slowName(c.ID), c.Databases[:min(len(c.Databases), 2)] // of several none is told
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
