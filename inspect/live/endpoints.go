package live

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"kitescope/inspect/model"
)

// endpoint is a page of the HTTP server of a process that may be asked for. Nothing that is not on the list of endpoints is.
type endpoint struct {
	// uri is the path, with the query where there is one.
	uri string
	// reads is where Milvus's code shows that a GET changes nothing.
	reads string
	// body: an answer is read up to the limit of one; else a line of it will do.
	body bool
	// gated: it may want a user. Credentials go nowhere else.
	gated bool
	// take takes an answer in, also one that failed, whose outcome it may make worse.
	take func(d *Decoder, p *processRecords, q *question)
	// redact makes of a record what may be kept; nil: what redactBody keeps.
	redact func(*Record)
}

// ofDecoder is a take of what is not about the process that told it.
func ofDecoder(take func(*Decoder, *question)) func(*Decoder, *processRecords, *question) {
	return func(d *Decoder, _ *processRecords, q *question) { take(d, q) }
}

// ofProcess is a take of what is about the process that told it.
func ofProcess(take func(*processRecords, *Decoder, *question)) func(*Decoder, *processRecords, *question) {
	return func(d *Decoder, p *processRecords, q *question) { take(p, d, q) }
}

// endpoints are all pages that are asked for. Many of the other paths change something when they are merely fetched:
// /management/stop ends the process, /management/querycoord/balance/suspend stops balancing (internal/http/server.go:
// RegisterStopComponent; internal/proxy/management.go). The names of files and functions are those of Milvus 2.6 and 3.0.
func endpoints() []endpoint {
	return []endpoint{
		{
			uri: metricsPath, body: true, take: func(d *Decoder, p *processRecords, q *question) { d.takeMetrics(p, q) },
			reads: "pkg/metrics/metrics.go: Register, a handler of Prometheus's client library",
		},
		{
			uri: healthzPath, take: ofProcess((*processRecords).takeHealthz),
			reads: "internal/http/healthz/healthz_handler.go: ServeHTTP asks each role in the process for its state",
		},
		{
			uri: levelPath, body: true, take: func(_ *Decoder, p *processRecords, q *question) { p.takeLevel(q) }, redact: redactLevel,
			reads: "internal/http/server.go: registerDefaults hands it to zap's AtomicLevel, whose ServeHTTP changes the level for PUT alone",
		},
		{
			uri: slowPath, body: true, gated: true, take: func(d *Decoder, p *processRecords, q *question) { d.takeSlow(p, q) }, redact: redactSlow,
			reads: "internal/proxy/http_req_impl.go: getSlowQuery lists what is in memory",
		},
		{
			uri: clientsPath + "?" + clientsQuery, body: true, gated: true, take: ofProcess((*processRecords).takeClients), redact: redactClients,
			reads: "internal/proxy/telemetry_http_handler.go: getTelemetryClients lists what RootCoord has in memory",
		},
		{
			uri: collectorPath, body: true, gated: true, take: ofDecoder((*Decoder).takeCollector), redact: redactCollector,
			reads: "internal/coordinator/restful_mgr_routes.go: HandleDatacoordGC goes to GetDatacoordGCStatus for GET; PUT pauses",
		},
		{
			uri: walBalancePath, body: true, gated: true, take: ofDecoder((*Decoder).takeWALBalance), redact: redactWALBalance,
			reads: "internal/coordinator/restful_mgr_routes.go: HandleStreamingBalanceStatus goes to getStreamingBalanceStatus for GET; PUT suspends",
		},
		{
			uri: walNodesPath, body: true, gated: true, take: ofDecoder((*Decoder).takeWALNodes), redact: redactWALNodes,
			reads: "internal/coordinator/restful_mgr_routes.go: HandleStreamingNodes lists streaming nodes, frozen ones and what query nodes serve",
		},
		{
			uri: connectionsPath, body: true, gated: true, take: ofProcess((*processRecords).takeConnections), redact: redactReported,
			reads: "internal/proxy/http_req_impl.go: getConnectedClients lists what is in memory",
		},
		{
			uri: dependenciesPath, body: true, gated: true, take: ofProcess((*processRecords).takeDependencies), redact: redactReported,
			reads: "internal/proxy/http_req_impl.go: getDependencies reads members, alarms and brokers; queueHint.writesToPulsar has the exception",
		},
		{
			uri: configsPath, body: true, gated: true, take: ofProcess((*processRecords).takeConfigs), redact: redactConfigs,
			reads: "internal/proxy/http_req_impl.go: getConfigs writes a map",
		},
		{
			uri: configGetURI(), body: true, gated: true, take: ofDecoder((*Decoder).takeKeys), redact: redactKeys,
			reads: "internal/coordinator/restful_mgr_routes.go: HandleGetConfig looks keys up and takes no other method than GET",
		},
	}
}

// endpointOf finds a page on the list; ok is false if it is not there.
func endpointOf(uri string) (endpoint, bool) {
	list := endpoints()
	if i := slices.IndexFunc(list, func(e endpoint) bool { return e.uri == uri }); i >= 0 {
		return list[i], true
	}
	return endpoint{}, false
}

// pageOf finds the page of a record, whichever keys it names; nil: none that is known.
func pageOf(method string) *endpoint { return pagesByName()[pageName(method)] }

// pagesByName are the pages as calls are listed. Each record of a round is looked up.
var pagesByName = sync.OnceValue(func() map[string]*endpoint {
	pages := make(map[string]*endpoint)
	for _, e := range endpoints() {
		pages[pageName("GET "+e.uri)] = &e
	}
	return pages
})

// Settings that keep a page from who asks, as Milvus spells them.
const (
	adminAuth   = "common.security.adminAuthEnabled"
	userAuth    = "common.security.authorizationEnabled"
	metricsOnly = "common.security.managementMetricsOnly"
	consoleOff  = "proxy.http.enableV1"
)

// refused says why a page was not served, and names the setting of Milvus that makes it so, where the answer shows which. said is what
// the server wrote.
func (c *Client) refused(e *endpoint, status string, code int, said []byte) *failure {
	if f := c.keptFrom(e, status, code, serverSaid(said)); f != nil {
		return f
	}
	switch {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return failed(model.Denied, "%s", status)
	case code == http.StatusNotFound:
		return failed(model.Unimplemented, "%s", status)
	case code >= http.StatusInternalServerError:
		return failed(model.NotReady, "%s: %s", status, said)
	}
	return failed(model.Failed, "%s", status)
}

// keptFrom recognizes the refusals of Milvus itself (internal/http/rbac.go: CheckRootAuth; internal/distributed/proxy/service.go:
// authenticate; internal/http/management_mux.go: ServeHTTP).
func (c *Client) keptFrom(e *endpoint, status string, code int, said string) *failure {
	if !e.gated {
		return nil
	}
	unsent := ""
	if c.opts.TLS != nil && (c.opts.Token != "" || c.opts.User != "") {
		unsent = "; user and password were not sent, as this server does not speak TLS"
	}
	switch {
	case strings.Contains(said, "root credentials"), strings.Contains(said, "only root user"), strings.Contains(said, "root password"):
		return failed(model.Denied, "%s: %s (%s is true: it wants root and its password%s)", status, said, adminAuth, unsent)
	case code == http.StatusServiceUnavailable && strings.Contains(said, "verif"):
		return failed(model.Denied, "%s: %s (%s is true, and this process cannot check passwords)", status, said, adminAuth)
	case code == http.StatusUnauthorized:
		wants := userAuth + " is true: from 2.6.10 on it wants a user"
		if strings.HasPrefix(e.uri, "/management/") {
			wants = adminAuth + " is true: it wants root and its password"
		}
		if c.opts.credentials() != "" {
			wants += "; the user and password that were sent are refused"
		}
		if said != "" {
			status += ": " + said
		}
		return failed(model.Denied, "%s (%s%s)", status, wants, unsent)
	case code == http.StatusNotFound:
		return failed(model.Unimplemented, "%s: this release does not have the page, or it is turned off (%s: true, or for the console's pages %s: false)", status, metricsOnly, consoleOff)
	}
	return nil
}

// serverSaid is the message in a refusal, "" if there is none for people.
func serverSaid(body []byte) string {
	text := oneLine(string(body))
	if text == "" || text[0] == '<' {
		return ""
	}
	if inside, ok := errorInside(body); ok {
		return oneLine(inside)
	}
	return text
}
