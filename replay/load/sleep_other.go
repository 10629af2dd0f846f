//go:build !linux

package load

import "time"

// nap sleeps for less than a few milliseconds, with the accuracy of Go's timers.
func nap(d time.Duration) { time.Sleep(d) }
