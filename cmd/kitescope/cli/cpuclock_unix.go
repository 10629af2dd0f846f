//go:build unix

package cli

import (
	"syscall"
	"time"
)

// CPUClock returns a function that returns the CPU time of this process, user plus system (man 2 getrusage).
func CPUClock() func() time.Duration {
	return func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			return 0
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
}

// SwitchClock returns a function that returns the voluntary and involuntary context switches of this process.
func SwitchClock() func() (voluntary, involuntary int64) {
	return func() (voluntary, involuntary int64) {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			return 0, 0
		}
		return int64(u.Nvcsw), int64(u.Nivcsw) //nolint:unconvert // 32 bits on some systems
	}
}
