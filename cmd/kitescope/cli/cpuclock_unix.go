//go:build unix

package cli

import (
	"syscall"
	"time"
)

// CPUClock tells the CPU time that this process has used so far, user and system (man 2 getrusage).
func CPUClock() func() time.Duration {
	return func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			return 0
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
}

// SwitchClock tells how often this process gave a CPU back so far, on its own and because it had to.
func SwitchClock() func() (voluntary, involuntary int64) {
	return func() (voluntary, involuntary int64) {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			return 0, 0
		}
		return int64(u.Nvcsw), int64(u.Nivcsw) //nolint:unconvert // 32 bits on some systems
	}
}
