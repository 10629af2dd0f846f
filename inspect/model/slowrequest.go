package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Where a slow request was told of.
const (
	FromProxy     = "proxy"      // the list that a proxy keeps
	FromAccessLog = "access-log" // the access log of one
	FromBoth      = "both"
	// FromClient is the slowest call of a kind that a client of 3.0 or later made between its last two heartbeats, as it measured it.
	FromClient = "client"
)

// SlowRequest is a request that took long, as a proxy or its access log has it. What was not told is zero: unknown. It has no value of
// an expression, and not who asked.
type SlowRequest struct {
	Source string
	// Node is the proxy's ServerID, 0 unknown.
	Node NodeID
	// EndedAt is when it was answered, zero where the time of a proxy's list could not be placed; Told is what the proxy wrote then,
	// in its own time zone.
	EndedAt              time.Time
	Told                 string
	Database, Collection string
	Partitions           []string
	// Type is what was asked, as Milvus calls it: Search, HybridSearch, Query; in an access log any method or path.
	Type string
	// Expr is the filter with "?" for its values, those of a hybrid search one after the other; "" none or unknown: Filtered tells.
	Expr     string
	Filtered Known
	// NQ is how many vectors were asked for, TopK how many hits for each; of a hybrid search those of all parts together, and the
	// most of one part.
	NQ, TopK int64
	Output   []string
	// Consistency is the level that the request named. DefaultConsistency: it named none, and the collection's own counts.
	Consistency        string
	DefaultConsistency bool
	Took               time.Duration
	Trace              string
	// SDK is the client's library and its version, Status whether it was answered, in the access log's words.
	SDK, Status string
	// Client is the host of the client that measured it, where Source is FromClient: Took is the slowest then of so many Requests,
	// whose mean and 99th percentile these are.
	Client    string
	Requests  int64
	Mean, P99 time.Duration
}

// Known is an answer to a question of yes or no that may not be known.
type Known uint8

// The answers.
const (
	Unsaid Known = iota
	No
	Yes
)

// KnownOf is what is known of something that was told.
func KnownOf(yes bool) Known {
	if yes {
		return Yes
	}
	return No
}

// WithLogged is the same Runtime with requests of an access log. r may be nil: then that is all.
func (r *Runtime) WithLogged(list []SlowRequest) *Runtime {
	if r == nil {
		return BuildRuntime(RuntimeParts{Kind: "access log", Logged: list})
	}
	next := *r
	next.Logged = list
	return &next
}

// SlowRequests are those of all proxies and access logs, the slowest first. One that is in both is told once.
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

// same reports whether a line of an access log is about the same request: a client may send its own trace id with many.
func (s *SlowRequest) same(logged *SlowRequest) bool {
	const leeway = 20 * time.Millisecond // what lies between the two clocks of one proxy
	off := (s.Took - logged.Took).Abs()
	return strings.EqualFold(s.Type, logged.Type) && off <= max(leeway, s.Took/50) &&
		(s.Collection == "" || logged.Collection == "" || s.Collection == logged.Collection)
}

// join adds what a line of an access log knows besides: its time has a zone and a fraction.
func (s *SlowRequest) join(logged *SlowRequest) {
	s.Source = FromBoth
	if !logged.EndedAt.IsZero() {
		s.EndedAt = logged.EndedAt
	}
	s.SDK, s.Status = logged.SDK, logged.Status
	s.NQ, s.TopK = cmp.Or(s.NQ, logged.NQ), cmp.Or(s.TopK, logged.TopK)
}
