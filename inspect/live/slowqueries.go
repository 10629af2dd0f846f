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

// The slow queries that a proxy lists, since 2.5: SlowQueryPath of internal/http/router.go, under /api/v1,
// where the proxy's server mounts it (internal/distributed/proxy/service.go). Since 2.6.10 it requires a user
// if authorization is enabled.
const (
	slowPath   = "/api/v1/_cluster/slow_query"
	methodSlow = "GET " + slowPath
)

// maxSlow bounds the entries that are stored of a list. A proxy keeps 20 entries for 15 minutes
// (internal/proxy/proxy.go: slowQueries).
const maxSlow = 1000

// maxSlowName bounds the names in an entry, in bytes.
const maxSlowName = 256

// slowQuery is metricsinfo.SlowQuery (pkg/util/metricsinfo/metrics_info.go) as NewSlowQueryWithSearchRequest
// and its counterpart for queries (utils.go) fill it, without the user. internal/proxy/impl.go lists requests
// that took at least proxy.slowQuerySpanInSeconds. Later releases divide the time of a search by its vectors
// for this (M#42109), and omit failed requests (M#47070).
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

// slowQueriesProxy returns the proxy in a session's process if its release lists slow queries, or nil.
func (p *plan) slowQueriesProxy(s *session) *session {
	return p.inProcess(s, func(x *session) bool { return x.Role == "proxy" && model.VersionAtLeast(x.Version, 2, 5) })
}

// credentials returns the Authorization header that Milvus's HTTP server expects
// (internal/distributed/proxy/httpserver: ParseUsernamePassword). With TLS it returns "", because the metrics
// server has no TLS and the credentials are meant for an encrypted connection. A token user:password is sent as
// basic authentication, because pages for root accept nothing else (internal/http/rbac.go: parseHTTPAuth).
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

// clean truncates the list to maxSlow and one more entry. It removes the values of expressions and the user.
func (l *slowQueries) clean() bool {
	d := NewDecoder()
	*l = (*l)[:min(len(*l), maxSlow+1)]
	for i, x := range *l {
		(*l)[i] = cmp.Or(x, &slowQuery{}).clean(d)
	}
	return true
}

// takeSlow stores the list of a proxy.
func takeSlow(d *Decoder, p *processRecords, q *pendingRecord, response *slowQueries) {
	told := *response
	list := []model.SlowRequest{}
	for _, x := range told[:min(len(told), maxSlow)] {
		list = append(list, d.slowRequest(x, q.Node))
	}
	if !d.reserve(q, 2*slowSize(list)) {
		return
	}
	if len(told) > maxSlow {
		d.note("slow requests of "+cmp.Or(p.Address, q.key().String()),
			fmt.Sprintf("more than %d reported: the others are skipped", maxSlow))
	}
	setTimes(list, q.At)
	p.SlowRequests = list
}

// slowSize returns the approximate memory of a list, in bytes.
func slowSize(list []model.SlowRequest) (weight int64) {
	for i := range list {
		s := &list[i]
		weight += 512 + int64(len(s.Expr)+len(s.Collection)+len(s.Database)+len(s.Trace))
		for _, name := range slices.Concat(s.Partitions, s.Output) {
			weight += 32 + int64(len(name))
		}
	}
	return weight
}

// slowRequest converts an entry to the model. Its time has no zone yet.
func (d *Decoder) slowRequest(x *slowQuery, node model.NodeID) model.SlowRequest {
	s := model.SlowRequest{
		Source: model.FromProxy, Node: node, LocalTime: d.text(x.Time), Database: d.text(x.Database),
		Collection: d.text(x.Collection),
		Partitions: d.slowNames(x.Partitions), Type: d.text(x.Type), Consistency: d.text(x.Consistency),
		DefaultConsistency: x.CollectionDefault, Trace: d.text(x.Trace),
	}
	if s.DefaultConsistency {
		s.Consistency = "" // the field has its zero value, Strong, and is not in effect
	}
	if took, err := time.ParseDuration(x.Duration); err == nil && took > 0 {
		s.Took = took
	}
	if x.Params == nil {
		return s
	}
	s.Output = d.slowNames(x.Params.Output)
	s.Expr = d.text(x.expr())
	s.Filtered = model.TristateOf(s.Expr != "")
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

// expr returns the filter; for a hybrid search, those of its parts.
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

// shortExpr returns an expression without its values, short enough to display.
func shortExpr(text string) string {
	return strings.Map(graphic, redact.BriefExpression(text))
}

func (d *Decoder) slowName(text string) string {
	if len(text) > maxSlowName {
		text = strings.ToValidUTF8(text[:maxSlowName], "") + "..."
	}
	return d.text(oneLine(text))
}

// slowNames splits names at commas. It returns as many as can be displayed.
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

// topK returns topk, or limit as clients name it since 2.2, from parameters in the format of
// getSearchParamString in utils.go, e.g. anns_field=vec,topk=10,params={"ef":64}.
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
