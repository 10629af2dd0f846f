package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestReduceHeavy checks that a second query for output fields is reported unless the proxy itself is slow, because
// that leaves as much time unexplained.
func TestReduceHeavy(t *testing.T) {
	search := model.Pair{Key: "query_type", Value: "search"}
	query := model.Pair{Key: "query_type", Value: "query"}
	docs := model.Pair{Key: "collection_name", Value: "docs"}
	// requery adds to each search a query of 45 ms, and as much to the mean of the searches.
	requery := func(w *rulestest.World) {
		w.Serve()
		w.AddSearches(rulestest.Traffic{Searches: 1000, Ms: 12, Sealed: 5, Segments: 2})
		withMetrics("proxy", func(m *model.Metrics) {
			modeltest.AddTimes(m, "milvus_proxy_sq_latency", 1000, 45, query)
			modeltest.AddTimes(m, "milvus_proxy_collection_sq_latency", 1000, 45, query, docs)
			modeltest.AddTimes(m, "milvus_proxy_sq_latency", 1, 45_000, search)
			modeltest.AddTimes(m, "milvus_proxy_sq_wait_result_latency", 1, 45_000, search)
			modeltest.AddTimes(m, "milvus_proxy_collection_sq_latency", 1, 45_000, search, docs)
		})(w)
	}
	slow := func(w *rulestest.World) {
		requery(w)
		for _, n := range w.Runtime.Nodes {
			took := time.Millisecond
			if n.Role == "proxy" {
				took = 480 * time.Millisecond
			}
			n.ProbeRound = &model.ProbeRound{At: modeltest.Now, Dial: time.Millisecond}
			for i := range 5 {
				n.ProbeRound.Probes = append(n.ProbeRound.Probes, model.Probe{
					After: time.Duration(i) * 600 * time.Millisecond, Took: took,
				})
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("reduce-heavy"), []rulestest.Case{
		{
			Name: "a second query", Change: requery,
			Want: []string{"warning collections/1000 on a second query for its output fields"},
		},
		{Name: "a second query, and a slow proxy", Change: slow, Skipped: "which wait for proxy"},
	})
}
