package live_test

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// pods returns a standalone Milvus and a proxy in its own pod. The proxy does not report its port; its HTTP
// server is at page. The address map leads there, because all pods have the same port.
func pods(t *testing.T, page string) (*model.Cluster, live.Options, int) {
	t.Helper()
	c := livetest.Cluster(livetest.Spec{Standalone: true, QueryNodes: 1, Collections: 1, Segments: 3})
	parts := c.Parts
	parts.Sessions = slices.Clone(parts.Sessions)
	for i, s := range parts.Sessions {
		if s.Role == "proxy" {
			moved := *s
			moved.Node, moved.Address = 44, "10.1.0.44:19529"
			parts.Sessions[i] = &moved
		}
	}
	c = model.Build(parts)
	servers, err := recorded.Start(livetest.Responses(c, livetest.Options{}), recorded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(servers.Close)
	at := func(address string) string {
		to, ok := servers.Address(address)
		if !ok {
			t.Fatalf("nobody serves %s", address)
		}
		return to
	}
	proxy := at("10.1.0.44:19529")
	_, common, _ := net.SplitHostPort(at("10.1.0.2:9091"))
	moved := livetest.WithAddresses(c, func(s *model.Session) string {
		if s.Node == 44 {
			return "proxy.internal:19529"
		}
		return at(s.Address)
	})
	port, err := strconv.Atoi(common)
	if err != nil {
		t.Fatal(err)
	}
	return moved, live.Options{
		Timeout: 2 * time.Second,
		Map:     map[string]string{"proxy.internal:19529": proxy, "proxy.internal:" + common: page},
	}, port
}

// TestCommonPort checks that a process that does not report its port is tried at the port of all others, and
// that the response counts only if it identifies the process.
func TestCommonPort(t *testing.T) {
	t.Parallel()
	page := func(code int, text string) string {
		return "127.0.0.1:" + strconv.Itoa(livetest.Page(t, code, []byte(text)))
	}
	named := "process_start_time_seconds 1.79516e+09\nmilvus_num_node{node_id=\"44\",role_name=\"proxy\"} 1\n"
	for name, test := range map[string]struct {
		page  string
		found bool
		why   string
	}{
		"named":              {page(http.StatusOK, named), true, ""},
		"by its labels, 2.1": {page(http.StatusOK, "milvus_proxy_req_count{node_id=\"44\"} 3\n"), true, ""},
		"another's": {
			page(http.StatusOK, strings.ReplaceAll(named, "44", "45")), false, "does not name this session",
		},
		"another role's": {
			page(http.StatusOK, strings.ReplaceAll(named, "proxy", "querynode")), false, "does not name this session",
		},
		"nobody's":  {page(http.StatusOK, "up 1\n"), false, "does not name this session"},
		"a page":    {page(http.StatusOK, "<html>welcome</html>"), false, "does not name this session"},
		"not found": {page(http.StatusNotFound, "no"), false, "unimplemented (404 Not Found)"},
		"refused":   {livetest.Refused(t), false, "refused"},
		"silent":    {livetest.Silent(t), false, "timed out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, opts, port := pods(t, test.page)
			var kept []live.Record
			opts.Keep = func(r live.Record) { kept = append(kept, r) }
			if test.why != "timed out" {
				opts.Timeout = unhurried
			}
			punctual := livetest.Punctual(t)
			start := time.Now()
			r := ask(t, c, opts)
			if took := time.Since(start); took > min(unhurried/2, opts.Timeout+time.Second) &&
				(opts.Timeout == unhurried || punctual()) {
				t.Errorf("took %v", took)
			}
			wantOutcome(t, r, "proxy", 44, model.Answered, "")
			again := live.NewDecoder()
			for _, k := range kept {
				again.Add(k)
			}
			for _, r := range []*model.Runtime{r, again.Runtime("recording", "")} {
				p, why := r.LiveNode("proxy", 44).Process, skipped(r, "metrics of proxy-44")
				if test.found &&
					(p == nil || p.Metrics == nil || p.Healthz == "" || why != "" || len(r.Processes) != 2) {
					t.Errorf("process %+v of %d, skipped %q", p, len(r.Processes), why)
				}
				if !test.found &&
					(p != nil || !strings.Contains(why, test.why) ||
						!strings.Contains(why, fmt.Sprintf("not %d", port)) || len(r.Processes) != 1) {
					t.Errorf("process %+v of %d, skipped %q", p, len(r.Processes), why)
				}
			}
		})
	}
}

// TestCommonPortRates checks that the second scrape works there too.
func TestCommonPortRates(t *testing.T) {
	page := livetest.Page(t, http.StatusOK,
		[]byte("process_cpu_seconds_total 3\nmilvus_num_node{node_id=\"44\",role_name=\"proxy\"} 1\n"))
	c, opts, _ := pods(t, "127.0.0.1:"+strconv.Itoa(page))
	opts.Window = 50 * time.Millisecond
	if p := ask(t, c, opts).LiveNode("proxy", 44).Process; p == nil || p.Before == nil {
		t.Errorf("process of the proxy: %+v", p)
	}
}

// TestCommonPortWithDeadServers checks that dead processes neither prevent scrapes at the common port nor delay
// the Ask further.
func TestCommonPortWithDeadServers(t *testing.T) {
	t.Parallel()
	page := livetest.Page(t, http.StatusOK, []byte("milvus_num_node{node_id=\"44\",role_name=\"proxy\"} 1\n"))
	c, opts, _ := pods(t, "127.0.0.1:"+strconv.Itoa(page))
	parts := c.Parts
	parts.Sessions = append(slices.Clip(parts.Sessions), &model.Session{
		Role: "querynode", Node: 77, Address: livetest.Silent(t),
	})
	punctual := livetest.Punctual(t)
	start := time.Now()
	r := ask(t, model.Build(parts), opts)
	if took := time.Since(start); took > 3*time.Second && punctual() {
		t.Errorf("took %v", took)
	}
	wantOutcome(t, r, "querynode", 77, model.TimedOut, "")
	if p := r.LiveNode("proxy", 44).Process; p == nil || p.Metrics == nil {
		t.Errorf("process of the proxy: %+v, skipped %v", p, r.Skipped)
	}
}
