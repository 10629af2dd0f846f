//go:build unix

package main

import (
	"syscall"
	"time"
)

// processTime is the CPU time that this process has taken, zero where it is not told.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
