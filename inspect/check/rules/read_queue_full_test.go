package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

func TestReadQueueFull(t *testing.T) {
	limited := func(ratio string) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.SetConfig("queryNode.scheduler.maxReadConcurrentRatio", ratio, w.Query(rulestest.NodeA),
				w.Query(rulestest.NodeB))
		}
	}
	queued := rulestest.Traffic{Searches: 1500, Ms: 80, Queue: 40, Sealed: 30} // 4.5 at a time, on 8 cores
	full := rulestest.Traffic{Searches: 2600, Ms: 90, Queue: 50, Sealed: 30, Cores: 7.8}
	rulestest.RunCases(t, rulestest.ByID("read-queue-full"), []rulestest.Case{
		{
			Name: "a limit that is too low", Change: withSearches(queued, limited("0.5")),
			Want: []string{"warning nodes/querynode-4 maxReadConcurrentRatio is 0.5"},
		},
		{
			Name: "a limit that is too low on a busy machine",
			Change: withSearches(queued, limited("0.5"), func(w *rulestest.World) {
				other := w.Live("proxy")
				other.Address = w.Query(rulestest.NodeA).Address
				modeltest.AddSeries(other.Process.Metrics, "process_cpu_seconds_total", model.Series{Value: 80})
			}), Want: []string{"info nodes/querynode-4 its machine is busy, though: 8.0 of 8 cores"},
		},
		{Name: "far from the limit", Change: withSearches(queued, limited("4"))},
		{
			Name: "processors are busy", Change: withSearches(full, limited("1")),
			Want: []string{
				"warning nodes/querynode-4 reads wait 50 ms in the queue of querynode-4 (and of 1 more), 51 ms of 90 " +
					"ms of a search, because its cores are busy: 7.8 of 8 cores",
			},
		},
		{
			Name:   "processors are taken by others",
			Change: withSearches(rulestest.Traffic{Searches: 2600, Ms: 80, Queue: 40, Sealed: 30}, limited("1")),
			Want:   []string{"info nodes/querynode-4 the running reads do not get CPU time"},
		},
		{Name: "no queue", Change: withSearches(rulestest.Traffic{Searches: 2600, Ms: 35, Sealed: 30}, limited("0.5"))},
		{
			Name:   "a queue that is nothing beside the kernels",
			Change: withSearches(rulestest.Traffic{Searches: 2600, Ms: 400, Queue: 30, Sealed: 350}, limited("0.5")),
		},
		{
			Name: "the limit is unknown", Change: withSearches(queued),
			Skipped: "does not report queryNode.scheduler.maxReadConcurrentRatio",
		},
		{
			Name: "the processors are unknown",
			Change: withSearches(queued, limited("0.5"), func(w *rulestest.World) {
				w.Query(rulestest.NodeA).System, w.Query(rulestest.NodeB).System = nil, nil
			}),
			Skipped: "CPU use of querynode-4, where",
		},
	})
}
