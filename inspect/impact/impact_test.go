package impact_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/impact"
	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// scrape returns /metrics of a process that started at second 1000. Its allocated bytes grow with n.
func scrape(n int, lines ...string) string {
	return fmt.Sprintf("process_start_time_seconds 1000\ngo_memstats_alloc_bytes_total %d\n", 1000*(n+1)) +
		strings.Join(lines, "\n") + "\n"
}

// count returns a line of the proxy's request counter of 2.3 to 2.6.
func count(function, status string, n int) string {
	return fmt.Sprintf(`milvus_proxy_req_count{function_name=%q,node_id="4",status=%q} %d`, function, status, n)
}

// histogram returns a histogram with one bucket up to 1000 ms, of n requests that took ms milliseconds in total.
func histogram(name, labels string, n, ms int) string {
	return fmt.Sprintf("%[1]s_bucket{%[2]s,le=\"1000\"} %[3]d\n%[1]s_bucket{%[2]s,le=\"+Inf\"} %[3]d\n"+
		"%[1]s_sum{%[2]s} %[4]d\n%[1]s_count{%[2]s} %[3]d", name, labels, n, ms)
}

// histogram2 returns a histogram of n requests of at most 32 ms and far requests of 128 to 1000 ms, which took ms
// milliseconds in total.
func histogram2(name, labels string, n, far, ms int) string {
	return fmt.Sprintf("%[1]s_bucket{%[2]s,le=\"32\"} %[3]d\n%[1]s_bucket{%[2]s,le=\"128\"} %[3]d\n"+
		"%[1]s_bucket{%[2]s,le=\"1000\"} %[4]d\n%[1]s_bucket{%[2]s,le=\"+Inf\"} %[4]d\n%[1]s_sum{%[2]s} %[5]d\n"+
		"%[1]s_count{%[2]s} %[4]d", name, labels, n, n+far, ms)
}

const types = "# TYPE milvus_datacoord_segment_num gauge\n# TYPE milvus_querynode_sq_req_count counter\n# TYPE " +
	"milvus_datanode_flush_buffer_op_count counter\n# TYPE milvus_datanode_flushed_data_size counter\n# TYPE " +
	"milvus_proxy_req_count counter\n# TYPE milvus_proxy_rate_limit_req_count counter\n# TYPE " +
	"milvus_rootcoord_ddl_req_count counter\n" +
	"# TYPE milvus_proxy_sq_latency histogram\n# TYPE milvus_proxy_req_latency histogram\n# TYPE " +
	"milvus_proxy_mutation_latency histogram\n# TYPE go_memstats_alloc_bytes_total counter\n"

// cluster calls clusterOf with a window of 15 seconds.
func cluster(texts map[string][2]string) *model.Cluster { return clusterOf(15*time.Second, texts) }

// startedLate returns a scrape of a process that started a minute before the first scrapes.
func startedLate(text string) string {
	started := time.Date(2026, 11, 20, 8, 59, 0, 0, time.UTC).Unix()
	return strings.Replace(text, "process_start_time_seconds 1000\n",
		fmt.Sprintf("process_start_time_seconds %d\n", started), 1)
}

// clusterOf returns a cluster whose processes, "proxy", "proxy-5" or "rootcoord", have two scrapes each, a
// window apart. An empty first scrape is missing.
func clusterOf(window time.Duration, texts map[string][2]string) *model.Cluster {
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	d := live.NewDecoder()
	for i := range 2 {
		for name, text := range texts {
			role, other, _ := strings.Cut(name, "-")
			if text[i] == "" {
				continue
			}
			r := live.Record{
				Role: role, Node: 4, Address: name + ":9091", Method: "GET /metrics",
				At: at.Add(time.Duration(i) * window), Response: []byte(types + text[i]),
			}
			if other == "5" {
				r.Node, r.Response = 5, []byte(strings.ReplaceAll(string(r.Response), `node_id="4"`, `node_id="5"`))
			}
			d.Add(r)
		}
	}
	return model.Build(model.Parts{
		Sessions: []*model.Session{{Role: "proxy", Node: 4, Address: "proxy:19530"}},
	}).WithRuntime(d.Runtime("recording", ""))
}

// TestStalled checks the state of a kind of request that came several times a second and does not succeed any
// more.
func TestStalled(t *testing.T) {
	t.Parallel()
	started := fmt.Sprintf("process_start_time_seconds %d", time.Date(2026, 11, 20, 8, 59, 0, 0, time.UTC).Unix())
	for name, test := range map[string]struct {
		before, now, failed, succeeded int
		state                          impact.State
	}{
		"one waits, none came":    {101, 101, 0, 0, impact.Hanging},
		"one fails, others wait":  {102, 103, 1, 0, impact.Failing},
		"one fails, nothing else": {100, 101, 1, 0, impact.Unsure},
		"one succeeds":            {102, 104, 1, 1, impact.Unsure},
		"a few, far slower":       {102, 102, 0, 2, impact.Slow},
		"as many, as quick":       {100, 120, 0, 20, impact.Fine},
	} {
		text := func(n, total, failed, succeeded int) string {
			lines := []string{
				started, count("Search", "total", total), count("Search", "fail", failed),
				count("Search", "success", 100+succeeded),
			}
			ms := 10
			if succeeded == 2 {
				ms = 2000
			}
			lines = append(lines,
				histogram("milvus_proxy_sq_latency", `query_type="search"`, 100+succeeded, 1000+ms*succeeded))
			return strings.Replace(scrape(n, lines...), "process_start_time_seconds 1000\n", "", 1)
		}
		x := impact.Measure(cluster(map[string][2]string{
			"proxy": {text(0, test.before, 0, 0), text(1, test.now, test.failed, test.succeeded)},
		}))
		if k := x.Kind(impact.Search); k.State != test.state {
			t.Errorf("%s: %+v", name, k)
		}
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	past := histogram("milvus_proxy_sq_latency", `query_type="search"`, 100, 1000)
	for name, test := range map[string]struct {
		before, now []string
		request     impact.Request
		state       impact.State
		line        string
	}{
		"idle": {
			[]string{count("Search", "total", 9), count("Search", "success", 9)},
			[]string{count("Search", "total", 9), count("Search", "success", 9)},
			impact.Search, impact.Idle, "searches: none in 15 s",
		},
		"all fail": {
			[]string{count("Insert", "total", 100), count("Insert", "success", 100)},
			[]string{count("Insert", "total", 156), count("Insert", "success", 100), count("Insert", "fail", 56)},
			impact.Insert, impact.Failing, "inserts: 56 of 56 failed in 15 s",
		},
		"2.6.20 has no plain fail": {
			[]string{count("Insert", "total", 100), count("Insert", "success", 100)},
			[]string{
				count("Insert", "total", 156), count("Insert", "success", 100), count("Insert", "fail_system", 56),
			},
			impact.Insert, impact.Failing, "inserts: 56 of 56 failed in 15 s",
		},
		"failures of the client are not those of the cluster": {
			[]string{count("Insert", "total", 100), count("Insert", "success", 100)},
			[]string{count("Insert", "total", 156), count("Insert", "success", 100), count("Insert", "fail_input", 56)},
			impact.Insert, impact.Fine, "inserts: 56 of 56 failed in 15 s",
		},
		"one of many": {
			[]string{count("Search", "total", 100), count("Search", "success", 100)},
			[]string{count("Search", "total", 200), count("Search", "success", 199), count("Search", "fail", 1)},
			impact.Search, impact.Fine, "searches: 1 of 100 failed in 15 s",
		},
		"hang": {
			[]string{count("Insert", "total", 103), count("Insert", "success", 100)},
			[]string{count("Insert", "total", 106), count("Insert", "success", 100)},
			impact.Insert, impact.Hanging, "inserts: 6 hanging, none completed in 15 s",
		},
		"one waits, none came": {
			[]string{count("Insert", "total", 101), count("Insert", "success", 100)},
			[]string{count("Insert", "total", 101), count("Insert", "success", 100)},
			impact.Insert, impact.Unsure, "inserts: 1 waiting, none completed in 15 s",
		},
		"refused for a fault of the client": {
			[]string{count("Insert", "total", 100), count("Insert", "success", 100)},
			[]string{
				count("Insert", "total", 110), count("Insert", "success", 100), count("Insert", "rejected_user", 10),
			},
			impact.Insert, impact.Fine, "inserts: 10 of 10 failed in 15 s",
		},
		"given up by clients": {
			[]string{count("Insert", "total", 100), count("Insert", "success", 100)},
			[]string{count("Insert", "total", 110), count("Insert", "success", 100), count("Insert", "cancel", 10)},
			impact.Insert, impact.Failing, "inserts: 10 of 10 failed in 15 s",
		},
		"a few that wait, as long as others took": {
			[]string{
				count("Search", "total", 100), count("Search", "success", 100),
				strings.ReplaceAll(histogram("milvus_proxy_sq_latency", `query_type="search"`, 100, 800000), "1000\"",
					"16000\""),
			},
			[]string{
				count("Search", "total", 103), count("Search", "success", 100),
				strings.ReplaceAll(histogram("milvus_proxy_sq_latency", `query_type="search"`, 100, 800000), "1000\"",
					"16000\""),
			},
			impact.Search, impact.Unsure, "searches: 3 waiting, none completed in 15 s",
		},
		"refused": {
			[]string{count("Insert", "total", 100), count("Insert", "success", 100)},
			[]string{count("Insert", "total", 110), count("Insert", "success", 100), count("Insert", "rejected", 10)},
			impact.Insert, impact.Refused, "inserts: 10 of 10 refused in 15 s",
		},
		"refused by the limiter of 2.4": {
			[]string{
				count("Delete", "total", 1), `milvus_proxy_rate_limit_req_count{msg_type="DMLDelete",status="fail"} 0`,
			},
			[]string{
				count("Delete", "total", 1), `milvus_proxy_rate_limit_req_count{msg_type="DMLDelete",status="fail"} 8`,
			},
			impact.Delete, impact.Refused, "deletes: 8 of 8 refused in 15 s",
		},
		"slow": {
			[]string{count("Search", "total", 100), count("Search", "success", 100), past},
			[]string{
				count("Search", "total", 110), count("Search", "success", 110),
				histogram("milvus_proxy_sq_latency", `query_type="search"`, 110, 11000),
			},
			impact.Search, impact.Slow, "searches: slow: 1.00 s on average, 10.5 ms before",
		},
		"a single one, far slower": {
			[]string{count("Search", "total", 100), count("Search", "success", 100), past},
			[]string{
				count("Search", "total", 101), count("Search", "success", 101),
				histogram("milvus_proxy_sq_latency", `query_type="search"`, 101, 2000),
			},
			impact.Search, impact.Unsure, "searches: 1 took 1.00 s, 10.5 ms on average before",
		},
		"a few, far slower": {
			[]string{count("Search", "total", 100), count("Search", "success", 100), past},
			[]string{
				count("Search", "total", 103), count("Search", "success", 103),
				histogram("milvus_proxy_sq_latency", `query_type="search"`, 103, 4000),
			},
			impact.Search, impact.Slow, "searches: slow: 1.00 s on average, 10.5 ms before",
		},
		"a fifth of many is far slower": {
			[]string{
				count("Search", "total", 100), count("Search", "success", 100),
				histogram2("milvus_proxy_sq_latency", `query_type="search"`, 100, 0, 2000),
			},
			[]string{
				count("Search", "total", 120), count("Search", "success", 120),
				histogram2("milvus_proxy_sq_latency", `query_type="search"`, 116, 4, 2700),
			},
			impact.Search, impact.Slow, "searches: slow: 4 of 20 took more than 82.0 ms, few before",
		},
		"half are slower, and were often slow before": {
			[]string{
				count("Search", "total", 100), count("Search", "success", 100),
				histogram2("milvus_proxy_sq_latency", `query_type="search"`, 90, 10, 12000),
			},
			[]string{
				count("Search", "total", 112), count("Search", "success", 112),
				histogram2("milvus_proxy_sq_latency", `query_type="search"`, 90, 22, 15600),
			},
			impact.Search, impact.Slow, "searches: slow: half take more than 128 ms, less than 32.0 ms before",
		},
		"two of many are far slower": {
			[]string{
				count("Search", "total", 100), count("Search", "success", 100),
				histogram2("milvus_proxy_sq_latency", `query_type="search"`, 100, 0, 2000),
			},
			[]string{
				count("Search", "total", 120), count("Search", "success", 120),
				histogram2("milvus_proxy_sq_latency", `query_type="search"`, 118, 2, 2400),
			},
			impact.Search, impact.Fine, "searches: fine (1.33 a second, p99 1.00 s)",
		},
		"a single one fails": {
			[]string{count("Query", "total", 100), count("Query", "success", 100)},
			[]string{count("Query", "total", 101), count("Query", "success", 100), count("Query", "fail", 1)},
			impact.Query, impact.Unsure, "queries: 1 of 1 failed in 15 s",
		},
		"fine": {
			[]string{count("Search", "total", 100), count("Search", "success", 100), past},
			[]string{
				count("Search", "total", 400), count("Search", "success", 400),
				histogram("milvus_proxy_sq_latency", `query_type="search"`, 400, 4000),
			},
			impact.Search, impact.Fine, "searches: fine (20.0 a second, p99 1.00 s)",
		},
		"reads of metadata fail in normal work": {
			[]string{count("DescribeIndex", "total", 1)},
			[]string{count("DescribeIndex", "total", 9), count("DescribeIndex", "fail", 8)},
			impact.Describe, impact.Fine, "metadata reads: 8 of 8 failed in 15 s",
		},
		"reads of metadata take a little longer": {
			[]string{
				count("DescribeCollection", "total", 100), count("DescribeCollection", "success", 100),
				histogram("milvus_proxy_req_latency", `function_name="DescribeCollection"`, 100, 1000),
			},
			[]string{
				count("DescribeCollection", "total", 120), count("DescribeCollection", "success", 120),
				histogram("milvus_proxy_req_latency", `function_name="DescribeCollection"`, 120, 9000),
			},
			impact.Describe, impact.Fine, "metadata reads: fine (1.33 a second, p99 1.00 s)",
		},
		"reads of metadata wait": {
			[]string{count("DescribeCollection", "total", 9), count("DescribeCollection", "success", 9)},
			[]string{count("DescribeCollection", "total", 12), count("DescribeCollection", "success", 9)},
			impact.Describe, impact.Hanging, "metadata reads: 3 hanging, none completed in 15 s",
		},
	} {
		x := impact.Measure(cluster(map[string][2]string{"proxy": {scrape(0, test.before...), scrape(1, test.now...)}}))
		k := x.Kind(test.request)
		if k == nil || k.State != test.state || k.Line() != test.line {
			t.Errorf("%s: %+v\n%s", name, k, k.Line())
		}
	}
}

// TestCoordinatorErrors checks that errors of a coordinator count as failures of DDL, because a proxy of 2.3
// counts them as successes.
func TestCoordinatorErrors(t *testing.T) {
	t.Parallel()
	ddl := func(status string, n int) string {
		return fmt.Sprintf(`milvus_rootcoord_ddl_req_count{function_name="CreateCollection",status=%q} %d`, status, n)
	}
	x := impact.Measure(cluster(map[string][2]string{
		"proxy": {
			scrape(0, count("CreateCollection", "success", 0)),
			scrape(1, count("CreateCollection", "total", 5), count("CreateCollection", "success", 5)),
		},
		"rootcoord": {
			scrape(0, ddl("total", 1), ddl("success", 1)),
			scrape(1, ddl("total", 6), ddl("success", 1), ddl("fail", 5)),
		},
	}))
	if k := x.Kind(impact.DDL); k.State != impact.Failing || k.Failed != 5 || k.Succeeded != 0 {
		t.Errorf("%+v", k)
	}
}

// TestCoordinatorSinceStart checks that failures that a coordinator counted since its start do not count as failures in
// the window.
func TestCoordinatorSinceStart(t *testing.T) {
	t.Parallel()
	x := impact.Measure(cluster(map[string][2]string{
		"proxy": {
			scrape(0, count("CreateCollection", "success", 0)),
			scrape(1, count("CreateCollection", "total", 5), count("CreateCollection", "success", 5)),
		},
		"rootcoord": {
			"", scrape(1, `milvus_rootcoord_ddl_req_count{function_name="CreateCollection",status="fail"} 5`),
		},
	}))
	if k := x.Kind(impact.DDL); k.State != impact.Fine || k.Failed != 0 {
		t.Errorf("%+v", k)
	}
}

// TestFlushes checks that the results of flushes come from data nodes, because a proxy of 2.3 counts a flush
// when it is ordered.
func TestFlushes(t *testing.T) {
	t.Parallel()
	flushes := func(status string, n int) string {
		return fmt.Sprintf(`milvus_datanode_flush_buffer_op_count{status=%q} %d`, status, n)
	}
	for name, test := range map[string]struct {
		now   []string
		state impact.State
	}{
		"end":        {[]string{flushes("total", 7), flushes("success", 7)}, impact.Fine},
		"fail":       {[]string{flushes("total", 7), flushes("success", 2), flushes("fail", 5)}, impact.Failing},
		"do not end": {[]string{flushes("total", 3), flushes("success", 1)}, impact.Hanging},
	} {
		x := impact.Measure(cluster(map[string][2]string{
			"proxy": {
				scrape(0, count("Flush", "success", 0)),
				scrape(1, count("Flush", "total", 5), count("Flush", "success", 5)),
			},
			"datanode": {scrape(0, flushes("total", 2), flushes("success", 1)), scrape(1, test.now...)},
		}))
		if k := x.Kind(impact.Flush); k.State != test.state {
			t.Errorf("%s: %+v", name, k)
		}
	}
}

// TestSealed checks that flushes hang if segments stay sealed while no segment becomes flushed, or while their data
// node writes nothing, and clients send flushes.
func TestSealed(t *testing.T) {
	t.Parallel()
	flushed := func(n int) string {
		return fmt.Sprintf(`milvus_datanode_flushed_data_size{msg_type="insert"} %d`, n)
	}
	counted := func(sealed, flushed, dropped int) string {
		const name = "milvus_datacoord_segment_num{segment_state="
		return fmt.Sprintf("%s\"Sealed\"} %d\n%s\"Flushed\"} %d\n%s\"Dropped\"} %d", name, sealed, name, flushed, name,
			dropped)
	}
	segments := func(states ...model.SegmentState) (list []*model.Segment) {
		for i, state := range states {
			list = append(list, &model.Segment{ID: model.SegmentID(i + 1), State: state, VChannel: "dml_0_7v0"})
		}
		return list
	}
	const none = "flushes: none in 15 s"
	for name, test := range map[string]struct {
		wrote, flushed, dropped, before, now, seconds int
		segments                                      []*model.Segment
		asked                                         int
		watcher                                       model.NodeID
		line                                          string
	}{
		"wait": {
			0, 0, 0, 2, 1, 15, segments(model.SegmentSealed, model.SegmentFlushed), 5, 4,
			"flushes: 1 segment waiting to be written for 15 s",
		},
		"wait, tried again": {
			1, 0, 0, 2, 1, 15, segments(model.SegmentSealed, model.SegmentFlushed), 5, 4,
			"flushes: 1 segment waiting to be written for 15 s",
		},
		"wait for one node": {
			0, 1, 0, 3, 2, 15, segments(model.SegmentSealed, model.SegmentSealed), 5, 4,
			"flushes: 1 segment waiting to be written for 15 s",
		},
		"wait for a moment": {
			0, 0, 0, 2, 1, 8, segments(model.SegmentSealed), 5, 4, "flushes: 1 segment waiting to be written for 8 s",
		},
		"nobody asked": {
			0, 0, 0, 2, 2, 15, segments(model.SegmentSealed, model.SegmentFlushing), 0, 4,
			"flushes: 2 segments waiting to be written for 15 s",
		},
		"one of them ended":        {0, 1, 0, 2, 1, 15, segments(model.SegmentSealed), 5, 4, none},
		"others are, node unknown": {0, 1, 0, 2, 1, 15, segments(model.SegmentSealed), 5, 9, none},
		"one flush ends":           {1, 1, 0, 2, 1, 15, segments(model.SegmentSealed), 5, 4, none},
		"a compaction ends":        {1, -1, 2, 2, 1, 15, segments(model.SegmentSealed), 5, 4, none},
		"sealed since":             {0, 0, 0, 0, 1, 15, segments(model.SegmentSealed), 5, 4, none},
		"counted wrongly":          {0, 0, 0, 2, 2, 15, segments(model.SegmentFlushed), 5, 4, none},
		"nothing is sealed":        {0, 0, 0, 0, 0, 15, nil, 5, 4, none},
	} {
		flush := count("Flush", "total", test.asked) + "\n" + count("Flush", "success", test.asked)
		c := clusterOf(time.Duration(test.seconds)*time.Second, map[string][2]string{
			"proxy": {
				startedLate(scrape(0, count("Insert", "success", 0), flush)),
				startedLate(scrape(1, count("Insert", "success", 5), flush)),
			},
			"datanode": {scrape(0, flushed(7)), scrape(1, flushed(7+test.wrote))},
			"datacoord": {
				scrape(0, counted(test.before, 3, 0)), scrape(1, counted(test.now, 3+test.flushed, test.dropped)),
			},
		})
		x := impact.Measure(model.Build(model.Parts{
			Sessions: append(c.Sessions, &model.Session{Role: "datanode", Node: 4}, &model.Session{
				Role: "datanode", Node: 9,
			}),
			Segments:  test.segments,
			VChannels: []*model.VChannel{{Name: "dml_0_7v0", PChannel: "dml_0", Collection: 7, Watcher: test.watcher}},
		}).WithRuntime(c.Runtime))
		hangs := strings.HasPrefix(name, "wait") && test.seconds >= 9
		if k := x.Kind(impact.Flush); k.Line() != test.line || k.State.AffectsClients() != hangs {
			t.Errorf("%s: %s: %s", name, k.State, k.Line())
		}
	}
}

// TestProxies checks that each proxy is judged by its own requests, and that a proxy with one scrape does not
// hide the others.
func TestProxies(t *testing.T) {
	t.Parallel()
	wait := [2]string{
		scrape(0, count("Insert", "total", 10), count("Insert", "success", 9)),
		scrape(1, count("Insert", "total", 10), count("Insert", "success", 9)),
	}
	busy := [2]string{
		scrape(0, count("Insert", "total", 10), count("Insert", "success", 10)),
		scrape(1, count("Insert", "total", 30), count("Insert", "success", 30)),
	}
	for name, test := range map[string]struct {
		of     [2][2]string
		state  impact.State
		unseen int
	}{
		"one lost its count":  {[2][2]string{wait, busy}, impact.Unsure, 0},
		"one was read once":   {[2][2]string{{"", busy[1]}, busy}, impact.Fine, 1},
		"both were read once": {[2][2]string{{"", busy[1]}, {"", busy[1]}}, impact.Unknown, 2},
	} {
		x := impact.Measure(cluster(map[string][2]string{"proxy": test.of[0], "proxy-5": test.of[1]}))
		if k := x.Kind(impact.Insert); k.State != test.state || len(x.Unseen) != test.unseen {
			t.Errorf("%s: %s, %q", name, k.Line(), x.Unseen)
		}
	}
}

// TestEscalate checks that few requests that fail, wait or are slow count if another kind of request
// hangs, unless they usually take as long.
func TestEscalate(t *testing.T) {
	t.Parallel()
	times := func(ms int) string {
		return strings.ReplaceAll(histogram("milvus_proxy_mutation_latency", `msg_type="insert"`, 60, 60*ms),
			`le="1000"`, fmt.Sprintf("le=%q", strconv.Itoa(4*ms)))
	}
	took40 := func(n, ms int) string {
		return strings.ReplaceAll(histogram("milvus_proxy_mutation_latency", `msg_type="insert"`, n, ms), `le="1000"`,
			`le="40"`)
	}
	for name, test := range map[string]struct {
		searches    int // searches that wait
		before, now []string
		state       impact.State
	}{
		"fail": {
			3,
			[]string{count("Insert", "success", 0)},
			[]string{count("Insert", "success", 1), count("Insert", "fail", 2)},
			impact.Failing,
		},
		"one of four fails": {
			3,
			[]string{count("Insert", "success", 0)},
			[]string{count("Insert", "success", 3), count("Insert", "fail", 1)},
			impact.Failing,
		},
		"one of five fails": {
			3,
			[]string{count("Insert", "success", 0)},
			[]string{count("Insert", "success", 4), count("Insert", "fail", 1)},
			impact.Unsure,
		},
		"fail, searches do not wait": {
			0,
			[]string{count("Insert", "success", 0)},
			[]string{count("Insert", "success", 1), count("Insert", "fail", 2)},
			impact.Unsure,
		},
		"wait": {
			3, []string{count("Insert", "total", 1)}, []string{count("Insert", "total", 1)}, impact.Hanging,
		},
		"wait, as long as others do": {
			3,
			[]string{count("Insert", "total", 1), times(4000)},
			[]string{count("Insert", "total", 1), times(4000)},
			impact.Unsure,
		},
		"wait, searches do not": {
			0, []string{count("Insert", "total", 1)}, []string{count("Insert", "total", 1)}, impact.Unsure,
		},
		"wait longer than others did": {
			3,
			[]string{count("Insert", "total", 1), times(100)},
			[]string{count("Insert", "total", 1), times(100)},
			impact.Hanging,
		},
		"slow": {
			3,
			[]string{count("Insert", "success", 60), times(10)},
			[]string{count("Insert", "success", 62), took40(62, 900)},
			impact.Slow,
		},
		"slow, searches do not wait": {
			0,
			[]string{count("Insert", "success", 60), times(10)},
			[]string{count("Insert", "success", 62), took40(62, 900)},
			impact.Fine,
		},
	} {
		x := impact.Measure(cluster(map[string][2]string{"proxy": {
			scrape(0, append(test.before, count("Search", "success", 5), count("Search", "total", 5))...),
			scrape(1, append(test.now, count("Search", "success", 5), count("Search", "total", 5+test.searches))...),
		}}))
		if k := x.Kind(impact.Insert); k.State != test.state {
			t.Errorf("%s: %s: %s", name, k.State, k.Line())
		}
	}
}

// TestHangsWithSlowSearches checks that a single insert in flight hangs beside slow searches, but not in a window
// that is too short for it to end.
func TestHangsWithSlowSearches(t *testing.T) {
	t.Parallel()
	searches := func(n, ms int) string { return histogram("milvus_proxy_sq_latency", `query_type="search"`, n, ms) }
	inserts := histogram("milvus_proxy_mutation_latency", `msg_type="insert"`, 60, 60*20)
	for window, state := range map[time.Duration]impact.State{
		1500 * time.Millisecond: impact.Unsure, 5 * time.Second: impact.Hanging,
	} {
		x := impact.Measure(clusterOf(window, map[string][2]string{"proxy": {
			scrape(0, count("Search", "success", 60), count("Insert", "total", 60), count("Insert", "success", 60),
				searches(60, 600), inserts),
			scrape(1, count("Search", "success", 70), count("Insert", "total", 61), count("Insert", "success", 60),
				searches(70, 3600), inserts),
		}}))
		if search, k := x.Kind(impact.Search), x.Kind(impact.Insert); search.State != impact.Slow || k.State != state {
			t.Errorf("%s: searches %s, inserts %s: %s", window, search.State, k.State, k.Line())
		}
	}
}

// TestIdleProxy checks that searches are refused if no request has passed the only proxy since it started, but
// query nodes answered many before.
func TestIdleProxy(t *testing.T) {
	t.Parallel()
	at := func(second int) string {
		return fmt.Sprintf("process_start_time_seconds %d", time.Date(2026, 11, 20, 8, 59, second, 0, time.UTC).Unix())
	}
	text := func(n, started int, lines ...string) string {
		return strings.Replace(scrape(n, append(lines, at(started))...), "process_start_time_seconds 1000\n", "", 1)
	}
	led := func(n int) string {
		return fmt.Sprintf(`milvus_querynode_sq_req_count{query_type="search",scope="OnLeader",status="success"} %d`, n)
	}
	for name, test := range map[string]struct {
		now   int
		state impact.State
	}{"none since": {90, impact.Refused}, "some since": {91, impact.Unknown}} {
		x := impact.Measure(cluster(map[string][2]string{
			"proxy":     {text(0, 40), text(1, 40)},
			"querynode": {text(0, 0, led(90)), text(1, 0, led(test.now))},
		}))
		if k := x.Kind(impact.Search); k.State != test.state {
			t.Errorf("%s: %+v", name, k)
		}
	}
}

// TestNoProxy checks that all requests fail if no proxy accepts connections, and that the state is unknown if
// one times out.
func TestNoProxy(t *testing.T) {
	t.Parallel()
	sessions := []*model.Session{
		{Role: "proxy", Node: 4, Address: "a:1"},
		{Role: "proxy", Node: 5, Address: "b:1"},
		{Role: "querynode", Node: 6, Address: "c:1"},
	}
	for _, test := range []struct {
		sessions int
		second   model.Outcome
		line     string
	}{
		{3, model.Refused, "all requests fail: no proxy accepts connections"},
		{3, model.TimedOut, "impact on clients: unknown, no proxy reported its metrics"},
		{1, model.Refused, "all requests fail: no proxy is registered"},
	} {
		r := model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{
			{Role: "proxy", Node: 4, Outcome: model.Refused},
			{Role: "proxy", Node: 5, Outcome: test.second},
			{Role: "querynode", Node: 6, Outcome: model.Answered},
		}})
		c := model.Build(model.Parts{Loaded: model.PartSessions, Sessions: sessions[3-test.sessions:]}).WithRuntime(r)
		lines := impact.Measure(c).Lines()
		if len(lines) != 1 || !strings.HasPrefix(lines[0].Text, test.line) {
			t.Errorf("%+v: %+v", test, lines)
		}
	}
}

// TestUnknown checks that no state is known without two scrapes of a proxy.
func TestUnknown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*model.Cluster{
		"not asked":          model.Build(model.Parts{}),
		"no request counted": cluster(map[string][2]string{"proxy": {scrape(0), scrape(1)}}),
		"no proxy":           cluster(map[string][2]string{"rootcoord": {scrape(0), scrape(1)}}),
		"one scrape": cluster(map[string][2]string{"proxy": {
			"", scrape(1, count("Insert", "total", 9), count("Insert", "fail", 9)),
		}}),
	} {
		for _, k := range impact.Measure(c).Kinds {
			if k.State != impact.Unknown || k.Why == "" ||
				strings.Contains(k.Why, "since it started") != (name == "no request counted") {
				t.Errorf("%s: %s", name, k.Line())
			}
		}
	}
}

// TestProxyRefusesKitescope checks that requests do not fail if a proxy refuses connections from kitescope but counts
// successes.
func TestProxyRefusesKitescope(t *testing.T) {
	t.Parallel()
	for succeeded, line := range map[int]string{
		7: "inserts: fine (0.467 a second)", 0: "inserts: fail: no proxy accepts connections",
	} {
		c := cluster(map[string][2]string{
			"proxy": {scrape(0, count("Insert", "success", 0)), scrape(1, count("Insert", "success", succeeded))},
		})
		r := model.BuildRuntime(model.RuntimeParts{Processes: c.Runtime.Processes, Nodes: []*model.LiveNode{
			{Role: "proxy", Node: 4, Outcome: model.Refused}, {Role: "querynode", Node: 6, Outcome: model.Answered},
		}})
		x := impact.Measure(model.Build(model.Parts{Loaded: model.PartSessions, Sessions: c.Sessions}).WithRuntime(r))
		if k := x.Kind(impact.Insert); k.Line() != line {
			t.Errorf("%s, want %s", k.Line(), line)
		}
	}
}

// TestDroppedSeries checks that requests hang although ends of others are left without their beginnings, as by proxies
// of 2.5 for each collection that was dropped.
func TestDroppedSeries(t *testing.T) {
	t.Parallel()
	drops := make([]string, 0, 10)
	for i := range cap(drops) {
		drops = append(drops,
			fmt.Sprintf(
				`milvus_proxy_req_count{function_name="DropCollection",node_id="4",collection_name="c%d",status="success"} 1`,
				i,
			))
	}
	x := impact.Measure(cluster(map[string][2]string{"proxy": {
		scrape(0, append(drops, count("CreateCollection", "total", 10), count("CreateCollection", "success", 10))...),
		scrape(1, append(drops, count("CreateCollection", "total", 13), count("CreateCollection", "success", 10))...),
	}}))
	if k := x.Kind(impact.DDL); k.State != impact.Hanging || k.InFlight != 3 {
		t.Errorf("%s: %s", k.State, k.Line())
	}
}

// TestUsual checks that requests that fail count as usual, and that durations stand for counters that were deleted.
func TestUsual(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"failing": count("Search", "total", 40) + "\n" + count("Search", "fail", 40),
		"dropped": histogram("milvus_proxy_req_latency", `function_name="Search"`, 40, 400) + "\n" +
			count("Search", "total", 1),
	} {
		x := impact.Measure(cluster(map[string][2]string{
			"proxy": {startedLate(scrape(0, before)), startedLate(scrape(1, before))},
		}))
		if k := x.Kind(impact.Search); k.Usual != 10 { // in 15 s, of 40 in a minute
			t.Errorf("%s: %+v", name, k)
		}
	}
}
