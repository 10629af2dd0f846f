package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"kitescope/inspect/model"
)

// endpoint is a page of a process's HTTP server that may be requested. Pages that are not listed in endpoints
// are never requested.
type endpoint struct {
	// uri is the path, with the query if there is one.
	uri string
	// evidence names the code of Milvus that shows that a GET changes nothing.
	evidence string
	// body means that the response is read up to the size limit of a response. Without body, only a line is
	// read.
	body bool
	// gated pages may require a user. Credentials are sent to no other page.
	gated bool
	// take decodes a response. It also gets failed ones, whose outcome it may make worse.
	take func(d *Decoder, p *processRecords, q *pendingRecord)
	// redact removes from a record all that must not be stored; nil means redactBody.
	redact func(*Record)
}

// jsonPage completes the endpoint of a JSON page. read decodes a response and removes secrets; take stores it,
// unless the process gave a newer one. A stored record holds only the output of read, or nothing if the
// response is invalid.
func jsonPage[T any](
	e endpoint, read func([]byte) (T, *failure), take func(*Decoder, *processRecords, *pendingRecord, T),
) endpoint {
	e.body = true
	e.take = func(d *Decoder, p *processRecords, q *pendingRecord) {
		if q.outcome != model.Answered || q.At.Before(p.dates[e.uri]) {
			return
		}
		answer, f := read(q.Response)
		if f != nil {
			q.set(f.outcome, f.reason)
			return
		}
		p.dates[e.uri] = q.At
		take(d, p, q, answer)
	}
	e.redact = func(r *Record) {
		body := r.Response
		if r.Request, r.Response = nil, nil; recordOutcome(r) != model.Answered {
			return
		}
		answer, f := read(body)
		if f != nil {
			r.Error, r.Outcome = f.reason, f.outcome.String()
			return
		}
		kept, err := json.Marshal(answer)
		if err != nil {
			panic(fmt.Sprint("texts and numbers cannot be written: ", err))
		}
		r.Response = kept
	}
	return e
}

// jsonResponse is a pointer to a decoded response. clean removes secrets and other data that must not be stored,
// and reports whether the response has the required fields.
type jsonResponse[T any] interface {
	*T
	clean() bool
}

// jsonDecoder returns a decoder for the responses of a JSON page. what names the response in errors; begin is its
// first byte.
func jsonDecoder[T any, P jsonResponse[T]](what string, begin byte) func([]byte) (P, *failure) {
	return func(body []byte) (P, *failure) {
		answer := P(new(T))
		if f := readJSON(body, what, begin, answer); f != nil {
			return nil, f
		}
		if !answer.clean() {
			return nil, newFailure(model.Garbled, "the answer is not %s", what)
		}
		return answer, nil
	}
}

// endpoints returns all pages that are requested. Many of the other paths change something on a mere GET:
// /management/stop ends the process, /management/querycoord/balance/suspend stops balancing
// (internal/http/server.go: RegisterStopComponent; internal/proxy/management.go). The names of files and
// functions are those of Milvus 2.6 and 3.0.
func endpoints() []endpoint {
	return []endpoint{
		{
			uri: metricsPath, body: true, take: takeMetrics,
			evidence: "pkg/metrics/metrics.go: Register, a handler of Prometheus's client library",
		},
		{
			uri: healthzPath, take: takeHealthz,
			evidence: "internal/http/healthz/healthz_handler.go: ServeHTTP asks each role in the process for its state",
		},
		jsonPage(endpoint{
			uri: levelPath,
			evidence: "internal/http/server.go: registerDefaults hands it to zap's AtomicLevel, whose ServeHTTP " +
				"changes the level for PUT alone",
		}, jsonDecoder[levelResponse]("a log level", '{'), takeLevel),
		jsonPage(endpoint{
			uri: slowPath, gated: true,
			evidence: "internal/proxy/http_req_impl.go: getSlowQuery lists what is in memory",
		}, jsonDecoder[slowQueries]("a list of slow queries", '['), takeSlow),
		jsonPage(endpoint{
			uri: clientsPath + "?" + clientsQuery, gated: true,
			evidence: "internal/proxy/telemetry_http_handler.go: getTelemetryClients lists what RootCoord has in " +
				"memory",
		}, jsonDecoder[clientList]("a list of clients", '{'), takeClients),
		jsonPage(endpoint{
			uri: collectorPath, gated: true,
			evidence: "internal/coordinator/restful_mgr_routes.go: HandleDatacoordGC goes to GetDatacoordGCStatus " +
				"for GET; PUT pauses",
		}, jsonDecoder[collectorStatus]("the state of the garbage collector", '{'), takeCollector),
		jsonPage(endpoint{
			uri: walBalancePath, gated: true,
			evidence: "internal/coordinator/restful_mgr_routes.go: HandleStreamingBalanceStatus goes to " +
				"getStreamingBalanceStatus for GET; PUT suspends",
		}, jsonDecoder[walBalanceStatus]("the state of the balancing of streaming nodes", '{'), takeWALBalance),
		jsonPage(endpoint{
			uri: walNodesPath, gated: true,
			evidence: "internal/coordinator/restful_mgr_routes.go: HandleStreamingNodes lists streaming nodes, " +
				"frozen ones and what query nodes serve",
		}, jsonDecoder[walNodeList]("a list of streaming nodes", '{'), takeWALNodes),
		jsonPage(endpoint{
			uri: connectionsPath, gated: true,
			evidence: "internal/proxy/http_req_impl.go: getConnectedClients lists what is in memory",
		}, jsonDecoder[connections]("a list of clients", '['), takeConnections),
		jsonPage(endpoint{
			uri: dependenciesPath, gated: true,
			evidence: "internal/proxy/http_req_impl.go: getDependencies reads members, alarms and brokers; " +
				"queueHint.writesToPulsar has the exception",
		}, jsonDecoder[dependencies]("a list of dependencies", '{'), takeDependencies),
		jsonPage(endpoint{
			uri: configsPath, gated: true,
			evidence: "internal/proxy/http_req_impl.go: getConfigs writes a map",
		}, readConfigs, takeConfigs),
		jsonPage(endpoint{
			uri: configGetURI(), gated: true,
			evidence: "internal/coordinator/restful_mgr_routes.go: HandleGetConfig looks keys up and takes no other " +
				"method than GET",
		}, jsonDecoder[keyResponse]("a list of configuration keys", '{'), takeKeys),
	}
}

// endpointOf returns the page with a URI; ok is false if it is not listed.
func endpointOf(uri string) (endpoint, bool) {
	list := endpoints()
	if i := slices.IndexFunc(list, func(e endpoint) bool { return e.uri == uri }); i >= 0 {
		return list[i], true
	}
	return endpoint{}, false
}

// pageOf returns the page of a record, with any keys in the query, or nil if it is unknown.
func pageOf(method string) *endpoint { return pagesByName()[pageName(method)] }

// pagesByName maps names in lists of calls to pages. It is computed once, because each record of a round is
// looked up.
var pagesByName = sync.OnceValue(func() map[string]*endpoint {
	pages := make(map[string]*endpoint)
	for _, e := range endpoints() {
		pages[pageName("GET "+e.uri)] = &e
	}
	return pages
})

// Settings that restrict access to a page, as Milvus spells them.
const (
	adminAuth   = "common.security.adminAuthEnabled"
	userAuth    = "common.security.authorizationEnabled"
	metricsOnly = "common.security.managementMetricsOnly"
	consoleOff  = "proxy.http.enableV1"
)

// refusal returns the failure for a page that was not served. It names the responsible Milvus setting if the
// response identifies one. body is the text from the server.
func (c *Client) refusal(e *endpoint, status string, code int, body []byte) *failure {
	if f := c.milvusRefusal(e, status, code, serverMessage(body)); f != nil {
		return f
	}
	switch {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return newFailure(model.Denied, "%s", status)
	case code == http.StatusNotFound:
		return newFailure(model.Unimplemented, "%s", status)
	case code >= http.StatusInternalServerError:
		return newFailure(model.NotReady, "%s: %s", status, body)
	}
	return newFailure(model.Failed, "%s", status)
}

// milvusRefusal returns the failure for refusals by Milvus itself (internal/http/rbac.go: CheckRootAuth;
// internal/distributed/proxy/service.go: authenticate; internal/http/management_mux.go: ServeHTTP).
func (c *Client) milvusRefusal(e *endpoint, status string, code int, message string) *failure {
	if !e.gated {
		return nil
	}
	unsent := ""
	if c.opts.TLS != nil && (c.opts.Token != "" || c.opts.User != "") {
		unsent = "; user and password were not sent, as this server does not speak TLS"
	}
	switch {
	case strings.Contains(message, "root credentials"), strings.Contains(message, "only root user"),
		strings.Contains(message, "root password"):
		return newFailure(model.Denied, "%s: %s (%s is true: it requires root and its password%s)",
			status, message, adminAuth, unsent)
	case code == http.StatusServiceUnavailable && strings.Contains(message, "verif"):
		return newFailure(model.Denied, "%s: %s (%s is true, and this process cannot check passwords)", status, message,
			adminAuth)
	case code == http.StatusUnauthorized:
		wants := userAuth + " is true: since 2.6.10 it requires a user"
		if strings.HasPrefix(e.uri, "/management/") {
			wants = adminAuth + " is true: it requires root and its password"
		}
		if c.opts.credentials() != "" {
			wants += "; the user and password that were sent were refused"
		}
		if message != "" {
			status += ": " + message
		}
		return newFailure(model.Denied, "%s (%s%s)", status, wants, unsent)
	case code == http.StatusNotFound:
		return newFailure(model.Unimplemented,
			"%s: this release does not have the page, or it is turned off (%s: true, or for the console's pages %s: "+
				"false)", status, metricsOnly, consoleOff)
	}
	return nil
}

// serverMessage returns the message in a refusal, or "" if it has no readable one.
func serverMessage(body []byte) string {
	text := oneLine(string(body))
	if text == "" || text[0] == '<' {
		return ""
	}
	if inside, ok := embeddedError(body); ok {
		return oneLine(inside)
	}
	return text
}
