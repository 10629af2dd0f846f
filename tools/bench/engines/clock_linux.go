package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the CPU time of the calling thread, and processTime that of all threads.
func threadTime() time.Duration  { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }
func processTime() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic(err) // these clocks always exist (clock_gettime(2))
	}
	return time.Duration(t.Nano())
}
