//go:build unix

package rules_test

import (
	"syscall"
	"time"
)

// processorTime returns the CPU time of this process so far, in user code and in the kernel.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
