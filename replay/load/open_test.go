package load_test

import (
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/replay/load"
)

func TestOpenLoopEven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := run(t, steady(15*time.Millisecond), requests(7, 0), load.Plan{
			Sessions: 4, Rate: 100, Warmup: time.Second, Round: 5 * time.Second, Rounds: 2,
		})
		if p.QPS != 100 || p.Late != 0 || p.Unsent != 0 || p.Latency.Mean != 15*time.Millisecond || p.Latency.SD != 0 ||
			p.Waited.Max != 0 {
			t.Errorf("%v QPS, late %d, unsent %d, latency %+v, waited %v", p.QPS, p.Late, p.Unsent, p.Latency, p.Waited)
		}
		// The request of 10.99 s, and the request of the warm-up that ended after it.
		if p.Asked != 1001 || p.Repeats[1].Tail != 1 {
			t.Errorf("asked %d, %+v", p.Asked, p.Repeats)
		}
	})
}

// TestNoCoordinatedOmission has a target that stalls once for a second: at 100 requests per second for 10 s, a tenth
// of the requests fall into the stall.
func TestNoCoordinatedOmission(t *testing.T) {
	for _, sessions := range []int{1, 8} {
		synctest.Test(t, func(t *testing.T) {
			var stalled atomic.Int64 // end of the stall
			w := steady(0)
			w.serve = func(n int64, _ *load.Request) (time.Duration, *load.Answer, error) {
				took := time.Millisecond
				if n == 300 {
					stalled.Store(time.Now().Add(time.Second).UnixNano())
				}
				// The whole target stalls, as in a garbage collection pause.
				if left := time.Duration(stalled.Load() - time.Now().UnixNano()); left > 0 {
					took = left
				}
				return took, &load.Answer{}, nil
			}
			p := run(t, w, requests(7, 0), load.Plan{Sessions: sessions, Rate: 100, Round: 10 * time.Second})
			if p.Asked != 1000 || p.Late < 90 || p.Late > 112 {
				t.Errorf("%d sessions: asked %d, late %d", sessions, p.Asked, p.Late)
			}
			// One request is 10 ms of the stall: the 990th of 1000 latencies started 900 ms before its end.
			if got := p.Latency.P99; got < 890*time.Millisecond || got > 910*time.Millisecond {
				t.Errorf("%d sessions: p99 %v", sessions, got)
			}
			if p.Latency.P50 > 2*time.Millisecond || !almostEqual(p.Latency.Max, time.Second) {
				t.Errorf("%d sessions: p50 %v, max %v", sessions, p.Latency.P50, p.Latency.Max)
			}
		})
	}
}

func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := run(t, steady(100*time.Millisecond), requests(7, 0), load.Plan{
			Sessions: 5, Rate: 100, Round: 10 * time.Second,
		})
		// 5 sessions answer 50 a second, except at the start, where they begin one after another: half of 1000 are
		// sent.
		if p.QPS != 49.6 || p.Asked != 500 || p.Unsent != 500 || p.Late < 480 ||
			p.Latency.Max < 4900*time.Millisecond || p.Latency.Max > 5060*time.Millisecond {
			t.Errorf("%v QPS, asked %d, unsent %d, late %d, max %v", p.QPS, p.Asked, p.Unsent, p.Late, p.Latency.Max)
		}
		// With a number of requests, all are sent regardless of the time.
		p = run(t, steady(100*time.Millisecond), requests(7, 0), load.Plan{Sessions: 5, Rate: 100, Requests: 1000})
		if p.Asked != 1000 || p.Unsent != 0 || p.Took != 20040*time.Millisecond {
			t.Errorf("%v QPS, asked %d, unsent %d in %v", p.QPS, p.Asked, p.Unsent, p.Took)
		}
	})
}

// TestDeadlineAfterIdleTime checks that the deadline of a request applies after its session was idle.
func TestDeadlineAfterIdleTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := steady(0)
		w.serve = func(n int64, _ *load.Request) (time.Duration, *load.Answer, error) {
			if n == 3 {
				return time.Hour, nil, nil
			}
			return time.Millisecond, &load.Answer{}, nil
		}
		p := run(t, w, requests(1, 0),
			load.Plan{Sessions: 1, Rate: 0.1, Requests: 5, Deadline: 1500 * time.Millisecond})
		if p.Failed != 1 || p.FailedLatency.Max != 1500*time.Millisecond || p.Took != 40*time.Second+time.Millisecond {
			t.Errorf("failed %d, after %v, in %v", p.Failed, p.FailedLatency.Max, p.Took)
		}
	})
}

func TestPoisson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		times := func(seed uint64) (all []time.Duration) {
			began := time.Now()
			w := steady(0)
			w.serve = func(int64, *load.Request) (time.Duration, *load.Answer, error) {
				all = append(all, time.Since(began))
				return time.Nanosecond, &load.Answer{}, nil
			}
			p := run(t, w, requests(7, 0), load.Plan{
				Sessions: 1, Rate: 1000, Poisson: true, Seed: seed, Requests: 20_000,
			})
			if p.Asked != 20_000 {
				t.Errorf("asked %d", p.Asked)
			}
			return all
		}
		a, b, other := times(1), times(1), times(2)
		if a[100] != b[100] || a[100] == other[100] {
			t.Errorf("arrivals do not follow from the seed: %v %v %v", a[100], b[100], other[100])
		}
		var gaps, squares float64
		for i := 1; i < len(a); i++ {
			gap := (a[i] - a[i-1]).Seconds()
			gaps, squares = gaps+gap, squares+gap*gap
		}
		n := float64(len(a) - 1)
		mean := gaps / n
		if sd := math.Sqrt(squares/n - mean*mean); math.Abs(mean-0.001) > 0.00003 || math.Abs(sd-0.001) > 0.00005 {
			t.Errorf("gaps of %v s on average, SD %v: not exponential of 1 ms", mean, sd)
		}
	})
}

func TestTimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := steady(time.Millisecond)
		log := requests(4, time.Second)
		log[1].At, log[2].At = log[2].At, log[1].At // different from the order by time
		began := time.Now()
		p := run(t, w, log, load.Plan{Sessions: 2, Timed: true, Speed: 2})
		if took := time.Since(began); p.Asked != 4 || took != 1501*time.Millisecond ||
			p.Latency.Max != time.Millisecond {
			t.Errorf("asked %d in %v, latency %v", p.Asked, took, p.Latency.Max)
		}
		if w.asked[1] != 2 || w.asked[2] != 1 {
			t.Errorf("asked %v, not by time", w.asked)
		}
		// The log is repeated for the duration of a round: one repetition takes 4 s.
		p = run(t, steady(time.Millisecond), log, load.Plan{Sessions: 2, Timed: true, Round: 10 * time.Second})
		if p.Asked != 10 || p.Took != 10*time.Second {
			t.Errorf("asked %d in %v", p.Asked, p.Took)
		}
	})
}

// TestOpenLoopRealClock checks without a synctest bubble that, with the kernel's clock, requests start neither
// early nor much too late.
func TestOpenLoopRealClock(t *testing.T) {
	w := steady(0)
	p := run(t, w, requests(7, 0), load.Plan{Sessions: 2, Rate: 500, Requests: 50})
	if p.Asked != 50 || p.Took < 98*time.Millisecond || p.Waited.Count != 50 || p.Waited.Min < 0 {
		t.Errorf("asked %d in %v, waited %+v", p.Asked, p.Took, p.Waited)
	}
}
