package livetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Punctual reports, when it is called, whether this machine has kept time since: on one that has other things to do whoever is
// asked is late, and it says nothing of who was asked. A goroutine that slept was never woken later than by a third of what live
// takes for a stall.
func Punctual(t *testing.T) func() bool {
	t.Helper()
	const nap, much = 10 * time.Millisecond, 60 * time.Millisecond
	var worst atomic.Int64
	var told sync.Once
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		for {
			asleep := time.Now()
			select {
			case <-done:
				return
			case <-time.After(nap):
				worst.Store(max(worst.Load(), int64(time.Since(asleep)-nap)))
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
