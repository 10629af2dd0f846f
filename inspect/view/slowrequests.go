package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

var slowRequests = define(definition[*model.SlowRequest]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "slow-requests", Names: []string{"trace_id"}, Handle: "id", Slashes: true,
			Shorthands: map[string]string{
				"coll": "collection", "db": "database", "took": "took_seconds", "time": "ended_at",
			},
		},
		Aliases: []string{"slow", "slow-queries", "slow-query"},
		Doc:     "Slow requests, slowest first: from the lists of the proxies (2.5 and later) and from access logs.",
		Needs:   model.PartRuntime,
		Missing: missingRequests,
	},
	rows: func(e *Env) []*model.SlowRequest {
		list := e.Cluster.Runtime.SlowRequests()
		rows := make([]*model.SlowRequest, len(list))
		for i := range list {
			rows[i] = &list[i]
		}
		return rows
	},
	columns: concat(slowOrigin, slowParams, slowDetail),
	ref:     func(_ *Env, s *model.SlowRequest) Ref { return Ref{ID: slowName(s), Name: slowName(s)} },
	owner: func(e *Env, s *model.SlowRequest) (Ref, bool) {
		if c := requestCollection(e, s); c != nil {
			return collectionRef(e, c.ID)
		}
		return Ref{}, false
	},
	links: func(e *Env, s *model.SlowRequest) []Link {
		if c := requestCollection(e, s); c != nil {
			return []Link{
				link("segments", "segments", "collection_id="+c.ID.String()),
				link("vchannels", "vchannels", "collection_id="+c.ID.String()),
			}
		}
		return nil
	},
})

// slowName returns the name of a request: its source, the time at which it ended, its duration and its trace.
// Requests measured by clients have no time; their name has the client, type, collection and duration.
func slowName(s *model.SlowRequest) string {
	if s.Source == model.FromClient { // without a time
		return strings.Join([]string{
			s.Source, s.Client, s.Type, s.Collection, strconv.FormatFloat(s.Took.Seconds(), 'f', -1, 64),
		}, "/")
	}
	who, when := s.Source, s.LocalTime
	if s.Node != 0 {
		who = "proxy-" + s.Node.String()
	}
	if !s.EndedAt.IsZero() {
		when = s.EndedAt.UTC().Format(time.RFC3339Nano)
	}
	return strings.Join([]string{who, when, strconv.FormatFloat(s.Took.Seconds(), 'f', -1, 64), s.Trace}, "/")
}

// requestCollection returns the collection of a request, by name or alias. It returns nil if that is unknown.
func requestCollection(e *Env, s *model.SlowRequest) *model.Collection {
	database := cmp.Or(s.Database, "default")
	for _, c := range e.Cluster.Collections {
		if c.Dropped() || cmp.Or(e.Cluster.DatabaseName(c.Database), "default") != database {
			continue
		}
		named := func(a *model.Alias) bool { return a.Name == s.Collection }
		if c.Name == s.Collection || slices.ContainsFunc(e.Cluster.AliasesOf(c.ID), named) {
			return c
		}
	}
	return nil
}

// textOrUnknown returns the cell of a text. "" is unknown.
func textOrUnknown(s string) table.Cell {
	if s == "" {
		return unknown()
	}
	return table.Cell{Text: s}
}

var slowOrigin = []column[*model.SlowRequest]{
	col(table.Column{Name: "id", Show: table.Hidden, Doc: "who/ended_at/took/trace: the name of the request."},
		func(_ *Env, s *model.SlowRequest) table.Cell { return text(slowName(s)) }),
	col(table.Column{
		Name: "lasted", Title: "TOOK", AlignRight: true, For: table.People,
		Doc: "Time it took in the proxy, human-readable.",
	}, func(_ *Env, s *model.SlowRequest) table.Cell {
		if s.Took == 0 {
			return unknown()
		}
		return text(words.Latency(s.Took, true))
	}),
	col(table.Column{
		Name: "took_seconds", Kind: table.Duration, Show: table.Hidden,
		Doc: "Time in the proxy from arrival to response, for all of its vectors.",
	}, func(_ *Env, s *model.SlowRequest) table.Cell {
		if s.Took == 0 {
			return unknown()
		}
		return count(int64(s.Took))
	}),
	col(table.Column{
		Name: "ended_at", Title: "ENDED", Kind: table.Time, Priority: 1,
		Doc: "When it was answered. Proxies write local time without a zone: the zone that fits the time at which " +
			"the proxy was queried is assumed; unknown if none fits.",
	},
		func(_ *Env, s *model.SlowRequest) table.Cell {
			if s.EndedAt.IsZero() {
				return unknown()
			}
			return timeCell(s.EndedAt)
		}),
	col(table.Column{
		Name: "told_at", Show: table.Hidden,
		Doc: "That time as written by the proxy, in its own zone.",
	},
		func(_ *Env, s *model.SlowRequest) table.Cell { return text(s.LocalTime) }),
	col(table.Column{Name: "proxy", Priority: 6, Doc: "Session of the proxy, role-id; unknown from an access log."},
		func(_ *Env, s *model.SlowRequest) table.Cell {
			if s.Node == 0 {
				return unknown()
			}
			return text("proxy-" + s.Node.String())
		}),
	col(table.Column{
		Name: "database", Show: table.Wide, Priority: 8,
		Doc: "Name of the database in the request.",
	},
		func(_ *Env, s *model.SlowRequest) table.Cell { return textOrUnknown(s.Database) }),
	col(table.Column{
		Name: "collection",
		Doc:  "Name of the collection, or an alias, in the request.",
	},
		func(_ *Env, s *model.SlowRequest) table.Cell { return textOrUnknown(s.Collection) }),
	col(table.Column{
		Name: "collection_id", Kind: table.ID, Show: table.Hidden,
		Doc: "Id of the collection that has this name now, if any.",
	}, func(e *Env, s *model.SlowRequest) table.Cell {
		if c := requestCollection(e, s); c != nil {
			return id(c.ID)
		}
		return none()
	}).withNeeds(model.PartCatalog),
}

var slowParams = []column[*model.SlowRequest]{
	col(table.Column{
		Name: "request", Vocabulary: true,
		Doc: "Search, HybridSearch or Query; in an access log any method, or the path of an HTTP request.",
	}, func(_ *Env, s *model.SlowRequest) table.Cell { return textOrUnknown(s.Type) }),
	col(table.Column{
		Name: "nq", Kind: table.Int, Priority: 3,
		Doc: "Number of query vectors, for a hybrid search over all parts; empty if not a search.",
	}, func(_ *Env, s *model.SlowRequest) table.Cell { return searchCount(s, s.NQ) }),
	col(table.Column{
		Name: "topk", Title: "TOPK", Kind: table.Int, Priority: 4,
		Doc: "Hits per vector, for a hybrid search the maximum of its parts; for a query its limit, if an access log " +
			"has it.",
	},
		func(_ *Env, s *model.SlowRequest) table.Cell { return searchCount(s, s.TopK) }),
	col(table.Column{
		Name: "consistency_level", Title: "CONSISTENCY", Priority: 5,
		Doc: "Level in the request: Strong, Session, Bounded, Eventually; default, or default (Bounded), if it uses " +
			"the collection's level.",
	}, func(e *Env, s *model.SlowRequest) table.Cell {
		if !s.DefaultConsistency {
			return textOrUnknown(s.Consistency)
		}
		if c := requestCollection(e, s); c != nil && c.ConsistencyLevel != "" {
			return text("default (" + c.ConsistencyLevel + ")")
		}
		return text("default")
	}),
	col(table.Column{
		Name: "expr", Priority: 2,
		Doc: "The filter, with ? for its values (they may be personal; kitescope never keeps or shows them). Parts " +
			"of a hybrid search are separated by |. Empty: no filter.",
	}, func(_ *Env, s *model.SlowRequest) table.Cell {
		if s.Expr == "" && s.Filtered == model.Unknown {
			return unknown()
		}
		return text(s.Expr)
	}),
}

// searchCount returns the cell of a count that searches have. It is unknown if it was not reported, and none for
// other requests.
func searchCount(s *model.SlowRequest, n int64) table.Cell {
	switch {
	case n > 0:
		return count(n)
	case strings.Contains(strings.ToLower(s.Type), "search") || s.Type == "":
		return unknown()
	}
	return none()
}

var slowDetail = []column[*model.SlowRequest]{
	col(table.Column{
		Name: "partitions", Kind: table.List, Show: table.Hidden,
		Doc: "Partitions in the request; empty means all.",
	},
		func(_ *Env, s *model.SlowRequest) table.Cell { return list(s.Partitions) }),
	col(table.Column{
		Name: "output_fields", Kind: table.List, Show: table.Hidden, Doc: "Requested output fields, if reported.",
	}, func(_ *Env, s *model.SlowRequest) table.Cell { return list(s.Output) }),
	col(table.Column{
		Name: "status", Kind: table.State, Show: table.Wide, Priority: 9,
		Doc: "Successful or Failed, as in the access log; unknown from a proxy's list.",
	}, func(_ *Env, s *model.SlowRequest) table.Cell { return textOrUnknown(s.Status) }),
	col(table.Column{
		Name: "sdk", Title: "SDK", Show: table.Wide, Priority: 9,
		Doc: "The client's library and its version, where an access log has it.",
	}, func(_ *Env, s *model.SlowRequest) table.Cell { return textOrUnknown(s.SDK) }),
	col(table.Column{
		Name: "trace_id", Title: "TRACE", Show: table.Wide, Priority: 9,
		Doc: "Trace id: finds the request in the logs of all processes and in a tracer.",
	}, func(_ *Env, s *model.SlowRequest) table.Cell { return textOrUnknown(s.Trace) }),
	col(table.Column{
		Name: "source", Show: table.Wide, Priority: 9, Vocabulary: true,
		Doc: "proxy, access-log, or both; client: the slowest call of its kind between the last two heartbeats of a " +
			"3.0 client, measured by the client.",
	}, func(_ *Env, s *model.SlowRequest) table.Cell { return text(s.Source) }),
	col(table.Column{
		Name: "client", Show: table.Wide, Priority: 9,
		Doc: "Host or id of the client that measured it; empty if a proxy did.",
	}, func(_ *Env, s *model.SlowRequest) table.Cell {
		if s.Client == "" {
			return none()
		}
		return text(s.Client)
	}),
	col(table.Column{
		Name: "client_requests", Kind: table.Int, Show: table.Hidden,
		Doc: "Number of client calls of which it was the slowest.",
	},
		func(_ *Env, s *model.SlowRequest) table.Cell { return clientCount(s, s.Requests) }),
	col(table.Column{
		Name: "client_mean_seconds", Kind: table.Duration, Show: table.Hidden,
		Doc: "Mean time of these.",
	},
		func(_ *Env, s *model.SlowRequest) table.Cell { return clientCount(s, int64(s.Mean)) }),
	col(table.Column{
		Name: "client_p99_seconds", Kind: table.Duration, Show: table.Hidden, Doc: "99th percentile of these.",
	}, func(_ *Env, s *model.SlowRequest) table.Cell { return clientCount(s, int64(s.P99)) }),
}

// clientCount returns the cell of a value that only clients report.
func clientCount(s *model.SlowRequest, n int64) table.Cell {
	if s.Source != model.FromClient {
		return none()
	}
	return count(n)
}

const (
	slowCall    = "GET /api/v1/_cluster/slow_query"
	clientsCall = "GET /api/v1/_telemetry/clients?include_metrics=true"
)

// missingRequests returns the proxies whose slow requests are unknown or incomplete, with the reasons.
func missingRequests(c *model.Cluster) []string { return missingResponses(c, slowCall) }

// missingResponses returns the proxies whose response to a call is unknown or incomplete, with the reasons.
func missingResponses(c *model.Cluster, method string) []string {
	if c.Runtime == nil {
		return []string{"no proxy was queried"}
	}
	var lines []string
	proxies := 0
	for _, n := range c.Runtime.Nodes {
		if n.Role != "proxy" {
			continue
		}
		proxies++
		if why := missingReason(c, n, method); why != "" {
			lines = append(lines, n.Name()+": "+why)
		}
	}
	if proxies == 0 {
		return []string{"no proxy is among the queried processes"}
	}
	return lines
}

// missingReason returns the reason why a proxy's response is unknown, or "".
func missingReason(c *model.Cluster, n *model.LiveNode, method string) string {
	version := ""
	if s := c.SessionIn(n.Node, "proxy"); s != nil {
		version = s.Version
	} else if n.System != nil {
		version = n.System.Version
	}
	if n.Process != nil {
		i := slices.IndexFunc(n.Process.Calls, func(c model.Call) bool { return c.Method == method })
		if i >= 0 {
			if call := n.Process.Calls[i]; call.Outcome != model.Answered {
				return strings.TrimSuffix(call.Outcome.String()+": "+call.Reason, ": ") + deniedHint(&call)
			}
			if method == slowCall {
				return missingClients(n.Process)
			}
			return ""
		}
	}
	switch {
	case version != "" && !model.VersionAtLeast(version, 2, 5):
		return "its list was not requested: it requires Milvus 2.5, and this is " + version
	case version != "":
		return "its list was not requested"
	case n.Process == nil:
		return cmp.Or(n.Reason, "the address of its HTTP server is unknown")
	}
	return "its list was not requested: it requires Milvus 2.5, and the release is unknown"
}

// missingClients returns the reason why measurements of clients are unknown. It returns "" if they are known
// or this process was not queried for them.
func missingClients(p *model.Process) string {
	for _, call := range p.Calls {
		if call.Method == clientsCall && call.Outcome != model.Answered {
			return "client measurements are unknown: " +
				strings.TrimSuffix(call.Outcome.String()+": "+call.Reason, ": ")
		}
	}
	return ""
}

// deniedHint returns a hint on the required credentials for a call that was denied. It returns "" if the
// reason already names the setting.
func deniedHint(c *model.Call) string {
	if c.Outcome != model.Denied || strings.Contains(c.Reason, " is true") {
		return ""
	}
	return " (if authorization is enabled, it requires --milvus-user and a password since 2.5.27 and 2.6.10)"
}
