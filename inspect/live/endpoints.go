package live

import (
	"net/http"
	"slices"
	"strings"

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
}

// endpoints are all pages that are asked for. Many of the other paths change something when they are merely fetched:
// /management/stop ends the process, /management/querycoord/balance/suspend stops balancing (internal/http/server.go:
// RegisterStopComponent; internal/proxy/management.go). The names of files and functions are those of Milvus 2.6 and 3.0.
func endpoints() []endpoint {
	return []endpoint{
		{uri: metricsPath, body: true, reads: "pkg/metrics/metrics.go: Register, a handler of Prometheus's client library"},
		{uri: healthzPath, reads: "internal/http/healthz/healthz_handler.go: ServeHTTP asks each role in the process for its state"},
		{uri: levelPath, body: true, reads: "internal/http/server.go: registerDefaults hands it to zap's AtomicLevel, whose ServeHTTP changes the level for PUT alone"},
		{uri: slowPath, body: true, gated: true, reads: "internal/proxy/http_req_impl.go: getSlowQuery lists what is in memory"},
		{uri: clientsPath + "?" + clientsQuery, body: true, gated: true, reads: "internal/proxy/telemetry_http_handler.go: getTelemetryClients lists what RootCoord has in memory"},
		{uri: collectorPath, body: true, gated: true, reads: "internal/coordinator/restful_mgr_routes.go: HandleDatacoordGC goes to GetDatacoordGCStatus for GET; PUT pauses"},
		{uri: connectionsPath, body: true, gated: true, reads: "internal/proxy/http_req_impl.go: getConnectedClients lists what is in memory"},
		{uri: dependenciesPath, body: true, gated: true, reads: "internal/proxy/http_req_impl.go: getDependencies reads members, alarms and brokers; queueHint.writesToPulsar has the exception"},
		{uri: configsPath, body: true, gated: true, reads: "internal/proxy/http_req_impl.go: getConfigs writes a map"},
		{uri: configGetURI(), body: true, gated: true, reads: "internal/coordinator/restful_mgr_routes.go: HandleGetConfig looks keys up and takes no other method than GET"},
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
		return failed(model.Denied, "%s (%s is true: from 2.6.10 on it wants a user%s)", status, userAuth, unsent)
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
