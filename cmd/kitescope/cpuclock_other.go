//go:build !unix

package main

import "time"

// cpuClock is nil: nobody tells the CPU time here.
func cpuClock() func() time.Duration { return nil }
