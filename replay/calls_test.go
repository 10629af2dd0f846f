package replay_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kitescope/replay"
	"kitescope/replay/load"
)

// searches counts what its sessions are asked: how many requests may have hits, and how many had some.
type searches struct {
	load.Target
	all, hits atomic.Int64
	fail      error
}

func (s *searches) Session(ctx context.Context) (load.Session, error) {
	x, err := s.Target.Session(ctx)
	return &counted{x, s}, err
}

type counted struct {
	load.Session
	of *searches
}

func (s *counted) Ask(ctx context.Context, r *load.Request) (*load.Answer, error) {
	if r.Keys != nil && s.of.fail != nil {
		return nil, s.of.fail
	}
	a, err := s.Session.Ask(ctx, r)
	if r.Keys == nil {
		s.of.all.Add(1)
	} else if err == nil && len(a.Hits) > 0 {
		s.of.hits.Add(int64(len(a.Hits[0])))
	}
	return a, err
}

// TestCalls: after all points the same is asked for nothing, paced as one session was answered, and by the fewest and the most sessions.
func TestCalls(t *testing.T) {
	c := four(t)
	l := loadOf(t, c, c.layout, nil)
	run := func(target *searches, tells bool) *replay.Result {
		t.Helper()
		target.Target = newTarget(t, l, replay.TargetOptions{})
		r, err := replay.Run(t.Context(), replay.RunOptions{
			Loaded: l, Target: target, Calls: true, Sessions: []int{2, 1},
			Requests: []*load.Request{at(t, 0, 3, 100), at(t, 1, 3, 200)},
			Plan:     load.Plan{Requests: 20, Rounds: 2, Deadline: time.Minute},
			Watch: func(context.Context) func(context.Context, *load.Point) {
				return func(_ context.Context, p *load.Point) {
					if tells {
						p.Served, p.CPUPerQuery = &load.Served{Requests: float64(p.Asked)}, time.Millisecond
					}
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	target := &searches{}
	r := run(target, true)
	if len(r.Points) != 2 || len(r.Calls) != 3 || target.all.Load() == 0 || target.hits.Load() != 0 {
		t.Fatalf("%d points, %d of calls, %d searches, %d hits of calls", len(r.Points), len(r.Calls), target.all.Load(), target.hits.Load())
	}
	lone := r.Points[1]
	if p := r.Calls[0]; p.Rate < 0.99*lone.QPS || p.Rate > 1.01*lone.QPS || p.Sessions != 2 {
		t.Errorf("paced %v a second by %d sessions, one was answered %v", p.Rate, p.Sessions, lone.QPS)
	}
	if one, most := r.Calls[1], r.Calls[2]; one.Sessions != 1 || most.Sessions != 2 || one.Rate != 0 || most.Rate != 0 || one.Served == nil || one.Rounds != 1 {
		t.Errorf("then by %d and %d sessions", one.Sessions, most.Sessions)
	}
	if said := strings.Join(r.Notes, "\n"); !strings.Contains(said, "a query that searches nothing takes 1ms of CPU at ") {
		t.Errorf("notes: %s", said)
	}
	for want, r := range map[string]*replay.Result{
		"is unknown: the processes did not tell":              run(&searches{}, false),
		"requests failed: no such thing: [] in an expression": run(&searches{fail: errors.New("no such thing: [] in an expression")}, true),
	} {
		if said := strings.Join(r.Notes, "\n"); len(r.Calls) != 0 || !strings.Contains(said, want) || len(r.Points) != 2 {
			t.Errorf("%d points, %d of calls, notes %q, want %q", len(r.Points), len(r.Calls), said, want)
		}
	}
}
