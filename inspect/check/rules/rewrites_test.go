package rules_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// steadyKinds lists the kinds of writes that are judged by their rate.
var steadyKinds = []struct {
	name  string
	limit float64 // writes per second
	of    func(n int64) *model.EtcdActivity
}{
	{"revisions", facts.RevisionRate, func(n int64) *model.EtcdActivity {
		return &model.EtcdActivity{Over: rulestest.WatchWindow, Revisions: n, Writes: n}
	}},
	{"watch", facts.WatchRate, func(n int64) *model.EtcdActivity {
		return &model.EtcdActivity{
			Over: rulestest.WatchWindow, Revisions: n, Writes: n,
			Hot: []model.KeyWrites{{Key: "by-dev/meta/channelwatch/5/" + rulestest.Channel0, Writes: n}},
		}
	}},
	{"key", facts.KeyRate, func(n int64) *model.EtcdActivity {
		return &model.EtcdActivity{
			Over: rulestest.WatchWindow, Revisions: n, Writes: n,
			Hot: []model.KeyWrites{{Key: "by-dev/meta/x", Writes: n}},
		}
	}},
}

// TestSteadyWritesDoNotFlap checks that the finding about a writer with a constant rate changes at most once,
// for any rate.
func TestSteadyWritesDoNotFlap(t *testing.T) {
	for _, kind := range steadyKinds {
		for _, random := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/random=%t", kind.name, random), func(t *testing.T) {
				for i := range 10 {
					l := &rulestest.RepeatedRun{
						Rand: rand.New(rand.NewPCG(uint64(i), 11)), Random: random,
					} //nolint:gosec // no secret
					rate := kind.limit * math.Pow(2, l.Float64()*6-3) // from an eighth to eight times as much
					changes, found := 0, false
					for range 100 {
						if now := l.Run(t, kind.of(l.Writes(rate))); now != found {
							changes, found = changes+1, now
						}
					}
					if changes > 1 {
						t.Errorf("%.3g writes a second, seed %d: %d changes in 100 looks", rate, i, changes)
					}
				}
			})
		}
	}
}

// TestCrossingTheLimitIsOneChange checks that a rate that rises far above the limit is found, and one that
// falls far below is not. Each crossing causes one change.
func TestCrossingTheLimitIsOneChange(t *testing.T) {
	for _, kind := range steadyKinds {
		t.Run(kind.name, func(t *testing.T) {
			for i := range 10 {
				l := &rulestest.RepeatedRun{
					Rand: rand.New(rand.NewPCG(uint64(i), 12)), Random: true,
				} //nolint:gosec // no secret
				high := false
				for range 6 {
					exponent := 3 + 3*l.Float64() // 8 to 64 times the limit, or 1/8 to 1/64
					if !high {
						exponent = -exponent
					}
					changes, found := 0, !high
					for n := range 60 {
						if now := l.Run(t, kind.of(l.Writes(kind.limit*math.Pow(2, exponent)))); now != found {
							changes, found = changes+1, now
							if n > 15 {
								t.Errorf("seed %d: it takes %d looks to see that the pace changed", i, n)
							}
						}
					}
					if want := 1; found != high || changes > want {
						t.Errorf("seed %d, %.3g times the limit: found %t after %d changes", i, math.Pow(2, exponent),
							found, changes)
					}
					high = !high
				}
			}
		})
	}
}
