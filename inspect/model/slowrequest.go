package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Sources of a slow request.
const (
	FromProxy     = "proxy"      // the slow query list of a proxy
	FromAccessLog = "access-log" // the access log of a proxy
	FromBoth      = "both"
	// FromClient is the slowest call of a kind between a client's last two heartbeats, measured by the client
	// (3.0 and later).
	FromClient = "client"
)

// SlowRequest is a slow request in the records of a proxy or its access log. Zero values are unknown. It
// contains neither values in expressions nor the user.
type SlowRequest struct {
	Source string
	// Node is the proxy's ServerID, 0 if unknown.
	Node NodeID
	// EndedAt is the time of the response, zero if the time in a proxy's list has an unknown zone. LocalTime is that
	// time as written by the proxy in its own time zone.
	EndedAt              time.Time
	LocalTime            string
	Database, Collection string
	Partitions           []string
	// Type is Milvus's name of the request: Search, HybridSearch, Query. In an access log it may be any method
	// or path.
	Type string
	// Expr is the filter with "?" in place of values, with those of a hybrid search joined. It is "" if empty
	// or unknown, see Filtered.
	Expr     string
	Filtered Tristate
	// NQ is the number of query vectors, TopK the number of results for each. For a hybrid search NQ is the sum
	// and TopK the maximum over all parts.
	NQ, TopK int64
	Output   []string
	// Consistency is the level in the request. DefaultConsistency is true if it had none, so that of the
	// collection applied.
	Consistency        string
	DefaultConsistency bool
	Took               time.Duration
	Trace              string
	// SDK is the client library with its version. Status is the result in the access log's terms.
	SDK, Status string
	// Client is the host of the measuring client if Source is FromClient. Took is then the maximum of Requests
	// requests, and Mean and P99 are their mean and 99th percentile.
	Client    string
	Requests  int64
	Mean, P99 time.Duration
}

// Tristate is a bool that may be unknown.
type Tristate uint8

// The values of Tristate.
const (
	Unknown Tristate = iota
	No
	Yes
)

// TristateOf converts a known bool.
func TristateOf(yes bool) Tristate {
	if yes {
		return Yes
	}
	return No
}

// WithLogged returns a copy of the Runtime with requests from access logs. If r is nil, the result contains
// only them.
func (r *Runtime) WithLogged(list []SlowRequest) *Runtime {
	if r == nil {
		return BuildRuntime(RuntimeParts{Kind: "access log", Logged: list})
	}
	next := *r
	next.Logged = list
	return &next
}

// SlowRequests returns the requests of all proxies, clients and access logs, the slowest first. A request in
// both a proxy's list and an access log is merged.
func (r *Runtime) SlowRequests() []SlowRequest {
	if r == nil {
		return nil
	}
	var list []SlowRequest
	for _, p := range r.Processes {
		list = append(append(list, p.SlowRequests...), p.ClientRequests...)
	}
	told := make(map[string][]int, len(list))
	for i := range list {
		if list[i].Trace != "" {
			told[list[i].Trace] = append(told[list[i].Trace], i)
		}
	}
	for _, x := range r.Logged {
		same := -1
		for _, i := range told[x.Trace] {
			if x.Trace != "" && list[i].Source == FromProxy && list[i].same(&x) {
				same = i
				break
			}
		}
		if same < 0 {
			list = append(list, x)
			continue
		}
		list[same].join(&x)
	}
	slices.SortStableFunc(list, func(a, b SlowRequest) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), b.EndedAt.Compare(a.EndedAt), cmp.Compare(a.Trace, b.Trace))
	})
	return list
}

// same reports whether a line of an access log is the same request. The trace id alone is not sufficient,
// because a client may send its own with many requests.
func (s *SlowRequest) same(logged *SlowRequest) bool {
	const leeway = 20 * time.Millisecond // between two clock readings of one proxy
	off := (s.Took - logged.Took).Abs()
	return strings.EqualFold(s.Type, logged.Type) && off <= max(leeway, s.Took/50) &&
		(s.Collection == "" || logged.Collection == "" || s.Collection == logged.Collection)
}

// join adds the facts from a line of an access log, whose time has a zone and a fraction.
func (s *SlowRequest) join(logged *SlowRequest) {
	s.Source = FromBoth
	if !logged.EndedAt.IsZero() {
		s.EndedAt = logged.EndedAt
	}
	s.SDK, s.Status = logged.SDK, logged.Status
	s.NQ, s.TopK = cmp.Or(s.NQ, logged.NQ), cmp.Or(s.TopK, logged.TopK)
}
