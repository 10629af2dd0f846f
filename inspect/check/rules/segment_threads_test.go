package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

func TestKernelsOfSegments(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("segment-thread-wait"), []rulestest.Case{
		{
			Name:   "kernels take what there is",
			Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 30, Sealed: 25, Core: 24, Segments: 3}),
		},
		{
			Name:   "most is the wait for a thread",
			Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 30, Sealed: 25, Core: 4, Segments: 25}),
			Want:   []string{"warning collections/1000 for threads to search its segments"},
		},
		{
			Name: "2.1",
			Change: withSearches(rulestest.Traffic{
				Searches: 1000, Ms: 30, Sealed: 25, Core: 24, Segments: 3, Mixed: true,
			}),
		},
	})
	rulestest.RunCases(t, rulestest.ByID("growing-search-time"), []rulestest.Case{
		{Name: "none", Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 30, Sealed: 25})},
		{Name: "little", Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 30, Sealed: 25, Grow: 4})},
		{
			Name: "most", Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 40, Sealed: 5, Grow: 33}),
			Want: []string{"info collections/1000 for growing segments"},
		},
	})
	vectors := func(nq float64) func(*rulestest.World) {
		return withMetrics("proxy", func(m *model.Metrics) {
			modeltest.AddSeries(m, "milvus_proxy_search_vectors_count", model.Series{Value: 200 * nq})
		})
	}
	rulestest.RunCases(t, rulestest.ByID("large-nq"), []rulestest.Case{
		{Name: "one vector", Change: withSearches(rulestest.Traffic{Searches: 200, Ms: 30, Sealed: 25}, vectors(1))},
		{
			Name:   "a thousand",
			Change: withSearches(rulestest.Traffic{Searches: 200, Ms: 950, Sealed: 900}, vectors(1000)),
			Want:   []string{"info collections/1000 has 1,000 vectors and takes 950 ms: 0.95 ms per vector"},
		},
		{
			Name: "a hundred, and one node is slow",
			Change: withSearches(rulestest.Traffic{
				Searches: 200, Ms: 105, Sealed: 20, Segments: 2, Slow: map[model.NodeID]float64{rulestest.NodeB: 5},
			}, vectors(100)),
		},
		{
			Name: "a thousand, and one node is slow",
			Change: withSearches(rulestest.Traffic{
				Searches: 200, Ms: 1250, Sealed: 300, Segments: 2, Slow: map[model.NodeID]float64{rulestest.NodeB: 4},
			}, vectors(1000)),
		},
		{
			Name: "a thousand, and one node is a little slower",
			Change: withSearches(rulestest.Traffic{
				Searches: 200, Ms: 950, Sealed: 600, Segments: 2, Slow: map[model.NodeID]float64{rulestest.NodeB: 1.5},
			}, vectors(1000)),
			Want: []string{"info collections/1000 has 1,000 vectors"},
		},
		{
			Name: "a thousand, and the time goes elsewhere",
			Change: withSearches(rulestest.Traffic{Searches: 200, Ms: 950, Consistency: 800, Sealed: 100},
				vectors(1000)),
		},
		{
			Name: "nobody counts them", Change: withSearches(rulestest.Traffic{Searches: 200, Ms: 950, Sealed: 900}),
			Skipped: "no proxy counts them",
		},
	})
}
