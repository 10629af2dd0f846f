//go:build !unix

package cli

import "time"

// CPUClock returns nil because the CPU time is not available on this system.
func CPUClock() func() time.Duration { return nil }

// SwitchClock returns nil because context switches are not available on this system.
func SwitchClock() func() (voluntary, involuntary int64) { return nil }
