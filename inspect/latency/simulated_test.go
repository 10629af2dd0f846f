package latency_test

import (
	"math"
	"testing"

	"kitescope/inspect/latency"
)

// TestSimulated compares the budgets of random clusters with the actual waits of their requests. Seeds below
// 1,000 were used while the estimates were developed, and seeds from 1,000 on when the wait for the pool
// (PoolWait) and the query for output fields (Requery) were added. Seeds from 20,000 on were added later, and
// no estimate was changed after their first run.
func TestSimulated(t *testing.T) {
	t.Run("seen", func(t *testing.T) { checkSimulated(t, 1000) })
	t.Run("unseen", func(t *testing.T) { checkSimulated(t, 20_000) })
}

func checkSimulated(t *testing.T, first uint64) {
	t.Helper()
	const seeds = 40
	var wrong, outside, phases int
	worst := map[string]float64{}
	for seed := first; seed < first+seeds; seed++ {
		s := scenario(seed)
		o, truth := s.run()
		l := latency.Compute(cluster(t, o.texts(), nil))
		b := l.Find("", latency.Search)
		if b == nil {
			t.Fatalf("seed %d: no search", seed)
		}
		checkSums(t, b)
		if math.Abs(b.Ms-truth.total) > 0.01*truth.total+0.1 {
			t.Errorf("seed %d: a search takes %.2f ms, in truth %.2f", seed, b.Ms, truth.total)
		}
		got, bounds := leaves(b)
		for name, is := range truth.phase {
			phases++
			off := math.Abs(got[name]-is) / truth.total
			worst[name] = max(worst[name], off)
			if off > 0.1 {
				wrong++
				t.Logf("seed %d: %s takes %.1f ms of %.1f, in truth %.1f", seed, name, got[name], truth.total, is)
			}
			if i := bounds[name]; is < 0.97*i.Low-0.1 || is > 1.03*i.High+0.1 {
				outside++
				t.Logf("seed %d: %s takes %.2f ms in truth, not in %v", seed, name, is, i)
			}
		}
		if main := mainOf(truth); truth.phase[main] > 0.6*truth.total && string(b.Main()[0].Phase.Name) != main {
			t.Errorf("seed %d: %s is %.0f%% in truth; the verdict is %q", seed, main, 100*truth.phase[main]/truth.total,
				latency.Verdict(b))
		}
	}
	t.Logf("%d phases of %d are off by more than a tenth of the request, %d outside their bounds; the worst: %v", wrong,
		phases, outside, worst)
	if wrong > phases/20 {
		t.Errorf("%d of %d phases are off by more than a tenth of the request", wrong, phases)
	}
	if outside > phases/50 {
		t.Errorf("%d of %d phases are outside their bounds", outside, phases)
	}
}

// TestWindow checks that only the requests between two scrapes count.
func TestWindow(t *testing.T) {
	s := scenario(1003)
	o, _ := s.run()
	before := o.texts()
	s.consistency, s.together = 400, 1
	truth := s.runOn(o)
	l := latency.Compute(cluster(t, o.texts(), before))
	b := l.Find("", latency.Search)
	if b == nil {
		t.Fatal("no search")
	}
	if math.Abs(b.Ms-truth.total) > 0.01*truth.total || b.Requests != float64(s.requests) {
		t.Errorf("%g requests take %.1f ms, in truth %.1f", b.Requests, b.Ms, truth.total)
	}
	if p := b.Root.Find(latency.ConsistencyWait); p == nil ||
		math.Abs(p.Ms-truth.phase["consistency_wait"]) > 0.1*truth.total {
		t.Errorf("consistency is %+v, in truth %.1f ms", p, truth.phase["consistency_wait"])
	}
	if l.Window.SinceStart || l.Window.Why != "over a 20 s window" || b.PerSecond.Value != float64(s.requests)/20 {
		t.Errorf("the window is %+v, %v requests a second", l.Window, b.PerSecond)
	}
}

// leaves returns the phases without children. It adds up phases with the same name.
func leaves(b *latency.Budget) (ms map[string]float64, bounds map[string]latency.Interval) {
	ms, bounds = map[string]float64{}, map[string]latency.Interval{}
	for _, p := range b.Root.Leaves() {
		name := string(p.Name)
		ms[name] += p.Ms
		i := bounds[name]
		bounds[name] = latency.Interval{Low: i.Low + p.Mean.Low, High: i.High + p.Mean.High}
	}
	return ms, bounds
}

func mainOf(t truth) string {
	best := ""
	for name, ms := range t.phase {
		if best == "" || ms > t.phase[best] {
			best = name
		}
	}
	return best
}
