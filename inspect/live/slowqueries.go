package live

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// The list of slow queries that a proxy keeps, since 2.5: SlowQueryPath of internal/http/router.go, under /api/v1, where the proxy's
// server mounts it (internal/distributed/proxy/service.go). Since 2.6.10 it wants a user where authorization is enabled.
const (
	slowPath   = "/api/v1/_cluster/slow_query"
	methodSlow = "GET " + slowPath
)

// maxSlow bounds how many entries of one list are taken. A proxy keeps 20, for 15 minutes (internal/proxy/proxy.go: slowQueries).
const maxSlow = 1000

// maxSlowName bounds the names in an entry.
const maxSlowName = 256

// slowQuery is metricsinfo.SlowQuery (pkg/util/metricsinfo/metrics_info.go) as NewSlowQueryWithSearchRequest and its sister for queries
// (utils.go) fill it, without who asked. internal/proxy/impl.go keeps what took proxy.slowQuerySpanInSeconds or longer: later
// releases divide a search's time by its vectors for that (M#42109), and leave out what failed (M#47070).
type slowQuery struct {
	Time              string      `json:"time,omitempty"`
	Database          string      `json:"database,omitempty"`
	Collection        string      `json:"collection,omitempty"`
	Partitions        string      `json:"partitions,omitempty"`
	Consistency       string      `json:"consistency_level,omitempty"`
	CollectionDefault bool        `json:"use_default_consistency,omitempty"`
	Duration          string      `json:"duration,omitempty"`
	Params            *slowParams `json:"query_params,omitempty"`
	Type              string      `json:"type,omitempty"`
	Trace             string      `json:"trace_id,omitempty"`
}

// slowParams is metricsinfo.QueryParams: one search, or the parts of a hybrid one.
type slowParams struct {
	Searches []*slowSearch `json:"search_params,omitempty"`
	Expr     string        `json:"expr,omitempty"`
	Output   string        `json:"output_fields,omitempty"`
}

// slowSearch is metricsinfo.SearchParams, whose lists have one element each.
type slowSearch struct {
	DSL    []string `json:"dsl,omitempty"`
	Params []string `json:"search_params,omitempty"`
	NQ     []int64  `json:"nq,omitempty"`
}

// listsSlow finds the proxy that a session's process holds, if it is of a release that keeps a list; nil if there is none.
func (p *plan) listsSlow(s *session) *session {
	return p.inProcess(s, func(x *session) bool { return x.Role == "proxy" && model.Since(x.Version, 2, 5) })
}

// credentials are what Milvus's HTTP server asks for (internal/distributed/proxy/httpserver: ParseUsernamePassword). The server of
// metrics speaks no TLS: what is meant for an encrypted connection is not sent there. A token that is user:password goes as those, as
// pages of root take nothing else (internal/http/rbac.go: parseHTTPAuth).
func (o *Options) credentials() string {
	switch {
	case o.TLS != nil:
		return ""
	case strings.Contains(o.Token, ":"):
		return "Basic " + o.authorization()
	case o.Token != "":
		return "Bearer " + o.Token
	case o.User != "":
		return "Basic " + o.authorization()
	}
	return ""
}

// slowQueries is the list of a proxy.
type slowQueries []*slowQuery

// clean leaves at most one entry more than are taken: no value of an expression, and not who asked.
func (l *slowQueries) clean() bool {
	d := NewDecoder()
	*l = (*l)[:min(len(*l), maxSlow+1)]
	for i, x := range *l {
		(*l)[i] = cmp.Or(x, &slowQuery{}).clean(d)
	}
	return true
}

// takeSlow takes a proxy's list in.
func takeSlow(d *Decoder, p *processRecords, q *question, answer *slowQueries) {
	told := *answer
	list := []model.SlowRequest{}
	for _, x := range told[:min(len(told), maxSlow)] {
		list = append(list, d.slowRequest(x, q.Node))
	}
	if !d.takes(q, 2*weighSlow(list)) {
		return
	}
	if len(told) > maxSlow {
		d.note("slow requests of "+cmp.Or(p.Address, q.key().String()), fmt.Sprintf("more than %d reported: the others are skipped", maxSlow))
	}
	place(list, q.At)
	p.SlowRequests = list
}

// weighSlow is about what a list takes.
func weighSlow(list []model.SlowRequest) (weight int64) {
	for i := range list {
		s := &list[i]
		weight += 512 + int64(len(s.Expr)+len(s.Collection)+len(s.Database)+len(s.Trace))
		for _, name := range slices.Concat(s.Partitions, s.Output) {
			weight += 32 + int64(len(name))
		}
	}
	return weight
}

// slowRequest is an entry in the words of the model. Its time has no zone yet.
func (d *Decoder) slowRequest(x *slowQuery, node model.NodeID) model.SlowRequest {
	s := model.SlowRequest{
		Source: model.FromProxy, Node: node, Told: d.text(x.Time), Database: d.text(x.Database), Collection: d.text(x.Collection),
		Partitions: d.slowNames(x.Partitions), Type: d.text(x.Type), Consistency: d.text(x.Consistency),
		DefaultConsistency: x.CollectionDefault, Trace: d.text(x.Trace),
	}
	if s.DefaultConsistency {
		s.Consistency = "" // the field has its zero value, Strong, and does not count
	}
	if took, err := time.ParseDuration(x.Duration); err == nil && took > 0 {
		s.Took = took
	}
	if x.Params == nil {
		return s
	}
	s.Output = d.slowNames(x.Params.Output)
	s.Expr = d.text(x.expr())
	s.Filtered = model.KnownOf(s.Expr != "")
	for _, part := range x.Params.Searches {
		if part == nil {
			continue
		}
		for _, n := range part.NQ {
			if n > 0 && n < 1<<31 {
				s.NQ += n
			}
		}
		for _, text := range part.Params {
			s.TopK = max(s.TopK, topK(text))
		}
	}
	return s
}

// expr is the filter, of a hybrid search those of its parts.
func (x *slowQuery) expr() string {
	var parts []string
	for _, part := range x.Params.Searches {
		if part != nil {
			parts = append(parts, part.DSL...)
		}
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	if len(parts) == 0 {
		return x.Params.Expr
	}
	return strings.Join(parts, " | ")
}

// shortExpr is an expression without its values, of a length that can be shown.
func shortExpr(text string) string {
	return strings.Map(graphic, redact.BriefExpression(text))
}

func (d *Decoder) slowName(text string) string {
	if len(text) > maxSlowName {
		text = strings.ToValidUTF8(text[:maxSlowName], "") + "..."
	}
	return d.text(oneLine(text))
}

// slowNames are names that are joined by commas, as many as can be shown.
func (d *Decoder) slowNames(text string) []string {
	const most = 32
	if text == "" {
		return nil
	}
	names := strings.SplitN(text, ",", most+1)
	for i := range names {
		names[i] = d.slowName(names[i])
	}
	if len(names) > most {
		names[most] = "..."
	}
	return names
}

// topK finds topk, or limit as clients call it since 2.2, in parameters as getSearchParamString of utils.go writes them: anns_field=vec,topk=10,params={"ef":64}.
func topK(params string) (most int64) {
	for _, name := range []string{"topk=", "limit="} {
		_, rest, found := strings.Cut(","+params, ","+name)
		digits, _, _ := strings.Cut(rest, ",")
		if n, err := strconv.ParseInt(digits, 10, 32); found && err == nil {
			most = max(most, n)
		}
	}
	return most
}
