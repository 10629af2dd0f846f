package rules_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// looked is a live cluster at which somebody looks again and again.
type looked struct {
	*rand.Rand
	judge check.Judge
	// jitter is how unsteady the writer is: nil writes in equal steps, else writes come at random.
	random bool
	left   float64 // of a write, from the window before
}

const lookWindow = 1500 * time.Millisecond

// writes are how many of a rate fall into one window.
func (l *looked) writes(rate float64) int64 {
	mean := rate * lookWindow.Seconds()
	if !l.random {
		n := math.Floor(mean + l.left)
		l.left += mean - n
		return int64(n)
	}
	if mean > 100 {
		return int64(math.Max(0, math.Round(mean+math.Sqrt(mean)*l.NormFloat64())))
	}
	n, p := int64(-1), 1.0
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= l.Float64()
	}
	return n
}

// look judges one window, and reports whether something was found.
func (l *looked) look(t *testing.T, a *model.EtcdActivity) bool {
	t.Helper()
	w := well()
	members(1, nil)(w)
	w.Etcd.Activity = a
	c := w.build()
	found := len(l.judge.Run(c, w.now, []*check.Check{named("watch-livelock")}).Findings) > 0
	if l.IntN(10) > 0 {
		return found
	}
	// Metadata changes many times between two windows.
	if again := len(l.judge.Run(c, w.now, []*check.Check{named("watch-livelock")}).Findings) > 0; again != found {
		t.Fatalf("the same window, judged again: %t, then %t", found, again)
	}
	return found
}

// steadyKinds are what is judged by its rate.
var steadyKinds = []struct {
	name  string
	limit float64 // writes a second
	of    func(n int64) *model.EtcdActivity
}{
	{"revisions", facts.RevisionRate, func(n int64) *model.EtcdActivity {
		return &model.EtcdActivity{Over: lookWindow, Revisions: n, Writes: n}
	}},
	{"watch", facts.WatchRate, func(n int64) *model.EtcdActivity {
		return &model.EtcdActivity{Over: lookWindow, Revisions: n, Writes: n, Hot: []model.KeyWrites{{Key: "by-dev/meta/channelwatch/5/" + wellCh0, Writes: n}}}
	}},
	{"key", facts.KeyRate, func(n int64) *model.EtcdActivity {
		return &model.EtcdActivity{Over: lookWindow, Revisions: n, Writes: n, Hot: []model.KeyWrites{{Key: "by-dev/meta/x", Writes: n}}}
	}},
}

// A writer that keeps its pace, whatever that is, is found or not, and that stays.
func TestSteadyWritesDoNotFlap(t *testing.T) {
	for _, kind := range steadyKinds {
		for _, random := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/random=%t", kind.name, random), func(t *testing.T) {
				for i := range 30 {
					l := &looked{Rand: rand.New(rand.NewPCG(uint64(i), 11)), random: random} //nolint:gosec // no secret
					rate := kind.limit * math.Pow(2, l.Float64()*6-3)                        // from an eighth to eight times as much
					changes, found := 0, false
					for range 200 {
						if now := l.look(t, kind.of(l.writes(rate))); now != found {
							changes, found = changes+1, now
						}
					}
					if changes > 1 {
						t.Errorf("%.3g writes a second, seed %d: %d changes in 200 looks", rate, i, changes)
					}
				}
			})
		}
	}
}

// A pace that rises far above the limit is found, one that falls far below is over: one change for each crossing.
func TestCrossingTheLimitIsOneChange(t *testing.T) {
	for _, kind := range steadyKinds {
		t.Run(kind.name, func(t *testing.T) {
			for i := range 10 {
				l := &looked{Rand: rand.New(rand.NewPCG(uint64(i), 12)), random: true} //nolint:gosec // no secret
				high := false
				for range 6 {
					exponent := 3 + 3*l.Float64() // 8 to 64 times the limit, or as far below
					if !high {
						exponent = -exponent
					}
					changes, found := 0, !high
					for n := range 60 {
						if now := l.look(t, kind.of(l.writes(kind.limit*math.Pow(2, exponent)))); now != found {
							changes, found = changes+1, now
							if n > 15 {
								t.Errorf("seed %d: it takes %d looks to see that the pace changed", i, n)
							}
						}
					}
					if want := 1; found != high || changes > want {
						t.Errorf("seed %d, %.3g times the limit: found %t after %d changes", i, math.Pow(2, exponent), found, changes)
					}
					high = !high
				}
			}
		})
	}
}

// Twelve keys are rewritten alike, and only the ten busiest of each window are told: which they are is chance.
func TestKeysOutsideOfTheBusiestStay(t *testing.T) {
	l := &looked{Rand: rand.New(rand.NewPCG(1, 13))} //nolint:gosec // no secret
	most := 0
	for i := range 40 {
		a := &model.EtcdActivity{Over: lookWindow, Revisions: 600, Writes: 600, More: true}
		for _, k := range l.Perm(12)[:10] {
			a.Hot = append(a.Hot, model.KeyWrites{Key: fmt.Sprintf("by-dev/meta/channelwatch/5/by-dev-rootcoord-dml_%d_1000v%d", k, k), Writes: 75})
		}
		w := well()
		members(1, nil)(w)
		w.Etcd.Activity = a
		for k := range 12 {
			name := fmt.Sprintf("by-dev-rootcoord-dml_%d_1000v%d", k, k)
			w.VChannels = append(w.VChannels, &model.VChannel{Name: name, Watches: []model.WatchRecord{{Key: "by-dev/meta/channelwatch/5/" + name, Node: 5}}})
		}
		n := len(l.judge.Run(w.build(), w.now, []*check.Check{named("watch-livelock")}).Findings)
		if n < most {
			t.Fatalf("look %d: %d of %d channels are found", i, n, most)
		}
		most = n
	}
	if most != 12 {
		t.Errorf("%d of 12 channels were found", most)
	}
}

// Where all keys that were written are told, one that is not among them was not written, however many there are.
func TestKeysThatAreNotToldWereNotWritten(t *testing.T) {
	l := &looked{Rand: rand.New(rand.NewPCG(1, 13))} //nolint:gosec // no secret
	window := func(from, n int) *model.EtcdActivity {
		a := &model.EtcdActivity{Over: lookWindow, Revisions: 600, Writes: 600}
		for k := from; k < from+n; k++ {
			a.Hot = append(a.Hot, model.KeyWrites{Key: fmt.Sprintf("by-dev/meta/channelwatch/5/by-dev-rootcoord-dml_%d_1000v%d", k, k), Writes: 75})
		}
		return a
	}
	found := 0
	for _, a := range []*model.EtcdActivity{window(0, 12), window(0, 12), window(2, 10), window(2, 10)} {
		w := well()
		members(1, nil)(w)
		w.Etcd.Activity = a
		found = len(l.judge.Run(w.build(), w.now, []*check.Check{named("watch-livelock")}).Findings)
	}
	if found != 10 {
		t.Errorf("%d channels are found, 10 are written", found)
	}
}

// Collections that come and go: each watch record is written five times within two windows, then deleted with its channel, and so many other keys are
// written once that most are not told. Nothing of that is a loop (make e2e-chaos, -churn).
func TestComingAndGoingIsNoLoop(t *testing.T) {
	l := &looked{Rand: rand.New(rand.NewPCG(1, 13))} //nolint:gosec // no secret
	for i := range 100 {
		a := &model.EtcdActivity{Over: 2 * time.Second, Revisions: 40, Writes: 40, More: true}
		channel := func(n int) string {
			return fmt.Sprintf("by-dev/meta/channelwatch/5/by-dev-rootcoord-dml_%d_%dv0", n%16, 2000+n)
		}
		a.Hot = append(a.Hot, model.KeyWrites{Key: channel(i), Writes: 3})
		if i > 0 {
			a.Hot = append(a.Hot, model.KeyWrites{Key: channel(i - 1), Writes: 3})
		}
		for k := range 8 {
			a.Hot = append(a.Hot, model.KeyWrites{Key: fmt.Sprintf("by-dev/meta/segment/%d", i*8+k), Writes: 1})
		}
		w := well()
		members(1, nil)(w)
		w.Etcd.Activity = a
		if found := l.judge.Run(w.build(), w.now, []*check.Check{named("watch-livelock")}).Findings; len(found) > 0 {
			t.Fatalf("window %d: %s", i, found[0].Message)
		}
	}
}

// A loop of a channel whose collection is dropped is over, and one of a channel that is there ends, however many other keys are written once.
func TestALoopEndsAmongManyWrites(t *testing.T) {
	for name, there := range map[string]bool{"dropped": false, "there": true} {
		t.Run(name, func(t *testing.T) {
			l := &looked{Rand: rand.New(rand.NewPCG(1, 13))} //nolint:gosec // no secret
			key := "by-dev/meta/channelwatch/5/" + wellCh0
			last := 0
			for i := range 60 {
				a := &model.EtcdActivity{Over: 2 * time.Second, Revisions: 400, Writes: 400, More: true}
				loops := i < 5
				if loops {
					a.Hot = append(a.Hot, model.KeyWrites{Key: key, Writes: 150})
				}
				for k := range 10 {
					a.Hot = append(a.Hot, model.KeyWrites{Key: fmt.Sprintf("by-dev/meta/segment/%d", i*10+k), Writes: 1})
				}
				w := well()
				members(1, nil)(w)
				w.Etcd.Activity = a
				if there || loops {
					for _, v := range w.VChannels {
						v.Watches = []model.WatchRecord{{Key: "by-dev/meta/channelwatch/5/" + v.Name, Node: 5}}
					}
				}
				if found := len(l.judge.Run(w.build(), w.now, []*check.Check{named("watch-livelock")}).Findings) > 0; found {
					last = i
				} else if loops && i > 0 {
					t.Fatalf("window %d: the loop is not found", i)
				}
			}
			if want := map[bool]int{false: 4, true: 30}[there]; last > want {
				t.Errorf("it is found until window %d, the loop ended with 4", last)
			}
		})
	}
}
