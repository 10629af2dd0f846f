package place_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/impact"
	"kitescope/inspect/live"
	"kitescope/inspect/model"
	"kitescope/inspect/place"
)

// probe adds probes of the state of a process with the given durations, one per second.
func (w *fixture) probe(s *model.Session, took ...time.Duration) {
	p := &live.Pace{}
	for i, d := range took {
		p.Probes = append(p.Probes, live.Probe{After: time.Duration(i) * time.Second, Took: d})
	}
	w.decoder.Add(live.Record{
		Role: s.Role, Node: s.Node, Address: s.Address, Method: service(s.Role) + "GetComponentStates", At: w.at,
		Outcome: "answered", Response: healthy(w.t), Pace: p,
	})
}

// TestStreamingArchitecture checks where requests break in the graph of 2.6. One process is all coordinators, and
// streaming nodes write and lead shards.
func TestStreamingArchitecture(t *testing.T) {
	t.Parallel()
	const node, queryNode = 2, 3
	searches := func(total, success int) string {
		const name, function = "milvus_proxy_req_count", `function_name="Search",status=`
		return count(name, function+`"total"`, total) + count(name, function+`"success"`, success)
	}
	coordinator := func(w *fixture) {
		w.call("mixcoord", "GetComponentStates", time.Millisecond, model.Answered)
		w.call("mixcoord", "GetMetrics", 3*time.Second, model.TimedOut)
		w.call("mixcoord", "ShowConfigurations", 3*time.Second, model.TimedOut)
	}
	silent := func(w *fixture) { w.call("streamingnode", "GetComponentStates", 3*time.Second, model.TimedOut) }
	wal := func(status string, n int) string {
		return count("milvus_wal_append_message_total", fmt.Sprintf("status=%q", status), n)
	}
	for name, test := range map[string]struct {
		before, now string
		harm        func(*fixture)
		request     impact.Request
		at          string
		kind        place.Kind
	}{
		"MixCoord hangs": {
			searches(13, 10), searches(16, 10), coordinator, impact.Search, "mixcoord-1", "mixcoord",
		},
		"a streaming node hangs, inserts wait": {
			inserts(13, 10, 0), inserts(16, 10, 0), silent, impact.Insert, "streamingnode-3", "streamingnode",
		},
		"a streaming node hangs, searches wait": {
			searches(13, 10), searches(16, 10), silent, impact.Search, "streamingnode-3", "streamingnode",
		},
		"a query node is gone": {searches(13, 10), searches(16, 10), func(w *fixture) {
			w.parts.Sessions = append(w.parts.Sessions[:queryNode:queryNode], w.parts.Sessions[queryNode+1:]...)
		}, impact.Search, "", "querynode"},
		"the WAL refuses": {inserts(10, 10, 0), inserts(66, 10, 56), func(w *fixture) {
			w.scrape(w.parts.Sessions[node], wal("ok", 50)+wal("error", 0), wal("ok", 50)+wal("error", 56))
		}, impact.Insert, "", place.Queue},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixtureOf(t, "2.6.2", "mixcoord", "proxy", "streamingnode", "querynode", "datanode")
			w.scrape(w.session("proxy"), test.before, test.now)
			w.call("proxy", "GetComponentStates", time.Millisecond, model.Answered)
			test.harm(w)
			_, places := w.places()
			p := places.For(test.request)
			if p == nil || p.Status == nil || p.Status.Component != (place.Component{Kind: test.kind, Name: test.at}) {
				t.Fatalf("%+v", p)
			}
		})
	}
}

// TestHost checks that the host is the place if all processes of a host are equally late.
func TestHost(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	took := func(n, ms int) string {
		return fmt.Sprintf("milvus_proxy_sq_latency_sum{query_type=\"search\"} %d\n"+
			"milvus_proxy_sq_latency_count{query_type=\"search\"} %d\n", ms, n) +
			count("milvus_proxy_req_count", `function_name="Search",status="total"`, n) +
			count("milvus_proxy_req_count", `function_name="Search",status="success"`, n)
	}
	for _, s := range w.parts.Sessions {
		s.HostName = "box"
		w.probe(s, 200*time.Millisecond, 300*time.Millisecond, time.Millisecond, 250*time.Millisecond)
	}
	w.scrape(w.session("proxy"), took(100, 1000), took(200, 101000))
	_, places := w.places()
	p := places.For(impact.Search)
	if p == nil || p.Status == nil || p.Status.Component != (place.Component{Kind: place.Host, Name: "box"}) ||
		p.Status.Strength != place.Medium {
		t.Fatalf("%+v", p)
	}
}

// TestLittleCPU checks that a process that uses hardly any CPU and whose calls time out is starved if its
// probes are late too, and otherwise waits. Right after its start, little CPU is no evidence.
func TestLittleCPU(t *testing.T) {
	t.Parallel()
	quick, late := []time.Duration{time.Millisecond, time.Millisecond}, []time.Duration{time.Second, time.Millisecond}
	for name, test := range map[string]struct {
		probes   []time.Duration
		start    time.Duration
		has      string
		strength place.Strength
	}{
		"starved":  {late, time.Hour, "hardly any CPU", place.Strong},
		"waits":    {quick, time.Hour, "waiting for something", place.Strong},
		"starting": {late, 30 * time.Second, "just after its start", place.Medium},
	} {
		w := newFixture(t)
		w.started = w.at.Add(-test.start)
		s := w.session("datacoord")
		w.scrape(s, "process_cpu_seconds_total 1.0", "process_cpu_seconds_total 1.1")
		w.probe(s, test.probes...)
		w.call("datacoord", "GetMetrics", 3*time.Second, model.TimedOut)
		w.call("datacoord", "ShowConfigurations", 3*time.Second, model.TimedOut)
		_, places := w.places()
		x := places.Components[slices.IndexFunc(places.Components, func(x *place.Status) bool {
			return x.Component.Name == "datacoord-2"
		})]
		text := strings.Join(x.Texts(), "; ")
		if x.State != place.Hanging || x.Strength != test.strength || !strings.Contains(text, test.has) ||
			test.start < time.Hour && strings.Contains(text, "CPU") {
			t.Errorf("%s: %s %s: %s", name, x.Strength, x.State, text)
		}
	}
}
