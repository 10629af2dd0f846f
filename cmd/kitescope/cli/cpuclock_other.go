//go:build !unix

package cli

import "time"

// CPUClock is nil: nobody tells the CPU time here.
func CPUClock() func() time.Duration { return nil }

// SwitchClock is nil: nobody tells context switches here.
func SwitchClock() func() (voluntary, involuntary int64) { return nil }
