package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

func TestWorkerSlow(t *testing.T) {
	slow := func(times float64) rulestest.Traffic {
		return rulestest.Traffic{
			Searches: 1000, Ms: 5 + 20*max(1, times), Sealed: 20, Segments: 2,
			Slow: map[model.NodeID]float64{rulestest.NodeB: times},
		}
	}
	flat := func(rows int64) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Indexes[0].Type = "FLAT"
			for i, s := range w.Segments {
				if i/2%2 == 1 {
					s.Rows = rows
				}
			}
		}
	}
	// beside adds a large segment of another collection to the slow node, with the given number of searches.
	beside := func(searches float64) func(*rulestest.World) {
		return func(w *rulestest.World) {
			const other = model.CollectionID(7000)
			huge := *w.Collections[0]
			huge.ID, huge.Name, huge.VChannels = other, "huge", nil
			w.Collections = append(w.Collections, &huge)
			w.Replicas = append(w.Replicas, &model.Replica{
				ID: 7100, Collection: other, Nodes: []model.NodeID{rulestest.NodeB},
			})
			w.Segments = append(w.Segments, &model.Segment{
				ID: 7200, Collection: other, State: model.SegmentFlushed, Level: model.LevelL1, Rows: 2_000_000,
			})
			d := w.Query(rulestest.NodeB).Distribution
			d.Sealed = append(d.Sealed, model.ServedSegment{ID: 7200, Collection: other})
			withMetrics("proxy", func(m *model.Metrics) {
				modeltest.AddTimes(m, "milvus_proxy_collection_sq_latency", searches, 105,
					model.Pair{Key: "query_type", Value: "search"}, model.Pair{Key: "collection_name", Value: "huge"})
			})(w)
		}
	}
	rulestest.RunCases(t, rulestest.ByID("worker-slow"), []rulestest.Case{
		{
			Name: "five times, with a large segment that nobody searches", Change: withSearches(slow(5), beside(0)),
			Want: []string{"warning nodes/querynode-" + rulestest.NodeB.String() + " the others 20 ms"},
		},
		{Name: "a large segment that is searched", Change: withSearches(slow(5), beside(500))},
		{Name: "alike", Change: withSearches(slow(1))},
		{Name: "a little slower", Change: withSearches(slow(1.7))},
		{Name: "twice as slow as the only other one", Change: withSearches(slow(2.4))},
		{
			Name: "five times", Change: withSearches(slow(5)),
			Want: []string{
				"warning nodes/querynode-" + rulestest.NodeB.String() +
					" takes 100 ms per sealed segment, the others 20 ms",
			},
		},
		{Name: "its segments are five times as large", Change: withSearches(slow(5), flat(450_000))},
		{
			Name: "few searches",
			Change: withSearches(rulestest.Traffic{
				Searches: 10, Ms: 105, Sealed: 20, Segments: 2, Slow: map[model.NodeID]float64{rulestest.NodeB: 5},
			}),
		},
		{
			Name: "fast all the same",
			Change: withSearches(rulestest.Traffic{
				Searches: 1000, Ms: 12, Sealed: 1, Segments: 2, Slow: map[model.NodeID]float64{rulestest.NodeB: 5},
			}),
		},
	})
}
