package session_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/inspect/impact"
	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
)

// TestEtcdState checks that the health of etcd includes its write activity over the window.
func TestEtcdState(t *testing.T) {
	runInBubble(t, func(t *testing.T, etcd *flaky) {
		t.Helper()
		state := make(chan *model.Etcd)
		go func() { state <- session.EtcdState(t.Context(), etcd, time.Second) }()
		synctest.Wait()
		etcd.put("by-dev/meta/session/x", nil)
		e := <-state
		if len(e.Members) != 1 || !e.Members[0].Leader || e.Unresponsive() {
			t.Errorf("members %+v", e.Members)
		}
		if a := e.Activity; a == nil || a.Over != time.Second || a.Revisions != 1 {
			t.Errorf("activity %+v", e.Activity)
		}
		if e := session.EtcdState(t.Context(), etcd, 0); e.Activity != nil {
			t.Errorf("nobody watched, and yet: %+v", e.Activity)
		}
	})
}

// demoCluster starts the demo and loads its metadata.
func demoCluster(t *testing.T) (*demo.Cluster, source.Live, *model.Cluster) {
	t.Helper()
	cluster, err := demo.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	src, err := cluster.Source("")
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := meta.Load(t.Context(), snapshot, meta.Want{Parts: model.PartAll})
	if err != nil {
		t.Fatal(err)
	}
	return cluster, src, c
}

// TestAsk checks that Ask returns the state of the registered processes and of etcd.
func TestAsk(t *testing.T) {
	_, src, c := demoCluster(t)
	kept := 0
	c, err := session.Ask(t.Context(), src, live.Options{Now: demo.Now, Keep: func(live.Record) { kept++ }}, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Etcd == nil || len(c.Runtime.QueryNodes()) != 4 || kept == 0 {
		t.Errorf("etcd %v, %d query nodes, %d answers", c.Etcd, len(c.Runtime.QueryNodes()), kept)
	}
	for _, n := range c.Runtime.QueryNodes() {
		if n.Outcome != model.Answered {
			t.Errorf("%s: %v", n.Name(), n.Outcome)
		}
	}
}

// TestLongWindow checks that a request in flight, which may hang, is watched for a longer window.
func TestLongWindow(t *testing.T) {
	t.Parallel()
	_, src, _ := demoCluster(t)
	c := livetest.Cluster(livetest.Spec{Version: "2.3.5", QueryNodes: 1, Collections: 1, Segments: 3})
	const page = "10.0.0.99:9091"
	text := "# TYPE milvus_proxy_req_count counter\n" +
		"milvus_proxy_req_count{function_name=\"Insert\",status=\"total\"} 1\n" +
		"milvus_num_node{node_id=\"4\",role_name=\"proxy\"} 1\n"
	answers := append(livetest.Responses(c, livetest.Options{}), live.Record{
		Role: "proxy", Node: 4, Address: page, Method: "GET /metrics", Response: []byte(text),
	})
	servers, err := recorded.Start(answers, recorded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	moved := func(address string) string {
		at, _ := servers.Address(address)
		return at
	}
	_, port, _ := net.SplitHostPort(moved(page))
	options := live.Options{Window: 50 * time.Millisecond}
	options.MetricsPort, _ = strconv.Atoi(port) // proxies of 2.3 do not report theirs
	c, err = session.Ask(t.Context(), src, options,
		livetest.WithAddresses(c, func(s *model.Session) string { return moved(s.Address) }), nil)
	if err != nil {
		t.Fatal(err)
	}
	if k := impact.Measure(c).Kind(impact.Insert); k.InFlight != 1 || k.Seconds < 4 {
		t.Errorf("%+v", k)
	}
}

// TestLinger checks that requests are watched for longer if that is wanted, and that failures after the first window
// are counted.
func TestLinger(t *testing.T) {
	t.Parallel()
	_, src, _ := demoCluster(t)
	c := livetest.Cluster(livetest.Spec{Version: "2.3.5", QueryNodes: 1, Collections: 1, Segments: 3})
	var begun atomic.Pointer[time.Time]
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		ms := time.Since(*begun.Load()).Milliseconds()
		fmt.Fprintf(w,
			"# TYPE milvus_proxy_req_count counter\n"+
				"milvus_proxy_req_count{function_name=\"Insert\",status=\"total\"} %d\n"+
				"milvus_proxy_req_count{function_name=\"Insert\",status=\"success\"} %d\n"+
				"milvus_proxy_req_count{function_name=\"Insert\",status=\"fail\"} %d\n"+
				"milvus_num_node{node_id=\"4\",role_name=\"proxy\"} 1\n", ms, min(ms, 2000), max(ms-2000, 0))
	}))
	defer page.Close()
	c = livetest.Serve(t, c, livetest.Responses(c, livetest.Options{}), recorded.Options{})
	options := live.Options{Window: 50 * time.Millisecond}
	options.MetricsPort = page.Listener.Addr().(*net.TCPAddr).Port
	lingered := 0
	for _, lingering := range []func(time.Duration) func(){
		nil, func(time.Duration) func() { return func() { lingered++ } },
	} {
		now := time.Now()
		begun.Store(&now)
		asked, err := session.Ask(t.Context(), src, options, c, lingering)
		if err != nil {
			t.Fatal(err)
		}
		want := impact.Fine
		if lingering != nil {
			want = impact.Failing
		}
		if k := impact.Measure(asked).Kind(impact.Insert); k.State != want {
			t.Errorf("lingering %t: %+v", lingering != nil, k)
		}
	}
	if lingered != 1 {
		t.Errorf("lingered %d times", lingered)
	}
}

// TestReadAgain checks that a dynamic key written while processes were queried is reported as a change.
func TestReadAgain(t *testing.T) {
	cluster, src, before := demoCluster(t)
	if c := session.Reread(t.Context(), src, before, time.Minute); len(c.ConfigChanges) != 0 {
		t.Errorf("nothing has changed, and yet: %v", c.ConfigChanges)
	}
	cluster.Put("by-dev/config/queryCoord/autoBalance", []byte("true"))
	if c := session.Reread(t.Context(), src, before, time.Minute); len(c.ConfigChanges) == 0 {
		t.Error("a change was not seen")
	}
}

// TestUnresponsiveError checks that etcd is silent if no member is reachable. A refused request is a response.
func TestUnresponsiveError(t *testing.T) {
	for problem, silent := range map[string]bool{
		"":                              false,
		"etcdserver: permission denied": false,
		"no response from here: connection refused": true,
	} {
		e := &model.Etcd{Members: []model.EtcdMember{{Problem: problem}}}
		if got := e.Unresponsive(); got != silent {
			t.Errorf("%q: silent %t", problem, got)
		}
		if silent && session.UnresponsiveError(e).Error() != "etcd is not responding: connection refused" {
			t.Errorf("%v", session.UnresponsiveError(e))
		}
	}
}

// TestUnresponsiveSessions checks that processes that did not respond, or did not report their segments, are listed.
func TestUnresponsiveSessions(t *testing.T) {
	if got := session.UnresponsiveSessions(model.Build(model.Parts{})); got != nil {
		t.Errorf("nobody was asked, and yet: %q", got)
	}
	c := model.Build(model.Parts{}).WithRuntime(model.BuildRuntime(model.RuntimeParts{
		Nodes: []*model.LiveNode{
			{Role: "querynode", Node: 3, Outcome: model.Answered},
			{Role: "proxy", Node: 1, Outcome: model.Answered},
			{Role: "datanode", Node: 2, Outcome: model.TimedOut, Reason: "no response\nwithin 5s"},
		},
		Skipped: []model.Skipped{{Reason: live.NobodyRegistered}},
	}))
	want := []string{
		"datanode-2: timed out: no response within 5s", live.NobodyRegistered + ": no process could be queried",
		"querynode-3 did not report its segments",
	}
	slices.Sort(want)
	if got := session.UnresponsiveSessions(c); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
