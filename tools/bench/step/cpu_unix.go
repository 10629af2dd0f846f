//go:build unix

package main

import (
	"syscall"
	"time"
)

// processTime returns the CPU time of this process, or 0 if it is unknown.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
