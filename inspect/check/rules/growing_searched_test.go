package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestGainOfAnIndex checks that the gain leaves out the time to search the rows after they are flushed and
// indexed. On a real 2.3.5 with 120,000 growing rows of 96 dimensions, a search for 60 vectors waited 64 ms for
// these rows, and 34 ms for the graph built from them, which did not fit in a cache.
func TestGainOfAnIndex(t *testing.T) {
	grown := func(rows int64) func(*rulestest.World) {
		return func(w *rulestest.World) {
			for _, id := range []model.NodeID{rulestest.NodeA, rulestest.NodeB} {
				w.Query(id).Distribution.Leaders = nil
			}
			a := w.Query(rulestest.NodeA).Distribution
			a.Leaders = append(a.Leaders, model.LeaderView{
				Channel: rulestest.Channel0, Collection: rulestest.CollID, Growing: []model.GrowingView{{ID: 9000}},
				GrowingRows: rows,
			})
			w.Indexes[0].Params = append(w.Indexes[0].Params, model.Pair{Key: "M", Value: "16"})
			for _, f := range w.Collections[0].Fields {
				if f.Vector() {
					f.Dim = 96
				}
			}
		}
	}
	vectors := withMetrics("proxy", func(m *model.Metrics) {
		modeltest.AddSeries(m, "milvus_proxy_search_vectors_count", model.Series{Value: 370 * 60})
	})
	x := rulestest.ByID("growing-search-time")
	s := rulestest.GainOf(t, x,
		withSearches(rulestest.Traffic{Searches: 370, Ms: 72, Sealed: 1, Grow: 63.6}, vectors, grown(120_000)))
	for what, gave := range map[string]float64{"of kernels": 63.6 - 33.6, "of the client": 84.2 - 49.0} {
		if gave < s.Gain.Low || gave > s.Gain.High {
			t.Errorf("%s it gave %.1f ms, said is %v", what, gave, s.Gain)
		}
	}
	rulestest.RunCases(t, x, []rulestest.Case{
		{
			Name: "few rows, of which an index gives nothing",
			Change: withSearches(rulestest.Traffic{
				Searches: 370, Ms: 42, Sealed: 16, Grow: 20, Slow: map[model.NodeID]float64{rulestest.NodeB: 1.2},
			}, vectors, grown(1_000)),
		},
		{
			Name: "many",
			Change: withSearches(rulestest.Traffic{Searches: 370, Ms: 220, Sealed: 16, Grow: 200}, vectors,
				grown(60_000)),
			Want: []string{"info collections/1000 for growing segments"},
		},
	})
	small := rulestest.GainOf(t, x,
		withSearches(rulestest.Traffic{Searches: 370, Ms: 72, Sealed: 1, Grow: 63.6}, vectors, grown(3_000)))
	if small.Gain.Low < 55 {
		t.Errorf("of a graph that a cache holds %v is said", small.Gain)
	}
}
