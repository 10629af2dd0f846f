package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestCacheLoadsFailing(t *testing.T) {
	came := func(before, now, done float64) func(*rulestest.World) {
		return func(w *rulestest.World) {
			p := w.AddCache(map[string]float64{"load_event_fail_total": before},
				map[string]float64{"load_event_fail_total": now})
			p.Metrics.Families["internal_cache_load_latency_microseconds"] = &model.Family{
				Name: "internal_cache_load_latency_microseconds", Kind: model.MetricHistogram,
				Series: []model.Series{{Count: done, Value: done}},
			}
		}
	}
	node := "nodes/querynode-4"
	rulestest.RunCases(t, rulestest.ByID("cache-loads-failing"), []rulestest.Case{
		{Name: "none failed meanwhile", Change: came(9, 9, 20)},
		{
			Name: "half", Change: came(9, 12, 3),
			Want: []string{"error " + node + " failed 3 of 6 loads into its cache in 30 s"},
		},
		{Name: "a tenth", Change: came(0, 2, 18), Want: []string{"warning " + node}},
		{Name: "one", Change: came(0, 1, 0), Want: []string{"info " + node}},
		{Name: "since the start", Change: func(w *rulestest.World) {
			came(0, 9, 0)(w)
			w.Runtime.Processes[len(w.Runtime.Processes)-1].Before = nil
		}, Want: []string{"info " + node + " failed 9 of 9 loads into its cache since it started"}},
		{
			Name: "not told", Change: func(w *rulestest.World) { w.AddCache(nil, nil) },
			Skipped: "failed cache loads of querynode-4",
		},
	})
}
