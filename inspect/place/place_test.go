package place_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/impact"
	"kitescope/inspect/live"
	"kitescope/inspect/model"
	"kitescope/inspect/place"
)

// fixture is a cluster under construction, with the records of its processes.
type fixture struct {
	t       *testing.T
	decoder *live.Decoder
	at      time.Time
	started time.Time // start of all processes
	parts   model.Parts
	etcd    *model.Etcd
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureOf(t, "2.3.5", "rootcoord", "datacoord", "querycoord", "proxy", "querynode", "querynode",
		"querynode", "datanode", "indexnode")
}

func newFixtureOf(t *testing.T, version string, roles ...string) *fixture {
	t.Helper()
	w := &fixture{t: t, decoder: live.NewDecoder(), at: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	w.started = w.at.Add(-3 * time.Minute)
	for i, role := range roles {
		s := &model.Session{
			Role: role, Node: model.NodeID(i + 1), Address: fmt.Sprintf("10.0.0.%d:1", i+1), Version: version,
		}
		w.parts.Sessions = append(w.parts.Sessions, s)
	}
	w.parts.Loaded = model.PartSessions
	return w
}

func (w *fixture) session(role string) *model.Session {
	for _, s := range w.parts.Sessions {
		if s.Role == role {
			return s
		}
	}
	return nil
}

// call adds a call to the first process of a role.
func (w *fixture) call(role, method string, took time.Duration, outcome model.Outcome) {
	s := w.session(role)
	r := live.Record{
		Role: role, Node: s.Node, Address: s.Address, Method: service(role) + method, At: w.at, Took: took,
		Outcome: outcome.String(),
	}
	if outcome != model.Answered {
		r.Outcome, r.Error = "", "DEADLINE_EXCEEDED: Deadline Exceeded"
	} else if r.Response = healthy(w.t); method == "GetMetrics" {
		r.Response = metricsOf(w.t, "")
	} else if method == "ShowConfigurations" {
		r.Response = marshal(w.t,
			&internalpb.ShowConfigurationsResponse{
				Configuations: []*commonpb.KeyValuePair{{Key: "common.gracefultime", Value: "5000"}},
			})
	}
	w.decoder.Add(r)
}

func healthy(t *testing.T) []byte {
	t.Helper()
	return marshal(t, &milvuspb.ComponentStates{State: &milvuspb.ComponentInfo{StateCode: commonpb.StateCode_Healthy}})
}

func metricsOf(t *testing.T, more string) []byte {
	t.Helper()
	return marshal(t,
		&milvuspb.GetMetricsResponse{Response: `{"name":"x","hardware_infos":{"cpu_core_count":4}` + more + `}`})
}

func marshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func service(role string) string {
	const data, proxy = "/milvus.proto.data.", "/milvus.proto.proxy."
	return map[string]string{
		"proxy": proxy + "Proxy/", "datanode": data + "DataNode/", "indexnode": "/milvus.proto.index.IndexNode/",
		"mixcoord":      "/milvus.proto.rootcoord.RootCoord/",
		"streamingnode": "/milvus.proto.streaming.StreamingNodeStateService/",
		"rootcoord":     "/milvus.proto.rootcoord.RootCoord/", "datacoord": "/milvus.proto.data.DataCoord/",
		"querycoord": "/milvus.proto.query.QueryCoord/", "querynode": "/milvus.proto.query.QueryNode/",
	}[role]
}

const types = `# TYPE milvus_proxy_req_count counter
# TYPE milvus_proxy_cache_hit_count counter
# TYPE milvus_proxy_tt_lag_ms gauge
# TYPE milvus_rootcoord_produce_tt_lag_ms gauge
# TYPE milvus_proxy_assign_segmentID_latency histogram
# TYPE milvus_proxy_apply_pk_latency histogram
# TYPE milvus_proxy_cache_update_latency histogram
# TYPE milvus_msgstream_op_count counter
# TYPE milvus_wal_append_message_total counter
# TYPE milvus_proxy_sq_latency histogram
# TYPE process_cpu_seconds_total counter
# TYPE go_memstats_alloc_bytes_total counter
# TYPE milvus_querynode_consume_tt_lag_ms gauge
# TYPE go_gc_duration_seconds summary
`

// scrape adds two scrapes of a process, 10 seconds apart.
func (w *fixture) scrape(s *model.Session, before, now string) {
	for i, text := range []string{before, now} {
		w.decoder.Add(live.Record{
			Role: s.Role, Node: s.Node, Address: strings.TrimSuffix(s.Address, ":1") + ":9091", Method: "GET /metrics",
			At: w.at.Add(time.Duration(i) * 10 * time.Second), Outcome: "answered",
			Response: fmt.Appendf(nil, "%sprocess_start_time_seconds %d\ngo_memstats_alloc_bytes_total %d\n%s\n", types,
				w.started.Unix(), 1000*(i+1), text),
		})
	}
}

func (w *fixture) places() (*impact.Impact, *place.Places) {
	c := model.Build(w.parts).WithRuntime(w.decoder.Runtime("recording", "")).WithEtcd(w.etcd)
	x := impact.Measure(c)
	return x, place.Find(c, x)
}

func count(name, labels string, n int) string { return fmt.Sprintf("%s{%s} %d\n", name, labels, n) }

func inserts(total, success, fail int) string {
	const name, function = "milvus_proxy_req_count", `function_name="Insert",status=`
	return count(name, function+`"total"`, total) + count(name, function+`"success"`, success) +
		count(name, function+`"fail"`, fail)
}

func produced(total, success, fail int) string {
	const name, function = "milvus_msgstream_op_count", `message_op_type="produce",status=`
	return count(name, function+`"total"`, total) + count(name, function+`"success"`, success) +
		count(name, function+`"fail"`, fail)
}

// TestQueueRefuses checks that the queue is the place if it refused as many messages as inserts failed.
func TestQueueRefuses(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.scrape(w.session("proxy"), inserts(10, 10, 0)+produced(10, 10, 0), inserts(66, 10, 56)+produced(66, 10, 56))
	w.scrape(w.session("rootcoord"), produced(100, 100, 0), produced(150, 150, 0))
	_, places := w.places()
	p := places.For(impact.Insert)
	if p == nil || p.Status == nil || p.Status.Component.Kind != place.Queue || p.Status.State != place.Refusing ||
		p.Status.Strength != place.Strong || !p.Equal {
		t.Fatalf("%+v", p)
	}
	if places.For(impact.Search) != nil {
		t.Error("searches are not felt")
	}
}

// TestQueueHoldsMessages checks that the queue hangs if it does not accept some messages, although it accepts
// others.
func TestQueueHoldsMessages(t *testing.T) {
	t.Parallel()
	for accepted, kind := range map[int]place.Kind{2: place.Queue, 100: place.Queue, 4000: ""} {
		w := newFixture(t)
		took := func(n int) string {
			const labels = `message_op_type="produce"`
			return count("milvus_msgstream_request_latency_count", labels, n) +
				count("milvus_msgstream_request_latency_sum", labels, 20*n) +
				count("milvus_msgstream_request_latency_bucket", labels+`,le="+Inf"`, n)
		}
		w.scrape(w.session("proxy"),
			"# TYPE milvus_msgstream_request_latency histogram\n"+inserts(105, 100, 0)+produced(108, 100, 0)+took(100),
			"# TYPE milvus_msgstream_request_latency histogram\n"+inserts(107, 100, 0)+
				produced(108+accepted, 100+accepted, 0)+took(100+accepted))
		_, places := w.places()
		p := places.For(impact.Insert)
		if p == nil {
			t.Fatal("inserts hang")
		}
		if got := p.Status; kind == "" && got != nil && got.Component.Kind == place.Queue ||
			kind != "" && (got == nil || got.Component.Kind != kind || got.State != place.Hanging) {
			t.Errorf("%d messages accepted: %+v", accepted, got)
		}
	}
}

// TestDataCoordHangs checks that DataCoord is the place if inserts hang and DataCoord answers only probes of
// its state.
func TestDataCoordHangs(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.scrape(w.session("proxy"), inserts(13, 10, 0), inserts(16, 10, 0))
	for _, role := range []string{"rootcoord", "querycoord", "querynode"} {
		w.call(role, "GetMetrics", 5*time.Millisecond, model.Answered)
	}
	w.call("datacoord", "GetComponentStates", 2*time.Second, model.Answered)
	w.call("datacoord", "GetMetrics", 3*time.Second, model.TimedOut)
	w.call("datacoord", "ShowConfigurations", 3*time.Second, model.TimedOut)
	_, places := w.places()
	p := places.For(impact.Insert)
	if p == nil || p.Status == nil || p.Status.Component.Name != "datacoord-2" || p.Status.State != place.Hanging ||
		p.Status.Strength != place.Strong {
		t.Fatalf("%+v", p)
	}
}

// TestNoConsumer checks searches that hang while the lags of all query nodes do not change. The place is the
// queue, or RootCoord if it sent no time ticks or late ones. It is unknown if the lag of one node changes.
func TestNoConsumer(t *testing.T) {
	t.Parallel()
	lag := func(ms int) string { return count("milvus_querynode_consume_tt_lag_ms", `collection_id="1"`, ms) }
	ticks := func(ms int) string { return count("milvus_rootcoord_produce_tt_lag_ms", `channel_name="dml_1"`, ms) }
	for _, c := range []struct {
		name              string
		lag, before, tick int
		want              place.Kind
	}{
		{"all stand still", 150, 100, 110, place.Queue},
		{"one moves", 190, 100, 110, ""},
		{"ticks are late", 150, 12_000, 22_000, "rootcoord"},
		{"no tick was sent", 150, 100, 100, "rootcoord"},
	} {
		w := newFixture(t)
		w.scrape(w.session("proxy"), searches(12), searches(13))
		w.scrape(w.session("rootcoord"), ticks(c.before), ticks(c.tick))
		for _, s := range w.parts.Sessions {
			if s.Role == "querynode" && s.Node == 6 {
				w.scrape(s, lag(150), lag(c.lag))
			} else if s.Role == "querynode" {
				w.scrape(s, lag(150), lag(150))
			}
		}
		_, places := w.places()
		p := places.For(impact.Search)
		switch {
		case p == nil || (p.Status == nil) != (c.want == ""):
			t.Errorf("%s: %+v", c.name, p)
		case p.Status != nil && p.Status.Component.Kind != c.want:
			t.Errorf("%s: %+v", c.name, p.Status)
		}
	}
}

// TestAllBehind checks searches that hang while all query nodes receive messages that are seconds old. The place is the
// queue, unless one of them is not behind.
func TestAllBehind(t *testing.T) {
	t.Parallel()
	lag := func(ms int) string { return count("milvus_querynode_consume_tt_lag_ms", `collection_id="1"`, ms) }
	for last, want := range map[int]place.Kind{4200: place.Queue, 300: ""} {
		w := newFixture(t)
		w.scrape(w.session("proxy"), searches(12), searches(13))
		for _, s := range w.parts.Sessions {
			if s.Role == "querynode" && s.Node == 6 {
				w.scrape(s, lag(200), lag(last))
			} else if s.Role == "querynode" {
				w.scrape(s, lag(3900), lag(3500))
			}
		}
		_, places := w.places()
		p := places.For(impact.Search)
		if got := places.For(impact.Search).Status; (got == nil) != (want == "") ||
			got != nil && (got.Component.Kind != want || got.State != place.Slow) {
			t.Errorf("%d ms: %+v", last, p)
		}
	}
}

// searches returns the counters of a proxy with the given total of searches, ten of which succeeded.
func searches(total int) string {
	const name = "milvus_proxy_req_count"
	return count(name, `function_name="Search",status="total"`, total) +
		count(name, `function_name="Search",status="success"`, 10)
}

// TestNodeBehindTheQueue checks searches that hang while one of three query nodes is 14 s behind the others
// in the queue. The place is the node, or the proxy if its time ticks on that channel are late.
func TestNodeBehindTheQueue(t *testing.T) {
	t.Parallel()
	ticks := func(ms int) string { return count("milvus_proxy_tt_lag_ms", `channel_name="dml_66"`, ms) }
	others := func(ms int) string { return count("milvus_proxy_tt_lag_ms", `channel_name="dml_6"`, ms) }
	nodeBehind(t, searches(12)+others(4000), searches(13)+others(13500), "querynode-6", place.Hanging)
	nodeBehind(t, searches(12), searches(13), "querynode-6", place.Hanging)
	nodeBehind(t, searches(12)+ticks(13500), searches(13)+ticks(13500), "querynode-6", place.Hanging)
	nodeBehind(t, searches(12)+inserts(13, 10, 0)+ticks(4000), searches(13)+inserts(14, 10, 0)+ticks(13500), "proxy-4",
		place.Slow)
}

func nodeBehind(t *testing.T, before, now, want string, state place.State) {
	t.Helper()
	w := newFixture(t)
	w.scrape(w.session("proxy"), before, now)
	for _, s := range w.parts.Sessions {
		if s.Role != "querynode" {
			continue
		}
		read := w.at.Add(-200 * time.Millisecond)
		if s.Node == 6 {
			read = w.at.Add(-14 * time.Second)
		}
		quota := fmt.Sprintf(
			`,"quota_metrics":{"Fgm":{"MinFlowGraphChannel":"dml_6%d_9v0","MinFlowGraphTt":%d,"NumFlowGraph":1}}`,
			s.Node, uint64(read.UnixMilli())<<18,
		)
		w.decoder.Add(live.Record{
			Role: s.Role, Node: s.Node, Address: s.Address, Method: service(s.Role) + "GetMetrics", At: w.at,
			Took: time.Millisecond, Outcome: "answered", Response: metricsOf(t, quota),
		})
	}
	_, places := w.places()
	p := places.For(impact.Search)
	if p == nil || p.Status == nil || p.Status.Component.Name != want || p.Status.State != state || len(p.Others) > 0 {
		t.Fatalf("%+v", p)
	}
}

// callHistogram returns a histogram of n calls of a millisecond each.
func callHistogram(name, labels string, n int) string {
	return fmt.Sprintf("%[1]s_bucket{%[2]s,le=\"1\"} %[3]d\n%[1]s_bucket{%[2]s,le=\"+Inf\"} %[3]d\n%[1]s_sum{%[2]s} "+
		"%[3]d\n%[1]s_count{%[2]s} %[3]d\n", name, labels, n)
}

// TestLinks checks that a coordinator is the place if a proxy gets no responses from it, although it answers
// kitescope.
func TestLinks(t *testing.T) {
	t.Parallel()
	const assign, pk, update = "milvus_proxy_assign_segmentID_latency", "milvus_proxy_apply_pk_latency",
		"milvus_proxy_cache_update_latency"
	misses := func(n int) string {
		return count("milvus_proxy_cache_hit_count", `cache_name="GetShards",cache_state="miss"`, n)
	}
	for _, c := range []struct {
		name, before, now string
		request           impact.Request
		want, text        string
	}{
		{
			"no segments, and row ids as ever",
			inserts(103, 100, 0) + callHistogram(assign, "", 200) + callHistogram(pk, "", 100),
			inserts(107, 100, 2) + callHistogram(assign, "", 200) + callHistogram(pk, "", 104), impact.Insert,
			"datacoord-2",
			"proxy-4 got no segments for inserts in 10 s, but it responds to kitescope: check the network between them",
		},
		{
			"nothing came", inserts(103, 100, 0) + callHistogram(assign, "", 200),
			inserts(103, 100, 0) + callHistogram(assign, "", 200), impact.Insert, "", "",
		},
		{
			"segments as ever", inserts(103, 100, 0) + callHistogram(assign, "", 200),
			inserts(107, 100, 2) + callHistogram(assign, "", 208), impact.Insert, "", "",
		},
		{
			"no shard leaders", searches(12) + misses(5) + callHistogram(update, `cache_name="GetShards"`, 5),
			searches(14) + misses(7) + callHistogram(update, `cache_name="GetShards"`, 5), impact.Search,
			"querycoord-3",
			"proxy-4 looked up shard leaders and got none in 10 s, but it responds to kitescope: check the network " +
				"between them",
		},
		{
			"shard leaders", searches(12) + misses(5) + callHistogram(update, `cache_name="GetShards"`, 5),
			searches(14) + misses(7) + callHistogram(update, `cache_name="GetShards"`, 7), impact.Search, "", "",
		},
	} {
		w := newFixture(t)
		for _, role := range []string{"rootcoord", "datacoord", "querycoord"} {
			w.call(role, "GetMetrics", 5*time.Millisecond, model.Answered)
		}
		w.scrape(w.session("proxy"), c.before, c.now)
		_, places := w.places()
		p := places.For(c.request)
		switch {
		case p == nil || (p.Status == nil) != (c.want == ""):
			t.Errorf("%s: %+v", c.name, p)
		case p.Status != nil && (p.Status.Component.Name != c.want || p.Status.Evidence[0].Text != c.text):
			t.Errorf("%s: %+v", c.name, p.Status)
		}
	}
}

// TestNothingKnown checks that the place is unknown if requests fail and there is no evidence about any
// component.
func TestNothingKnown(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.scrape(w.session("proxy"), inserts(10, 10, 0), inserts(66, 10, 56))
	_, places := w.places()
	p := places.For(impact.Insert)
	if p == nil || p.Status != nil || len(p.Unknown) == 0 {
		t.Fatalf("%+v", p)
	}
}

// TestEtcdUnresponsive checks that the place is etcd if it does not respond and DataCoord hangs.
func TestEtcdUnresponsive(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		problem string
		state   place.State
	}{
		{"no response from here", place.Hanging},
		{"no response from here: dial tcp 10.0.0.9:2379: connection refused", place.Gone},
	} {
		w := newFixture(t)
		w.etcd = &model.Etcd{Members: []model.EtcdMember{{Endpoint: "10.0.0.9:2379", Problem: test.problem}}}
		w.scrape(w.session("proxy"), inserts(13, 10, 0), inserts(16, 10, 0))
		w.call("querycoord", "GetMetrics", 5*time.Millisecond, model.Answered)
		w.call("datacoord", "GetComponentStates", 2*time.Second, model.Answered)
		w.call("datacoord", "GetMetrics", 3*time.Second, model.TimedOut)
		w.call("datacoord", "ShowConfigurations", 3*time.Second, model.TimedOut)
		_, places := w.places()
		if p := places.For(impact.Insert); p == nil || p.Status == nil || p.Status.Component.Kind != place.Etcd ||
			p.Status.State != test.state || p.Status.Strength != place.Strong {
			t.Errorf("%s: %+v", test.problem, p)
		}
	}
}

// TestEtcdSlow checks that slow reads by kitescope are evidence, whose strength depends on the durations of
// other calls.
func TestEtcdSlow(t *testing.T) {
	t.Parallel()
	repeat := func(n int, d time.Duration) (list []time.Duration) {
		for range n {
			list = append(list, d)
		}
		return list
	}
	for name, test := range map[string]struct {
		reads    []time.Duration
		call     time.Duration // duration of calls to processes
		state    place.State
		strength place.Strength
	}{
		"quick":             {repeat(20, 2*time.Millisecond), 5 * time.Millisecond, place.Fine, place.Weak},
		"slow":              {repeat(20, 900*time.Millisecond), 5 * time.Millisecond, place.Slow, place.Strong},
		"slow, as all else": {repeat(20, 900*time.Millisecond), 400 * time.Millisecond, place.Slow, place.Medium},
		"far":               {repeat(20, 180*time.Millisecond), 170 * time.Millisecond, place.Fine, place.Weak},
		"stalls": {
			append(repeat(15, 2*time.Millisecond), repeat(5, 900*time.Millisecond)...), 5 * time.Millisecond,
			place.Slow, place.Medium,
		},
		"one stall": {
			append(repeat(18, 2*time.Millisecond), 1500*time.Millisecond), 5 * time.Millisecond, place.Fine, place.Weak,
		},
		"short stalls": {
			append(repeat(18, 2*time.Millisecond), repeat(3, 310*time.Millisecond)...), 5 * time.Millisecond,
			place.Fine, place.Weak,
		},
	} {
		w := newFixture(t)
		w.etcd = &model.Etcd{
			Members: []model.EtcdMember{{Endpoint: "10.0.0.9:2379", Leader: true}}, Reads: test.reads,
			Linear: test.reads[:3], Local: test.reads[:3],
		}
		for _, role := range []string{"rootcoord", "querycoord", "querynode"} {
			w.call(role, "GetMetrics", test.call, model.Answered)
		}
		_, places := w.places()
		i := slices.IndexFunc(places.Components, func(s *place.Status) bool { return s.Component.Kind == place.Etcd })
		if s := places.Components[i]; s.State != test.state || s.Strength != test.strength {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestDataCoordSlow checks that DataCoord is the place of inserts that wait, are slow or fail, even of a
// single one, if its calls take seconds and succeed.
func TestDataCoordSlow(t *testing.T) {
	t.Parallel()
	const took = "milvus_proxy_mutation_latency"
	times := func(n, ms int) string {
		label := `msg_type="insert",node_id="4"`
		return fmt.Sprintf("# TYPE %s histogram\n%s_bucket{%s,le=\"+Inf\"} %d\n%s_sum{%s} %d\n%s_count{%s} %d\n", took,
			took, label, n, took, label, ms, took, label, n)
	}
	for name, test := range map[string]struct {
		before, now string
		state       impact.State
	}{
		"one waits": {
			inserts(100, 100, 0) + times(100, 500), inserts(101, 100, 0) + times(100, 500), impact.Hanging,
		},
		"one ended in 3 s": {
			inserts(100, 100, 0) + times(100, 500), inserts(101, 101, 0) + times(101, 3500), impact.Slow,
		},
		"four ended in 3 s": {
			inserts(100, 100, 0) + times(100, 500), inserts(104, 104, 0) + times(104, 12500), impact.Slow,
		},
		"one failed of three": {
			inserts(100, 100, 0) + times(100, 500), inserts(103, 102, 1) + times(102, 510), impact.Unsure,
		},
	} {
		w := newFixture(t)
		w.scrape(w.session("proxy"), test.before, test.now)
		for _, role := range []string{"rootcoord", "querycoord", "querynode"} {
			w.call(role, "GetMetrics", 5*time.Millisecond, model.Answered)
		}
		w.call("datacoord", "GetComponentStates", 40*time.Millisecond, model.Answered)
		w.call("datacoord", "GetMetrics", 2*time.Second, model.Answered)
		w.call("datacoord", "ShowConfigurations", 1500*time.Millisecond, model.Answered)
		x, places := w.places()
		if k := x.Kind(impact.Insert); k.State != test.state {
			t.Errorf("%s: inserts are %s", name, k.State)
		}
		if p := places.For(impact.Insert); p == nil || p.Status == nil || p.Status.Component.Name != "datacoord-2" ||
			p.Status.State != place.Slow || p.Status.Strength != place.Strong {
			t.Errorf("%s: %+v", name, p.Status)
		}
	}
}

// TestGaps checks that a proxy is the place of searches for which it waits far longer than shard leaders take, if it
// did not before.
func TestGaps(t *testing.T) {
	t.Parallel()
	times := func(name, labels string, n, ms int) string {
		return fmt.Sprintf("# TYPE %[1]s histogram\n%[1]s_bucket{%[2]s,le=\"+Inf\"} %[3]d\n%[1]s_sum{%[2]s} %[4]d\n"+
			"%[1]s_count{%[2]s} %[3]d\n", name, labels, n, n*ms)
	}
	sum := func(name, labels string, n, ms, more, moreMs int) string {
		return strings.Replace(times(name, labels, n+more, 1), fmt.Sprintf("_sum{%s} %d", labels, n+more),
			fmt.Sprintf("_sum{%s} %d", labels, n*ms+more*moreMs), 1)
	}
	for name, test := range map[string]struct {
		waitBefore, wait, lead int
		gap                    bool
	}{
		"network":        {12, 190, 20, true},
		"slow leaders":   {12, 190, 170, false},
		"as much before": {180, 190, 20, false},
		"a little":       {12, 60, 20, false},
	} {
		w := newFixture(t)
		const wait, lead, search = "milvus_proxy_sq_wait_result_latency", "milvus_querynode_sq_req_latency",
			`query_type="search"`
		total := func(n int) string {
			const name, function = "milvus_proxy_req_count", `function_name="Search",status=`
			return count(name, function+`"total"`, n) + count(name, function+`"success"`, n)
		}
		w.scrape(w.session("proxy"),
			total(100)+times("milvus_proxy_sq_latency", search, 100, 14)+times(wait, search, 100, test.waitBefore),
			total(120)+sum("milvus_proxy_sq_latency", search, 100, 14, 20, 200)+
				sum(wait, search, 100, test.waitBefore, 20, test.wait))
		for _, s := range w.parts.Sessions {
			if s.Role == "querynode" {
				led := search + `,scope="OnLeader"`
				w.scrape(s, times(lead, led, 100, 10), sum(lead, led, 100, 10, 20, test.lead))
			}
		}
		_, places := w.places()
		p := places.For(impact.Search)
		if p == nil {
			t.Fatalf("%s: searches are not slow", name)
		}
		if got := p.Status != nil && p.Status.Component.Kind == "proxy" &&
			strings.Contains(strings.Join(p.Status.Texts(), ""), "longer than at shard leaders"); got != test.gap {
			t.Errorf("%s: %+v", name, p.Status)
		}
	}
}
