//go:build !linux

package load

import "time"

// nap sleeps for less than a few milliseconds, as exactly as Go's timers do.
func nap(d time.Duration) { time.Sleep(d) }
