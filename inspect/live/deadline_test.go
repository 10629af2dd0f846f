package live_test

import (
	"sync/atomic"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// TestDeadlineCountsForEverything checks that all calls to a process, including the second scrape, share its
// deadline, so that a late response leaves less time for the next. A window longer than half of the deadline is
// added.
func TestDeadlineCountsForEverything(t *testing.T) {
	t.Parallel()
	const timeout, slack = 2 * time.Second, 1200 * time.Millisecond // a second deadline would end well after that
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{})
	was := ask(t, c, live.Options{}).LiveNode("querynode", 101).Process.Address
	for name, test := range map[string]struct {
		delay  func(n int32) time.Duration
		window time.Duration
		limit  time.Duration
	}{
		"late, then silent": {
			func(n int32) time.Duration { return []time.Duration{1400 * time.Millisecond, time.Minute}[min(n, 1)] },
			400 * time.Millisecond, timeout,
		},
		"quick, then silent": {
			func(n int32) time.Duration { return []time.Duration{0, 0, time.Minute}[min(n, 2)] },
			400 * time.Millisecond, timeout,
		},
		"late each time": {
			func(int32) time.Duration { return 900 * time.Millisecond }, 400 * time.Millisecond, timeout,
		},
		"silent, long window": {
			func(int32) time.Duration { return time.Minute }, 1600 * time.Millisecond, timeout + 1600*time.Millisecond,
		},
		"then silent, long window": {
			func(n int32) time.Duration { return []time.Duration{0, 0, time.Minute}[min(n, 2)] },
			1600 * time.Millisecond, timeout + 1600*time.Millisecond,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			var asked atomic.Int32
			punctual := livetest.Punctual(t)
			slow := livetest.Gate(t, was, func() {
				select {
				case <-time.After(test.delay(asked.Add(1) - 1)):
				case <-over:
				}
			})
			t.Cleanup(func() { close(over) })
			start := time.Now()
			r := ask(t, c, live.Options{Timeout: timeout, Window: test.window, Map: map[string]string{was: slow}})
			if took := time.Since(start); took > test.limit+slack && punctual() {
				t.Errorf("took %v with a deadline of %v and a window of %v", took, timeout, test.window)
			}
			wantOutcome(t, r, "querynode", 101, model.Answered, "")
			for _, id := range []model.NodeID{100, 102} { // fast processes have their rates
				if p := r.LiveNode("querynode", id).Process; (p == nil || p.Before == nil) && punctual() {
					t.Errorf("querynode-%s was not scraped twice", id)
				}
			}
		})
	}
}
