package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// cached gives the first query node a cache of 1,000 MiB in which memory holds 800, two scrapes 30 s apart, and what was counted up to each.
func (w *world) cached(before, now map[string]float64) *model.Process {
	w.streaming()
	n := w.query(nodeA)
	list := func(counts map[string]float64) (all []series) {
		place := []model.Pair{{Key: "location", Value: "memory"}}
		all = []series{{"internal_cache_capacity_bytes", 1000 << 20, place}, {"internal_cache_low_watermark_bytes", 750 << 20, place}, {"internal_cache_loaded_bytes", 800 << 20, place}}
		for name, v := range counts {
			all = append(all, series{"internal_cache_" + name, v, place})
		}
		return all
	}
	n.Process = &model.Process{Address: n.Address, Outcome: model.Answered, Metrics: scraped(0, list(now)), Before: scraped(-30*time.Second, list(before))}
	w.runtime.Processes = append(w.runtime.Processes, n.Process)
	return n.Process
}

func mib(evicted, missed, hit float64) map[string]float64 {
	return map[string]float64{
		"evicted_bytes_total": evicted * (1 << 20), "cell_access_miss_bytes_total": missed * (1 << 20), "cell_access_hit_bytes_total": hit * (1 << 20),
	}
}

func TestCacheThrashing(t *testing.T) {
	came := func(evicted, missed, hit float64) func(*world) {
		return func(w *world) { w.cached(mib(0, 0, 0), mib(evicted, missed, hit)) }
	}
	node := "nodes/querynode-4"
	hold(t, named("cache-thrashing"), []verdict{
		{"no metrics", func(w *world) { w.asked() }, nil, "no process reported its metrics"},
		{"no cache", func(w *world) { w.streaming() }, nil, ""},
		{"evicts and misses", came(100, 100, 100), []string{"warning " + node + " the cache of querynode-4 evicted 100 MiB and loaded 100 MiB in 30 s: 50% of the bytes asked for were not in it"}, ""},
		{"hits", came(100, 100, 901), nil, ""},
		{"just misses", came(100, 100, 899), []string{"warning " + node}, ""},
		{"evicts little", came(63, 100, 100), nil, ""},
		{"evicts nothing: it fills", came(0, 500, 0), nil, ""},
		{"nothing happens", came(0, 0, 0), nil, ""},
		{"nothing is asked for, and much is evicted: a collection was released", came(100, 0, 0), nil, ""},
		{"all that is asked for is there", came(100, 0, 100), nil, ""},
		{"eviction is off", func(w *world) {
			p := w.cached(mib(0, 0, 0), mib(100, 100, 100))
			p.Metrics.Families["internal_cache_capacity_bytes"].Series[0].Value = 0
		}, nil, ""},
		{"below the low-water mark: what was evicted was released", func(w *world) {
			came(100, 100, 100)(w)
			w.streamingProcess().Metrics.Families["internal_cache_low_watermark_bytes"].Series[0].Value = 801 << 20
		}, nil, ""},
		{"the mark is not told", func(w *world) {
			came(100, 100, 100)(w)
			delete(w.streamingProcess().Metrics.Families, "internal_cache_low_watermark_bytes")
		}, nil, "how full the cache of querynode-4 is"},
		{"cells are being loaded", func(w *world) {
			came(100, 100, 100)(w)
			modeltest.AddSeries(w.streamingProcess().Metrics, "internal_cache_cell_loading_count", model.Series{Value: 3})
		}, []string{"info " + node + " while data is being loaded"}, ""},
		{"a collection is being loaded", func(w *world) { came(100, 100, 100)(w); w.LoadStates[0].Status = "Loading" }, []string{"info " + node + " while data is being loaded"}, ""},
		{"one scrape", func(w *world) { w.cached(mib(0, 0, 0), mib(100, 100, 100)).Before = nil }, nil, "hits and evictions of the cache of querynode-4"},
		{"a release that does not count bytes", func(w *world) { w.cached(nil, nil) }, nil, "not in its metrics"},
		{"a scrape that was cut", func(w *world) {
			p := w.cached(nil, nil)
			delete(p.Metrics.Families, "internal_cache_loaded_bytes")
			p.Metrics.Partial = true
		}, nil, "the cache of querynode-4"},
	})
}

func TestCacheLoadsFailing(t *testing.T) {
	came := func(before, now, done float64) func(*world) {
		return func(w *world) {
			p := w.cached(map[string]float64{"load_event_fail_total": before}, map[string]float64{"load_event_fail_total": now})
			p.Metrics.Families["internal_cache_load_latency_microseconds"] = &model.Family{
				Name: "internal_cache_load_latency_microseconds", Kind: model.MetricHistogram, Series: []model.Series{{Count: done, Value: done}},
			}
		}
	}
	node := "nodes/querynode-4"
	hold(t, named("cache-loads-failing"), []verdict{
		{"none failed meanwhile", came(9, 9, 20), nil, ""},
		{"half", came(9, 12, 3), []string{"error " + node + " failed to load 3 of 6 requests into its cache in 30 s"}, ""},
		{"a tenth", came(0, 2, 18), []string{"warning " + node}, ""},
		{"one", came(0, 1, 0), []string{"info " + node}, ""},
		{"since the start", func(w *world) { came(0, 9, 0)(w); w.runtime.Processes[len(w.runtime.Processes)-1].Before = nil }, []string{"info " + node + " failed to load 9 of 9 requests into its cache since it started"}, ""},
		{"not told", func(w *world) { w.cached(nil, nil) }, nil, "loads that failed in the cache of querynode-4"},
	})
}
