package livetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Punctual reports, when it is called, whether this machine has kept time since: on one that has other things to do whoever is
// asked is late, and it says nothing of who was asked. A question and its answer go through some hands, each of which may have to
// wait for its turn, so what counts is how late a goroutine that slept was woken so many times one after the other: never by more than
// a third of what live takes for a stall.
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
