package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

func mib(evicted, missed, hit float64) map[string]float64 {
	return map[string]float64{
		"evicted_bytes_total": evicted * (1 << 20), "cell_access_miss_bytes_total": missed * (1 << 20),
		"cell_access_hit_bytes_total": hit * (1 << 20),
	}
}

func TestCacheThrashing(t *testing.T) {
	came := func(evicted, missed, hit float64) func(*rulestest.World) {
		return func(w *rulestest.World) { w.AddCache(mib(0, 0, 0), mib(evicted, missed, hit)) }
	}
	node := "nodes/querynode-4"
	rulestest.RunCases(t, rulestest.ByID("cache-thrashing"), []rulestest.Case{
		{
			Name: "no metrics", Change: func(w *rulestest.World) { w.AddResponses() },
			Skipped: "no process reported its metrics",
		},
		{Name: "no cache", Change: func(w *rulestest.World) { w.RunStreaming() }},
		{
			Name: "evicts and misses", Change: came(100, 100, 100),
			Want: []string{
				"warning " + node +
					" the cache of querynode-4 evicted 100 MiB and loaded 100 MiB in 30 s: 50% of the requested " +
					"bytes were not in it",
			},
		},
		{Name: "hits", Change: came(100, 100, 901)},
		{Name: "just misses", Change: came(100, 100, 899), Want: []string{"warning " + node}},
		{Name: "evicts little", Change: came(63, 100, 100)},
		{Name: "evicts nothing: it fills", Change: came(0, 500, 0)},
		{Name: "nothing happens", Change: came(0, 0, 0)},
		{Name: "nothing is asked for, and much is evicted: a collection was released", Change: came(100, 0, 0)},
		{Name: "all that is asked for is there", Change: came(100, 0, 100)},
		{Name: "eviction is off", Change: func(w *rulestest.World) {
			p := w.AddCache(mib(0, 0, 0), mib(100, 100, 100))
			p.Metrics.Families["internal_cache_capacity_bytes"].Series[0].Value = 0
		}},
		{Name: "below the low-water mark: what was evicted was released", Change: func(w *rulestest.World) {
			came(100, 100, 100)(w)
			w.StreamingProcess().Metrics.Families["internal_cache_low_watermark_bytes"].Series[0].Value = 801 << 20
		}},
		{Name: "the mark is not told", Change: func(w *rulestest.World) {
			came(100, 100, 100)(w)
			delete(w.StreamingProcess().Metrics.Families, "internal_cache_low_watermark_bytes")
		}, Skipped: "how full the cache of querynode-4 is"},
		{Name: "cells are being loaded", Change: func(w *rulestest.World) {
			came(100, 100, 100)(w)
			modeltest.AddSeries(w.StreamingProcess().Metrics, "internal_cache_cell_loading_count",
				model.Series{Value: 3})
		}, Want: []string{"info " + node + " while data is being loaded"}},
		{
			Name:   "a collection is being loaded",
			Change: func(w *rulestest.World) { came(100, 100, 100)(w); w.LoadStates[0].Status = "Loading" },
			Want:   []string{"info " + node + " while data is being loaded"},
		},
		{
			Name:    "one scrape",
			Change:  func(w *rulestest.World) { w.AddCache(mib(0, 0, 0), mib(100, 100, 100)).Before = nil },
			Skipped: "hits and evictions of the cache of querynode-4",
		},
		{
			Name: "a release that does not count bytes", Change: func(w *rulestest.World) { w.AddCache(nil, nil) },
			Skipped: "not in its metrics",
		},
		{Name: "a scrape that was cut", Change: func(w *rulestest.World) {
			p := w.AddCache(nil, nil)
			delete(p.Metrics.Families, "internal_cache_loaded_bytes")
			p.Metrics.Partial = true
		}, Skipped: "cache of querynode-4"},
	})
}
