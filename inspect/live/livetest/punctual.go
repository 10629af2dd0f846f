package livetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Punctual returns a function that reports whether this machine has run goroutines on time since the call of
// Punctual. On a busy machine every response is late, whichever process it comes from. A call and its
// response pass through several goroutines, and each goroutine may have to wait for its turn. The measure is
// therefore the total delay of 12 consecutive wake-ups of a sleeping goroutine, which must be at most 60 ms.
// A stall is a response that takes 100 ms or longer (model.ProbeStall).
func Punctual(t *testing.T) func() bool {
	t.Helper()
	const nap, hands, much = 10 * time.Millisecond, 12, 60 * time.Millisecond
	var worst atomic.Int64
	var told sync.Once
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		var late [hands]time.Duration
		var sum time.Duration
		for i := 0; ; i = (i + 1) % hands {
			asleep := time.Now()
			select {
			case <-done:
				return
			case <-time.After(nap):
				l := time.Since(asleep) - nap
				sum += l - late[i]
				late[i] = l
				worst.Store(max(worst.Load(), int64(sum)))
			}
		}
	}()
	return func() bool {
		late := time.Duration(worst.Load())
		if late > much {
			told.Do(func() { t.Logf("this machine was %v late itself: who else was is not looked at", late) })
		}
		return late <= much
	}
}
