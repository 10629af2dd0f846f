package live_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

const (
	methodSlow = "GET /api/v1/_cluster/slow_query"
	// slowFile is metricsinfo.SlowQuery encoded by encoding/json, as Milvus's own NewSlowQueryWithSearchRequest
	// and NewSlowQueryWithQueryRequest (pkg/v2 of 2.6, the same in pkg/v3 3.0.1) fill it from a search, a query
	// and a hybrid search.
	slowFile = "testdata/slow_query-2.6.json"
)

var slowAsked = time.Date(2026, 11, 26, 1, 53, 12, 0, time.UTC)

func slowText(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile(slowFile)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func slowRecord(text string) live.Record {
	return live.Record{
		Role: "proxy", Node: 4, Address: "10.1.0.5:9091", Method: methodSlow, Response: []byte(text),
		Outcome: "answered", At: slowAsked,
	}
}

// wantSlow returns the contents of the file as model values.
func wantSlow() []model.SlowRequest {
	at := time.Date(2026, 11, 26, 1, 49, 47, 0, time.UTC)
	const told = "2026-11-26 01:49:47"
	return []model.SlowRequest{
		{
			Source: model.FromProxy, Node: 4, EndedAt: at, LocalTime: told, Database: "default", Collection: "docs",
			Type: "HybridSearch",
			Expr: "lang == ?", Filtered: model.Yes, NQ: 2, TopK: 50, Output: []string{"title"},
			DefaultConsistency: true,
			Took:               65*time.Second + 1, Trace: "5cb6f0ff0a1dd4e0f2b5f6a7c8d9e0f1",
		},
		{
			Source: model.FromProxy, Node: 4, EndedAt: at, LocalTime: told, Database: "default", Collection: "docs",
			Type: "Search",
			Expr: "email == ? and year > ?", Filtered: model.Yes, NQ: 10, TopK: 100, Output: []string{"title", "year"},
			Consistency: "Bounded",
			Took:        7311250 * time.Microsecond, Trace: "4b2bbf8c7d9e1f00a1b2c3d4e5f60718",
		},
		{
			Source: model.FromProxy, Node: 4, EndedAt: at, LocalTime: told, Database: "shop", Collection: "orders",
			Partitions: []string{"_default", "y2026"},
			Type:       "Query", Expr: "id in [? x3]", Filtered: model.Yes, Output: []string{"*"},
			Consistency: "Strong",
			Took:        6005 * time.Millisecond, Trace: "00f067aa0ba902b74bf92f3577b34da6",
		},
	}
}

// TestSlowRequests checks that Milvus's structs are decoded, also from the stored record, which holds no values
// and no user.
func TestSlowRequests(t *testing.T) {
	record := slowRecord(slowText(t))
	if diff := cmp.Diff(wantSlow(), decode(record).SlowRequests()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	kept := live.Redact(record)
	if diff := cmp.Diff(wantSlow(), decode(kept).SlowRequests()); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	for _, personal := range []string{"ada", "1999", "71235", "root", `"de\`, "COSINE"} {
		if strings.Contains(string(kept.Response), personal) {
			t.Errorf("%s is kept: %s", personal, kept.Response)
		}
	}
}

// TestSlowTimes checks the end times, for which a proxy reports no zone.
func TestSlowTimes(t *testing.T) {
	at := time.Date(2026, 11, 26, 1, 49, 47, 0, time.UTC)
	for told, want := range map[string]time.Time{
		"2026-11-26 01:49:47": at, "2026-11-26 09:49:47": at, "2026-11-25 18:49:47": at, // UTC, +08:00, -07:00
		"2026-11-26 07:19:47": at,                          // +05:30
		"2026-11-26 01:54:40": at.Add(293e9),               // its clock is ahead by a minute and a half
		"2026-11-26 01:20:00": {}, "yesterday": {}, "": {}, // dropped long ago: the clock or the text is wrong
	} {
		got := decode(slowRecord(fmt.Sprintf(`[{"time":%q,"duration":"6s"}]`, told))).SlowRequests()
		if len(got) != 1 || !got[0].EndedAt.Equal(want) || got[0].LocalTime != told {
			t.Errorf("%q: %+v, want %v", told, got, want)
		}
	}
	undated := slowRecord(slowText(t))
	undated.At = time.Time{}
	if got := decode(undated).SlowRequests(); !got[0].EndedAt.IsZero() || got[0].LocalTime == "" {
		t.Errorf("of a recording without times: %+v", got[0])
	}
}

// TestSlowHostile checks that responses that are not exactly one list are reported, and that unknown counts are
// not 0.
func TestSlowHostile(t *testing.T) {
	t.Parallel()
	whole := slowText(t)
	many := "[" + strings.Repeat(`{"duration":"6s"},`, 1_200) + `{"duration":"7s"}]`
	for name, c := range map[string]struct {
		text    string
		outcome model.Outcome
		reason  string
		known   int // -1: unknown
	}{
		"none":         {"[]\n", model.Answered, "", 0},
		"a login page": {"\n<!DOCTYPE html><html>Password: <input></html>", model.Garbled, "an HTML page", -1},
		"nothing":      {"", model.Garbled, "empty", -1},
		"an object":    {`{"error":"denied"}`, model.Failed, "denied", -1},
		"an error in it": {
			`{"code":1800,"message":"user hasn't authenticated"}`, model.Failed,
			"user hasn't authenticated (code 1800)", -1,
		},
		"null":               {"null", model.Garbled, "not a list", -1},
		"no end":             {strings.TrimRight(strings.TrimSpace(whole), "]"), model.Garbled, "not a list", -1},
		"another shape":      {`[{"duration":"6s"},{"duration":6}]`, model.Garbled, "not a list", -1},
		"numbers":            {`[1,2]`, model.Garbled, "not a list", -1},
		"nulls":              {`[null,{"query_params":{"search_params":[null]}}]`, model.Answered, "", 2},
		"more than are kept": {many, model.Answered, "", 1000},
		"a million": {
			"[" + strings.Repeat(`{"duration":"6s"},`, 1_000_000) + `{}]`, model.TooLarge, "more than 160 MiB", -1,
		},
		"deep": {strings.Repeat("[", 1_000_000), model.Garbled, "", -1},
		"wild numbers": {
			`[{"duration":"-6s","query_params":{"search_params":[{"nq":[-1,9223372036854775807],"search_params":["topk=99999999999,limit=-3"]}]}}]`,
			model.Answered, "", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []live.Record{slowRecord(c.text), live.Redact(slowRecord(c.text))} {
				runtime := decode(r)
				p := runtime.Processes[0]
				if call := p.Calls[0]; call.Outcome != c.outcome || !strings.Contains(call.Reason, c.reason) {
					t.Errorf("%s (%s), want %s (%s)", call.Outcome, call.Reason, c.outcome, c.reason)
				}
				known := len(p.SlowRequests)
				if p.SlowRequests == nil {
					known = -1
				}
				if known != c.known {
					t.Errorf("%d requests, want %d", known, c.known)
				}
				if told := len(runtime.Skipped) > 0; told != (c.known == 1000) {
					t.Errorf("skipped: %v", runtime.Skipped)
				}
				for _, s := range p.SlowRequests {
					if s.Took < 0 || s.NQ < 0 || s.TopK < 0 {
						t.Errorf("%+v", s)
					}
				}
			}
		})
	}
}

// TestAskSlow queries an HTTP server that serves the file: one additional call to the proxy, and none to others
// or to an older one.
func TestAskSlow(t *testing.T) {
	t.Parallel()
	const user, password = "inspector", "hunter2 hunter2"
	for name, c := range map[string]struct {
		version string
		options live.Options
		want    model.Outcome
		known   int
		// clients is the number of requests to the proxy for client reports.
		clients int32
	}{
		"2.6":                {"2.6.7", live.Options{User: user, Password: password}, model.Answered, 3, 0},
		"2.6, nobody said":   {"2.6.10", live.Options{}, model.Denied, 0, 0},
		"2.3 has no list":    {"2.3.5", live.Options{}, model.NotAsked, 0, 0},
		"its release is new": {"3.0.1", live.Options{User: user, Password: password}, model.Answered, 6, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked, clients atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				who, secret, sent := r.BasicAuth()
				switch r.URL.Path {
				case "/metrics":
					fmt.Fprint(w,
						"# TYPE milvus_num_node gauge\nmilvus_num_node{node_id=\"4\",role_name=\"proxy\"} 1\n")
				case "/healthz":
					fmt.Fprint(w, "OK")
				case "/api/v1/_cluster/configs", "/api/v1/_cluster/clients", "/api/v1/_cluster/dependencies":
					fmt.Fprint(w,
						map[string]string{
							"configs": configsText, "clients": connectionsText, "dependencies": dependenciesText,
						}[path.Base(r.URL.Path)])
					sent = false
				case "/api/v1/_telemetry/clients":
					clients.Add(1)
					if who != user || secret != password || r.URL.RawQuery != "include_metrics=true" {
						t.Errorf("asked as %q, %q", who, r.URL.RawQuery)
					}
					fmt.Fprint(w, clientsText)
					sent = false
				case "*":
					// the preface of HTTP/2: a gRPC client of another test dials a port that was reused for this server
				default:
					asked.Add(1)
					if r.URL.Path != "/api/v1/_cluster/slow_query" {
						t.Errorf("%s was asked for", r.URL.Path)
					}
					if who != user || secret != password {
						w.WriteHeader(http.StatusUnauthorized)
						fmt.Fprint(w, `{"code":1800,"message":"user hasn't authenticated"}`)
						return
					}
					http.ServeFile(w, r, slowFile)
					sent = false
				}
				if sent {
					t.Errorf("credentials were sent to %s", r.URL.Path)
				}
			}))
			t.Cleanup(server.Close)
			cluster := livetest.Cluster(livetest.Spec{QueryNodes: 1, Version: c.version})
			cluster = livetest.Serve(t, cluster, livetest.Responses(cluster, livetest.Options{}), recorded.Options{})
			c.options.MetricsPort = 9091
			c.options.Map = map[string]string{"127.0.0.1:9091": server.Listener.Addr().String()}
			r := ask(t, cluster, c.options)
			p := r.LiveNode("proxy", 4).Process
			if p == nil || p.Metrics == nil {
				t.Fatalf("the proxy's process: %+v", p)
			}
			got := model.NotAsked
			for _, call := range p.Calls {
				if call.Method == methodSlow {
					got = call.Outcome
				}
			}
			if n := asked.Load(); got != c.want || (n == 1) != (c.want != model.NotAsked) || n > 1 {
				t.Errorf("%s after %d calls, want %s", got, n, c.want)
			}
			if n := len(r.SlowRequests()); n != c.known || clients.Load() != c.clients {
				t.Errorf("%d requests, clients asked for %d times", n, clients.Load())
			}
		})
	}
}

// FuzzSlow checks that no response causes a panic, that requests are within bounds, and that the stored record
// decodes to the same and holds no value.
func FuzzSlow(f *testing.F) {
	f.Add([]byte(slowText(f)))
	for _, seed := range []string{
		"[]", "null", "<html>", `[{"duration":"6s"`, `[{"query_params":{"expr":"a == \"x\""}}]`, `[null]`, "[[[",
		`[{"time":"2026-11-26 01:49:47"}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := slowRecord(string(text))
		got := decode(r)
		kept := live.Redact(r)
		same := decode(kept)
		if diff := cmp.Diff(got.SlowRequests(), same.SlowRequests()); diff != "" {
			t.Errorf("kept (-asked +kept):\n%s", diff)
		}
		if diff := cmp.Diff(kept, live.Redact(kept)); diff != "" {
			t.Errorf("redacted twice (-once +twice):\n%s", diff)
		}
		for _, s := range got.SlowRequests() {
			if s.Took < 0 || s.NQ < 0 || s.TopK < 0 || len(s.Expr) > 600 || len(s.Collection) > 300 {
				t.Errorf("%+v", s)
			}
		}
	})
}
