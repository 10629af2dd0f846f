package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestGainOfFewerVectors checks the gain of smaller requests. The vectors of a request are searched in parallel
// on a node's processors, so ten of a thousand take hardly any time.
func TestGainOfFewerVectors(t *testing.T) {
	const each, cores = 0.8, 8
	takes := func(vectors int) (last float64) {
		s := make(rulestest.Servers, cores)
		for range vectors {
			_, ended := s.Assign(0, each)
			last = max(last, ended)
		}
		return last
	}
	for _, nq := range []int{100, 300, 1000} {
		s := rulestest.GainOf(t, rulestest.ByID("large-nq"),
			withSearches(rulestest.Traffic{Searches: 200, Ms: takes(nq) + 3, Sealed: takes(nq)},
				withMetrics("proxy", func(m *model.Metrics) {
					modeltest.AddSeries(m, "milvus_proxy_search_vectors_count", model.Series{Value: 200 * float64(nq)})
				})))
		if gave := takes(nq) - takes(10); gave < s.Gain.Low-1 || gave > s.Gain.High+1 {
			t.Errorf("nq %d: %v is said, %.1f ms it gave", nq, s.Gain, gave)
		}
	}
}
