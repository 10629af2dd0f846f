package rules_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

func TestReadQueueFull(t *testing.T) {
	limited := func(ratio string) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Tell("queryNode.scheduler.maxReadConcurrentRatio", ratio, w.Query(rulestest.NodeA), w.Query(rulestest.NodeB))
		}
	}
	queued := rulestest.Traffic{Searches: 1500, Ms: 80, Queue: 40, Sealed: 30} // 4.5 at a time, on 8 cores
	full := rulestest.Traffic{Searches: 2600, Ms: 90, Queue: 50, Sealed: 30, Cores: 7.8}
	rulestest.Hold(t, rulestest.Named("read-queue-full"), []rulestest.Verdict{
		{Name: "a limit that is too low", Change: searched(queued, limited("0.5")), Want: []string{"warning nodes/querynode-4 maxReadConcurrentRatio is 0.5"}},
		{Name: "far from the limit", Change: searched(queued, limited("4"))},
		{Name: "processors are busy", Change: searched(full, limited("1")), Want: []string{"warning nodes/querynode-4 reads wait 50 ms in the queue of querynode-4 (and of 1 more), 51 ms of 90 ms of a search, because its cores are busy: 7.8 of 8 cores"}},
		{Name: "processors are taken by others", Change: searched(rulestest.Traffic{Searches: 2600, Ms: 80, Queue: 40, Sealed: 30}, limited("1")), Want: []string{"info nodes/querynode-4 the running reads do not get CPU time"}},
		{Name: "no queue", Change: searched(rulestest.Traffic{Searches: 2600, Ms: 35, Sealed: 30}, limited("0.5"))},
		{Name: "a queue that is nothing beside the kernels", Change: searched(rulestest.Traffic{Searches: 2600, Ms: 400, Queue: 30, Sealed: 350}, limited("0.5"))},
		{Name: "the limit is unknown", Change: searched(queued), Skipped: "does not report queryNode.scheduler.maxReadConcurrentRatio"},
		{Name: "the processors are unknown", Change: searched(queued, limited("0.5"), func(w *rulestest.World) { w.Query(rulestest.NodeA).System, w.Query(rulestest.NodeB).System = nil, nil }), Skipped: "CPU use of querynode-4, where"},
	})
}

// open is what tasks wait that come at any time, as many as keep so many of the servers busy.
func open(rng *rand.Rand, count int, busy, takes float64) (queued, runs float64) {
	const tasks = 200_000
	s := make(rulestest.Servers, count)
	at := 0.0
	for range tasks {
		at += rng.ExpFloat64() * takes / busy
		ms := rng.ExpFloat64() * takes
		q, _ := s.Take(at, ms)
		queued, runs = queued+q/tasks, runs+ms/tasks
	}
	return queued, runs
}

// TestGainOfHigherLimit: a queue that a limit makes goes as far as there are processors for what waits in it.
func TestGainOfHigherLimit(t *testing.T) {
	for _, test := range []struct {
		name       string
		cores      int64
		limit      float64
		busy       float64 // of as many as the limit
		neighbours float64 // cores that others use on the same machine
		severity   check.Severity
	}{
		{"half of eight", 8, 4, 3.6, 0, check.Warning},
		{"one of two", 2, 1, 0.8, 0, check.Warning},
		{"one of four, others use two", 4, 1, 0.85, 2, check.Warning},
		{"one of two, others use the other", 2, 1, 0.85, 1, check.Info},
	} {
		t.Run(test.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, uint64(test.cores)))
			const takes = 30
			queued, runs := open(rng, int(test.limit), test.busy, takes)
			after, _ := open(rng, int(float64(test.cores)-test.neighbours), test.busy, takes)
			searches := 10_000 * test.busy / takes // in ten seconds
			x := rulestest.Named("read-queue-full")
			change := searched(rulestest.Traffic{Searches: searches, Ms: queued + runs + 3, Queue: queued, Sealed: runs, Cores: test.busy}, func(w *rulestest.World) {
				for i, id := range []model.NodeID{rulestest.NodeA, rulestest.NodeB} {
					n := w.Query(id)
					n.System.CPUs = test.cores
					w.Tell("queryNode.scheduler.maxReadConcurrentRatio", strconv.FormatFloat(test.limit/float64(test.cores), 'f', -1, 64), n)
					if test.neighbours > 0 {
						other := w.Live([]string{"proxy", "rootcoord"}[i])
						other.Address = n.Address
						modeltest.AddSeries(other.Process.Metrics, "process_cpu_seconds_total", model.Series{Value: 10 * (test.neighbours - test.busy)})
					}
				}
			})
			s := rulestest.GainOf(t, x, change)
			rulestest.HoldGain(t, &s, queued-after)
			if f := rulestest.Judged(t, x, change).Findings[0]; f.Severity != test.severity {
				t.Errorf("it is %s: %s", f.Severity, f.Message)
			}
		})
	}
}
