package load_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/replay/load"
)

func TestClosedLoopByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := steady(10 * time.Millisecond)
		var cpu time.Duration
		var began []int64 // number of requests at each call
		p := run(t, w, requests(7, 0), load.Plan{
			Sessions: 4, Warmup: time.Second, Round: time.Second, Rounds: 3, Deadline: time.Minute,
			CPU:   func() time.Duration { cpu += 200 * time.Millisecond; return cpu },
			Began: func() { began = append(began, w.calls.Load()) },
		})
		if len(began) != 1 || began[0] < 396 || began[0] > 404 {
			t.Errorf("expected the first round began after %v requests, 400 of the warm-up", began)
		}
		if p.QPS != 400 || p.QPSLow != 400 || p.QPSHigh != 400 || p.Took != 3*time.Second || p.Stopped != "" ||
			len(p.Notes) != 0 {
			t.Errorf("4 sessions that wait 10 ms: %v QPS, %v to %v, in %v, %q %q", p.QPS, p.QPSLow, p.QPSHigh, p.Took,
				p.Stopped, p.Notes)
		}
		if p.Asked != 1200 || p.Failed != 0 || p.Queries != 1200 || p.Open != 4 || p.Recall != -1 {
			t.Errorf("asked %d, failed %d, answered %d, open %d", p.Asked, p.Failed, p.Queries, p.Open)
		}
		if l := p.Latency; l.Count != 1200 || l.Mean != 10*time.Millisecond || l.Min != l.Max ||
			l.P999 != 10*time.Millisecond || l.SD != 0 {
			t.Errorf("latency %+v", l)
		}
		for i, r := range p.Repeats {
			if r.Took != time.Second || r.QPS != 400 || r.Asked != 400 || r.CPU != 200*time.Millisecond ||
				r.Tail != 0 || r.Cut {
				t.Errorf("round %d: %+v", i, r)
			}
		}
		// The shared counter sends the requests in turn.
		for i := range 7 {
			if n := count(w.asked, i); n < 1600/7 || n > 1600/7+1 {
				t.Errorf("request %d was asked %d times of 1600", i, n)
			}
		}
	})
}

func count(all []int, x int) (n int) {
	for _, v := range all {
		if v == x {
			n++
		}
	}
	return n
}

func TestClosedLoopByCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := steady(time.Millisecond)
		var sunk [3][]int
		p := run(t, w, requests(10, 0), load.Plan{
			Sessions: 3, Warmup: time.Second, Requests: 10, Rounds: 2,
			Sink: func(worker int, r *load.Request, a *load.Answer, took time.Duration, err error) {
				if a == nil || err != nil || took != time.Millisecond {
					t.Errorf("sink: %v %v %v", a, took, err)
				}
				sunk[worker] = append(sunk[worker], r.Number)
			},
		})
		if p.Asked != 20 || p.Took != 8*time.Millisecond || p.QPS != 2500 || len(p.Repeats) != 2 || p.Stopped != "" {
			t.Errorf("asked %d in %v: %v QPS, %q", p.Asked, p.Took, p.QPS, p.Stopped)
		}
		all := slices.Sorted(slices.Values(slices.Concat(sunk[:]...)))
		if want := []int{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9}; !cmp.Equal(all, want) {
			t.Errorf("each request once a round, none of the warm-up: %v", all)
		}
		if len(w.asked) != 30 {
			t.Errorf("%d asked with the warm-up", len(w.asked))
		}
	})
}

func TestQueriesAreVectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		three, err := engine.NewVectors(0, 8, 3)
		if err != nil {
			t.Fatal(err)
		}
		p := run(t, &workload{serve: func(n int64, _ *load.Request) (time.Duration, *load.Answer, error) {
			return 10 * time.Millisecond, &load.Answer{Distances: 300}, nil
		}}, []*load.Request{{Vectors: three}}, load.Plan{
			Sessions: 1, Round: time.Second, SinkWarmup: true,
			CPU: clock(time.Second), Switches: func() (int64, int64) { return int64(clock(300)()), 0 },
		})
		if p.Asked != 100 || p.Queries != 300 || p.QPS != 300 || p.DistancesPerQuery != 100 ||
			p.CPUPerQuery != time.Second/300 {
			t.Errorf("%d requests of %d queries, %v QPS, %v distances, %v of CPU", p.Asked, p.Queries, p.QPS,
				p.DistancesPerQuery, p.CPUPerQuery)
		}
	})
}

// clock returns a clock that advances by d with each call.
func clock(d time.Duration) func() time.Duration {
	var now time.Duration
	return func() time.Duration { now += d; return now }
}

func TestHungTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := steady(0)
		w.serve = func(n int64, _ *load.Request) (time.Duration, *load.Answer, error) {
			if n == 100 {
				return time.Hour, nil, errors.New("no")
			}
			return 10 * time.Millisecond, &load.Answer{}, nil
		}
		var sunk error
		p, err := load.Run(t.Context(), w, requests(3, 0), load.Plan{
			Sessions: 1, Round: 10 * time.Second, Deadline: 2 * time.Second,
			Sink: func(_ int, _ *load.Request, _ *load.Answer, _ time.Duration, err error) {
				sunk = errors.Join(sunk, err)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		const hung = 2 * time.Second
		if p.Failed != 1 || p.Errors["no response within 2s"] != 1 || p.FailedLatency.Max != hung ||
			w.opened.Load() != 2 {
			t.Errorf("failed %d (%v) after %v, %d sessions", p.Failed, p.Errors, p.FailedLatency.Max, w.opened.Load())
		}
		if want := int64((10*time.Second-hung)/(10*time.Millisecond)) + 1; p.Asked != want || sunk == nil ||
			p.Stopped != "" {
			t.Errorf("asked %d, not %d; sink %v, %q", p.Asked, want, sunk, p.Stopped)
		}
		if w.closed.Load() != 2 {
			t.Errorf("%d sessions closed of 2", w.closed.Load())
		}
	})
}

func TestSlowLastRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := run(t, steady(3*time.Second), requests(1, 0), load.Plan{
			Sessions: 2, Round: 10 * time.Second, Deadline: time.Minute,
		})
		r := p.Repeats[0]
		if r.Asked != 8 || r.Tail != 2 || r.Queries != 6 || r.QPS != 0.6 || r.Took != 10*time.Second ||
			r.Latency.Count != 8 {
			t.Errorf("%+v", r)
		}
	})
}

func TestTotal(t *testing.T) {
	for name, c := range map[string]struct {
		plan    load.Plan
		asked   int64
		rounds  int
		stopped bool
	}{
		"by time":       {load.Plan{Round: time.Second, Rounds: 3, Total: 150}, 150, 2, true},
		"by count":      {load.Plan{Requests: 100, Rounds: 3, Total: 150}, 150, 2, true},
		"just enough":   {load.Plan{Requests: 100, Rounds: 3, Total: 300}, 300, 3, false},
		"in warm-up":    {load.Plan{Round: time.Second, Warmup: 2 * time.Second, Total: 150}, 100, 1, false},
		"after warm-up": {load.Plan{Requests: 100, Warmup: 2 * time.Second, Total: 100}, 80, 1, true},
		"open loop":     {load.Plan{Round: time.Second, Rounds: 3, Rate: 50, Total: 60}, 60, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := steady(10 * time.Millisecond)
				c.plan.Sessions = 1
				p := run(t, w, requests(7, 0), c.plan)
				if p.Asked != c.asked || len(p.Repeats) != c.rounds || c.stopped != (p.Stopped != "") ||
					w.calls.Load() > int64(c.plan.Total) {
					t.Errorf("asked %d in %d rounds, %q, %d calls", p.Asked, len(p.Repeats), p.Stopped, w.calls.Load())
				}
				if c.rounds > 0 && p.Repeats[c.rounds-1].Cut != c.stopped {
					t.Errorf("%+v", p.Repeats)
				}
			})
		})
	}
}

func TestInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		cancel func(ctx context.Context) (context.Context, context.CancelFunc)
		want   string
	}{
		"interrupted": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(2500*time.Millisecond, cancel)
			return ctx, cancel
		}, "interrupted"},
		"time": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 2500*time.Millisecond)
		}, "time is up"},
		"cause": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, 2500*time.Millisecond, errors.New("disk full"))
		}, "disk full"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := c.cancel(t.Context())
				defer cancel()
				w := steady(time.Millisecond * 3)
				p, err := load.Run(ctx, w, requests(1, 0), load.Plan{
					Sessions: 2, Round: time.Second, Rounds: 4, Deadline: time.Minute,
				})
				if err != nil {
					t.Fatal(err)
				}
				if p.Stopped != c.want || len(p.Repeats) != 3 || !p.Repeats[2].Cut ||
					p.Repeats[2].Took != time.Second/2 || p.Failed != 0 {
					t.Errorf("stopped %q, rounds %+v, failed %d", p.Stopped, p.Repeats, p.Failed)
				}
				if w.opened.Load() != w.closed.Load() {
					t.Errorf("%d sessions opened, %d closed", w.opened.Load(), w.closed.Load())
				}
			})
		})
	}
}

// TestCutRoundsExcluded checks that the mean and its interval include only complete rounds.
func TestCutRoundsExcluded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := steady(0)
		w.serve = func(n int64, _ *load.Request) (time.Duration, *load.Answer, error) {
			if n < 200 {
				return 10 * time.Millisecond, &load.Answer{}, nil
			}
			return time.Millisecond, &load.Answer{}, nil
		}
		p := run(t, w, requests(1, 0), load.Plan{Sessions: 1, Round: time.Second, Rounds: 5, Total: 300})
		if p.QPS != 100 || p.QPSLow != 100 || p.Queries != 300 || len(p.Repeats) != 3 || p.Repeats[2].QPS != 1000 ||
			!p.Repeats[2].Cut {
			t.Errorf("%v QPS from %v, %d answered: %+v", p.QPS, p.QPSLow, p.Queries, p.Repeats)
		}
	})
}

func TestOpenFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := steady(10 * time.Millisecond)
		w.open = func(n int64) error {
			if n == 1 {
				return errors.New("too many clients")
			}
			return nil
		}
		p := run(t, w, requests(1, 0), load.Plan{Sessions: 3, Round: time.Second})
		if p.Open != 2 || p.QPS != 200 || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "too many clients") {
			t.Errorf("%d open, %v QPS, %q", p.Open, p.QPS, p.Notes)
		}
		w = steady(time.Millisecond)
		w.open = func(int64) error { return errors.New("connection refused") }
		_, err := load.Run(t.Context(), w, requests(1, 0), load.Plan{Sessions: 3, Round: time.Second})
		if err == nil || err.Error() != "open a session of workload: connection refused" {
			t.Error(err)
		}
	})
}

func TestInterruptedWhileOpening(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := steady(0)
	w.open = func(int64) error { cancel(); return ctx.Err() }
	p, err := load.Run(ctx, w, requests(1, 0), load.Plan{Sessions: 3, Round: time.Second})
	if err != nil || p.Stopped != "interrupted" || len(p.Repeats) != 0 || p.Open != 0 {
		t.Errorf("%+v %v", p, err)
	}
}

func TestReopenFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := steady(time.Hour)
		w.open = func(n int64) error {
			if n > 0 {
				return errors.New("connection refused")
			}
			return nil
		}
		p := run(t, w, requests(1, 0), load.Plan{Sessions: 1, Round: 10 * time.Second, Deadline: time.Second})
		// One second for the deadline, then attempts after 10, 20, ... 640 ms, and then one each second.
		if p.Queries != 0 || p.QPS != 0 || p.Failed != p.Asked || p.Errors["connection refused"] != 15 ||
			p.Errors["no response within 1s"] != 1 {
			t.Errorf("asked %d, failed %d: %v", p.Asked, p.Failed, p.Errors)
		}
	})
}

func TestInvalidPlans(t *testing.T) {
	for name, p := range map[string]load.Plan{
		"no sessions":    {Round: time.Second},
		"two loops":      {Sessions: 1, Rate: 1, Timed: true},
		"negative rate":  {Sessions: 1, Rate: -1},
		"huge rate":      {Sessions: 1, Rate: 1e7},
		"negative time":  {Sessions: 1, Round: -1},
		"negative count": {Sessions: 1, Rounds: -1},
		"speed":          {Sessions: 1, Timed: true, Speed: -1},
		"no times":       {Sessions: 1, Timed: true},
	} {
		if _, err := load.Run(t.Context(), steady(0), requests(5, 0), p); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := load.Run(t.Context(), steady(0), nil, load.Plan{Sessions: 1}); err == nil {
		t.Error("no requests: no error")
	}
	if _, err := load.Run(t.Context(), steady(0), requests(5, time.Nanosecond), load.Plan{
		Sessions: 1, Timed: true,
	}); err == nil {
		t.Error("a log that is too fast: no error")
	}
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all []load.Progress
		run(t, steady(10*time.Millisecond), requests(1, 0), load.Plan{
			Sessions: 2, Warmup: time.Second, Round: 2 * time.Second, Rounds: 2,
			Progress: func(p load.Progress) { all = append(all, p) },
		})
		if len(all) < 45 || len(all) > 55 {
			t.Errorf("%d in 5 s", len(all))
		}
		var seen bool
		for _, p := range all {
			if !p.Warming && p.Round == 1 && p.Elapsed == 1500*time.Millisecond {
				seen = true
				if p.Rounds != 2 || p.RoundDuration != 2*time.Second || p.Asked < 296 || p.Asked > 300 || p.QPS < 195 ||
					p.QPS > 205 || p.P99 != 10*time.Millisecond {
					t.Errorf("%+v", p)
				}
			}
		}
		if !seen || !all[3].Warming {
			t.Errorf("%+v", all)
		}
	})
}
