package latency_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"kitescope/inspect/latency"
)

// metricsText returns the metrics text of a process. rows holds histograms: name, labels, an observation, and its
// count n.
func metricsText(role string, node int, rows ...any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# TYPE milvus_num_node gauge\nmilvus_num_node{node_id=\"%d\",role_name=\"%s\"} 1\n", node, role)
	typed := map[any]bool{}
	for i := 0; i < len(rows); i += 4 {
		name, labels, ms, n := rows[i], rows[i+1].(string), rows[i+2].(float64), rows[i+3].(int)
		if !typed[name] {
			typed[name] = true
			fmt.Fprintf(&b, "# TYPE %s histogram\n", name)
		}
		le := 1.0
		for ; le < ms; le *= 2 {
			fmt.Fprintf(&b, "%s_bucket{node_id=\"%d\",%sle=\"%g\"} 0\n", name, node, labels, le)
		}
		fmt.Fprintf(&b, "%s_bucket{node_id=\"%d\",%sle=\"%g\"} %d\n%s_bucket{node_id=\"%d\",%sle=\"+Inf\"} %d\n", name,
			node, labels, le, n, name, node, labels, n)
		labels = strings.TrimSuffix(labels, ",")
		fmt.Fprintf(&b, "%s_sum{node_id=\"%d\",%s} %v\n%s_count{node_id=\"%d\",%s} %d\n", name, node, labels,
			ms*float64(n), name, node, labels, n)
	}
	return b.String()
}

// TestStreaming checks the budgets of a 2.6 cluster, with the names and labels of pkg/metrics: fractions of
// milliseconds, databases, the queue of the proxy, a hybrid search, and a streaming node that leads shards and
// appends to the log.
func TestStreaming(t *testing.T) {
	const search, hybrid = `query_type="search",db_name="default",collection_name="docs",`,
		`query_type="hybrid_search",db_name="default",collection_name="docs",`
	const on, from = `query_type="search",scope="OnLeader",`, `query_type="search",scope="FromLeader",`
	const insert = `msg_type="insert",db_name="default",collection_name="docs",`
	l := latency.Compute(cluster(t, map[string]string{
		"proxy1": metricsText("proxy", 1,
			"milvus_proxy_sq_latency", search, 20.251, 80, "milvus_proxy_sq_latency", hybrid, 20.251, 20,
			"milvus_proxy_collection_sq_latency", search, 20.251, 80, "milvus_proxy_collection_sq_latency", hybrid,
			20.251, 20, "milvus_proxy_sq_wait_result_latency", `query_type="search",`, 19.751, 80,
			"milvus_proxy_sq_wait_result_latency", `query_type="hybrid_search",`, 19.751, 20,
			"milvus_proxy_req_in_queue_latency", `function_name="Search",`, 4.501, 100,
			"milvus_proxy_req_in_queue_latency", `function_name="Insert",`, 0.501, 30, "milvus_proxy_mutation_latency",
			insert, 9.251, 30, "milvus_proxy_mutation_send_latency", insert, 8.251, 30),
		"streamingnode2": metricsText("streamingnode", 2,
			"milvus_querynode_sq_req_latency", on, 14.251, 100,
			"milvus_querynode_sq_wait_tsafe_latency", `query_type="search",`, 2.251, 100,
			"milvus_wal_append_message_duration_seconds", `channel_name="dml_0",status="ok",`, 0.00725, 60),
		"querynode3": metricsText("querynode", 3,
			"milvus_querynode_sq_req_latency", from, 11.251, 100,
			"milvus_querynode_sq_queue_latency", `query_type="search",db_name="default",rg="__default_resource_group",`,
			1.251, 100, "milvus_querynode_sq_segment_latency", `query_type="search",segment_state="Sealed",`, 9.251,
			100, "milvus_querynode_sq_core_latency", `query_type="search",`, 9.251, 100,
			"milvus_querynode_search_group_size", "", 1.0, 100),
	}, nil))
	b := l.Find("docs", latency.Search)
	if b == nil || b.Requests != 100 || b.Database != "default" || math.Abs(b.Ms-20.251) > 1e-6 ||
		b.Mean.Low != b.Mean.High {
		t.Fatalf("search of docs: %+v", b)
	}
	checkSums(t, b)
	for name, want := range map[latency.Name]float64{
		latency.ProxyRest: 0.501, latency.ProxyQueue: 4.501, latency.WaitForNodes: 14.251,
		latency.ConsistencyWait: 2.251, latency.WaitForWorkers: 11.251,
		latency.ReadQueue: 1.251, latency.KernelSealed: 9.251,
	} {
		if p := b.Root.Find(name); p == nil || math.Abs(p.Ms-want) > 0.3 || !p.Known {
			t.Errorf("%s is %+v, want %g ms", name, p, want)
		}
	}
	if p := b.Root.Find(latency.ConsistencyWait); len(p.Nodes) != 1 || p.Nodes[0].Role != "streamingnode" ||
		p.Nodes[0].Node != 2 {
		t.Errorf("who leads: %+v", p.Nodes)
	}
	w := l.Find("docs", latency.Insert)
	if w == nil {
		t.Fatal("no insert")
	}
	checkSums(t, w)
	wal := w.Root.Find(latency.WALAppend)
	if wal == nil || math.Abs(wal.Ms-8.251) > 1e-6 || len(wal.Nodes) != 1 || wal.Nodes[0].Node != 2 ||
		math.Abs(wal.Nodes[0].Ms-7.25) > 1e-6 {
		t.Errorf("the log: %+v", wal)
	}
	if q := w.Root.Find(latency.ProxyQueue); q == nil || math.Abs(q.Ms-0.501) > 1e-6 {
		t.Errorf("the proxy's queue of an insert: %+v", q)
	}
}

// TestRequery checks that queries of the same collection explain the missing part of a search if they take
// about as long. Queries of a collection that is not searched must not.
func TestRequery(t *testing.T) {
	for collection, want := range map[string]float64{"docs": 900, "other": 0} {
		query := `query_type="query",collection_name="` + collection + `",`
		l := latency.Compute(cluster(t, map[string]string{
			"proxy1": metricsText("proxy", 1,
				"milvus_proxy_sq_latency", `query_type="search",`, 1000.0, 50, "milvus_proxy_sq_latency",
				`query_type="query",`, 900.0, 50, "milvus_proxy_collection_sq_latency",
				`query_type="search",collection_name="docs",`, 1000.0, 50, "milvus_proxy_collection_sq_latency", query,
				900.0, 50, "milvus_proxy_sq_wait_result_latency", `query_type="search",`, 1000.0, 50),
			"querynode3": metricsText("querynode", 3, "milvus_querynode_sq_req_latency",
				`query_type="search",scope="OnLeader",`, 90.0, 50),
		}, nil))
		b := l.Find("docs", latency.Search)
		got := 0.0
		if p := b.Root.Find(latency.Requery); p != nil {
			got = p.Ms
		}
		if math.Abs(got-want) > 5 {
			t.Errorf("queries of %s are %.0f ms of a search, want %.0f", collection, got, want)
		}
		checkSums(t, b)
	}
}

// TestHostile checks that invalid numbers, contradictory counts and metrics of another type result in valid
// figures.
func TestHostile(t *testing.T) {
	good := metricsText("proxy", 1, "milvus_proxy_sq_latency", `query_type="search",`, 20.0, 10,
		"milvus_proxy_sq_wait_result_latency", `query_type="search",`, 900.0, 10)
	for name, text := range map[string]string{
		"the task is longer than the call": good,
		"an infinite sum":                  strings.Replace(good, "} 200\n", "} +Inf\n", 1),
		"a negative sum":                   strings.Replace(good, "} 200\n", "} -200\n", 1),
		"no sum": strings.Replace(good, "milvus_proxy_sq_latency_sum",
			"milvus_proxy_sq_latency_som", 1),
		"a gauge":           "# TYPE milvus_proxy_sq_latency gauge\nmilvus_proxy_sq_latency{query_type=\"search\"} 7\n",
		"buckets that fall": strings.Replace(good, `le="+Inf"} 10`, `le="+Inf"} 3`, 1),
		"a huge count": strings.Replace(good, "_count{node_id=\"1\",query_type=\"search\"} 10",
			"_count{node_id=\"1\",query_type=\"search\"} 1e300", 1),
	} {
		nodes := metricsText("querynode", 3, "milvus_querynode_sq_req_latency", `query_type="search",scope="OnLeader",`,
			1e9, 3, "milvus_querynode_sq_wait_tsafe_latency", `query_type="search",`, 1e12, 1)
		for _, b := range latency.Compute(
			cluster(t, map[string]string{"proxy1": text, "querynode3": nodes}, nil),
		).Budgets {
			checkSums(t, b)
			b.Root.Walk(func(p *latency.Phase, _ int) {
				if math.IsNaN(p.Ms) || math.IsInf(p.Ms, 0) || math.IsNaN(p.Mean.Low) || math.IsNaN(p.Share) {
					t.Errorf("%s: %s is %+v", name, p.Name, p)
				}
			})
			if text := latency.Verdict(b); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%s: the verdict is %q", name, text)
			}
		}
	}
}
