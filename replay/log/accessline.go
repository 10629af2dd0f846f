package log

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"kitescope/engine"
)

// accessTime is the time format of Milvus (timeFormat in internal/proxy/accesslog/info/info.go).
const accessTime = "2006/01/02 15:04:05.000 -07:00"

// accessRequest is a line of an access log.
type accessRequest struct {
	Request
	method, status string
	start          moment
	hybrid, expr   bool
}

// isSearch reports whether a method is a vector search: a method of the gRPC service (milvus.proto, MilvusService),
// or an HTTP path that is logged as the method (internal/distributed/proxy/httpserver/constant.go).
func isSearch(method string) bool {
	switch method {
	case "Search", "HybridSearch",
		"/v1/vector/search", "/api/v1/search",
		"/v2/vectordb/entities/search", "/v2/vectordb/entities/advanced_search", "/v2/vectordb/entities/hybrid_search":
		return true
	}
	return false
}

// request decodes the fields of a line. It returns an error if the fields do not have the types of their names, so
// that the line has another format.
func (a *accessFields) request() (r accessRequest, err error) {
	r.method, r.status = a.method, a.status
	if i := strings.LastIndexByte(r.method, '-'); i >= 0 && !strings.HasPrefix(r.method, "/") {
		r.method = r.method[i+1:] // before 2.3.4 the address, which may have hyphens, precedes it with a hyphen
	}
	if r.method == "" || strings.ContainsAny(r.method, " []") {
		return r, errFormat
	}
	if a.cost != "" {
		if r.Took, err = time.ParseDuration(strings.ReplaceAll(a.cost, " ", "")); err != nil || r.Took < 0 {
			return r, errFormat
		}
	}
	if r.start, err = a.began(r.Took); err != nil {
		return r, err
	}
	r.Failed = failed(a.status, a.code)
	r.Collection = a.collection
	if a.database != "" && a.database != "default" && a.collection != "" {
		r.Collection = a.database + "." + a.collection
	}
	r.expr = a.expr != "" && a.expr != "[]" && strings.Trim(a.expr, `[]", `) != ""
	r.hybrid = strings.HasPrefix(a.nq, "[") || strings.Contains(strings.ToLower(a.method), "hybrid") ||
		strings.Contains(a.method, "advanced")
	r.NQ = queries(a.nq)
	r.searchParams(a.params)
	return r, nil
}

// began returns the start of a request: $time_start, or the end less the duration. The end is $time_end, or
// $time_now, because the line is written with the response.
func (a *accessFields) began(took time.Duration) (moment, error) {
	for _, written := range []struct {
		text string
		less time.Duration
	}{{a.start, 0}, {a.end, took}, {a.now, took}} {
		if written.text == "" {
			continue
		}
		t, err := time.Parse(accessTime, written.text)
		if err != nil {
			if t, err = time.Parse(time.RFC3339Nano, written.text); err != nil {
				return moment{}, errFormat
			}
		}
		return absolute(t.Add(-written.less))
	}
	return moment{}, nil
}

// failed reports whether a request failed, by its status (MethodStatus of internal/proxy/accesslog/info):
// "Successful" and "Failed", "OK" and "TaskFailed" before 2.3.4, "Grpc..." and "HttpError..." with a code. A
// successful or missing status is checked by the error code.
func failed(status, code string) bool {
	switch status {
	case "Successful", "OK", "":
		n, err := strconv.Atoi(code)
		return err == nil && n > 0
	}
	return true
}

// queries returns the number of vectors, in total over all parts of a hybrid search (["1", "1"]); 0 if unknown.
func queries(nq string) (n int) {
	for part := range strings.SplitSeq(strings.Trim(nq, "[]"), ",") {
		k, err := strconv.Atoi(strings.Trim(part, `" `))
		if err != nil || k < 0 || k > math.MaxInt32 || n > math.MaxInt32-k {
			return 0
		}
		n += k
	}
	return n
}

// searchParams decodes $search_params: an object of strings, in which "params" is again an object encoded as a
// string (kvsToString in internal/proxy/accesslog/info/util.go). For a hybrid search it decodes the first part.
func (r *accessRequest) searchParams(params string) {
	start := strings.IndexByte(params, '{')
	if start < 0 {
		return
	}
	var outer map[string]string
	if json.NewDecoder(strings.NewReader(params[start:])).Decode(&outer) != nil {
		return
	}
	number := func(name string) int {
		n, err := strconv.Atoi(outer[name])
		if err != nil || n < 0 || n > math.MaxInt32 {
			return 0
		}
		return n
	}
	r.K = max(number("topk"), number("limit"))
	var inner map[string]json.RawMessage
	if json.Unmarshal([]byte(outer["params"]), &inner) != nil {
		inner = nil
	}
	for f := range engine.EachSearchParam() {
		for _, value := range [][]byte{[]byte(outer[f.Key]), inner[f.Key]} {
			if len(value) == 0 {
				continue
			}
			if x, err := searchParam(f, value); err == nil {
				f.Set(&r.SearchParams, x)
			}
		}
	}
}

// methodName returns the name under which a method is counted: a path without its query string.
func methodName(method string) string {
	name, _, _ := strings.Cut(method, "?")
	return name
}

func (r *accessRequest) statusName() string {
	if r.status != "" {
		return r.status
	}
	return fmt.Sprintf("failed: %t", r.Failed)
}
