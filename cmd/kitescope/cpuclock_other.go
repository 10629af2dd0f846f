//go:build !unix

package main

import "time"

// cpuClock is nil: nobody tells the CPU time here.
func cpuClock() func() time.Duration { return nil }

// switchClock is nil: nobody tells context switches here.
func switchClock() func() (voluntary, involuntary int64) { return nil }
