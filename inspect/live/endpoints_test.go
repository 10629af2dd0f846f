package live

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"kitescope/inspect/model"
)

// TestOnlyListedPages checks that unlisted pages are never requested, and that only one function makes HTTP
// requests.
func TestOnlyListedPages(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if reached.Add(1); r.Method != http.MethodGet {
			t.Errorf("%s %s", r.Method, r.URL)
		}
	}))
	t.Cleanup(server.Close)
	for _, uri := range []string{
		"/management/stop", "/management/stop?role=querynode", "/management/querycoord/balance/suspend",
		"/management/datacoord/garbage_collection/pause", "/log/level?level=debug", "/log/level/", "/eventlog",
		"/expr", "/metrics?x=1", "/metrics/", "/", "", "/api/v1/_cluster/slow_query?limit=1",
		"/api/v1/_telemetry/clients",
	} {
		if _, f := fetchFrom(t, server, Options{}, uri); f == nil || f.outcome != model.NotAsked {
			t.Errorf("%s: %v", uri, f)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Fatalf("%d requests reached the server", n)
	}
	for _, e := range endpoints() {
		if _, f := fetchFrom(t, server, Options{}, e.uri); f != nil {
			t.Errorf("%s: %v", e.uri, f)
		}
		if !regexp.MustCompile(`^\S+\.go: \w+`).MatchString(e.evidence) {
			t.Errorf("%s: no file of Milvus and function in %q", e.uri, e.evidence)
		}
	}
	if n := int(reached.Load()); n != len(endpoints()) {
		t.Errorf("%d of %d requests reached the server", n, len(endpoints()))
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	asks := regexp.MustCompile(`\.Do\((request|req|r)\)|http\.(Get|Post|Head|NewRequest\w*)\(|MethodGet`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") && asks.Match(text) != (file == "http.go") {
			t.Errorf("%s asks over HTTP on its own", file)
		}
	}
}

func fetchFrom(t *testing.T, server *httptest.Server, opts Options, uri string) ([]byte, *failure) {
	t.Helper()
	c, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	tenant := c.budget.newReservation()
	defer tenant.releaseAll()
	return c.fetch(t.Context(), server.Client(), server.Listener.Addr().String(), uri, tenant)
}

// TestRefusals checks that the setting that restricts access to a page is named. The texts are from Milvus.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const root = `{"msg":"authentication required. Use HTTP Basic Auth with root credentials"}`
	for name, c := range map[string]struct {
		uri     string
		code    int
		said    string
		opts    Options
		outcome model.Outcome
		reason  string
	}{
		"root": {
			slowPath, 401, root,
			Options{},
			model.Denied,
			"401 Unauthorized: authentication required. Use HTTP Basic Auth with root credentials " +
				"(common.security.adminAuthEnabled is true: it requires root and its password)",
		},
		"another user": {
			slowPath, 403, `{"message":"only root user can access this endpoint"}`,
			Options{User: "ann", Password: "x"},
			model.Denied, "adminAuthEnabled is true",
		},
		"cannot check": {
			slowPath, 503, `{"msg":"password verification not available"}`,
			Options{},
			model.Denied,
			"this process cannot check passwords",
		},
		"a user": {
			slowPath, 401, `{"code":1800,"message":"user hasn't authenticated"}`,
			Options{},
			model.Denied,
			"401 Unauthorized: user hasn't authenticated (code 1800) (common.security.authorizationEnabled is true: " +
				"since 2.6.10 it requires a user)",
		},
		"refused": {
			slowPath, 401, `{"msg":"wrong password"}`,
			Options{User: "ann", Password: "x"},
			model.Denied,
			"wrong password (common.security.authorizationEnabled is true: since 2.6.10 it requires a user; the user " +
				"and password that were sent were refused)",
		},
		"management": {
			collectorPath, 401, "",
			Options{},
			model.Denied,
			"401 Unauthorized (common.security.adminAuthEnabled is true: it requires root and its password)",
		},
		"not over TLS": {
			slowPath, 401, root,
			Options{User: "root", Password: "x", TLS: &tls.Config{MinVersion: tls.VersionTLS12}},
			model.Denied, "were not sent, as this server does not speak TLS",
		},
		"metrics alone": {
			slowPath, 404, "404 page not found",
			Options{},
			model.Unimplemented,
			"common.security.managementMetricsOnly: true",
		},
		"starting": {
			slowPath, 500, `{"message":"node not ready"}`, Options{}, model.NotReady, "node not ready",
		},
		"a gateway":        {slowPath, 502, "<html>", Options{}, model.NotReady, "502 Bad Gateway"},
		"metrics are open": {metricsPath, 404, "", Options{}, model.Unimplemented, "404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.code)
				fmt.Fprint(w, c.said)
			}))
			t.Cleanup(server.Close)
			_, f := fetchFrom(t, server, c.opts, c.uri)
			if f == nil || f.outcome != c.outcome || !strings.Contains(f.reason, c.reason) {
				t.Errorf("%+v, want %s %q", f, c.outcome, c.reason)
			}
			if c.uri == metricsPath && f != nil && strings.Contains(f.reason, "security") {
				t.Errorf("%s: it is open to all", f.reason)
			}
		})
	}
}

// TestCredentialsAsMilvusTakesThem checks that user:password is sent as Basic, an API key as it is, and neither
// with TLS.
func TestCredentialsAsMilvusTakesThem(t *testing.T) {
	t.Parallel()
	for want, opts := range map[string]Options{
		"":                       {},
		"Basic cm9vdDpNaWx2dXM=": {Token: "root:Milvus"},
		"Bearer key-1":           {Token: "key-1"},
		"Basic YW5uOng=":         {User: "ann", Password: "x"},
	} {
		if got := opts.credentials(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		opts.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		if opts.credentials() != "" {
			t.Errorf("%s is sent without encryption", want)
		}
	}
}
