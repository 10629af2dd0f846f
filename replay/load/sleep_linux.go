package load

import (
	"syscall"
	"time"
)

// nap sleeps for less than a few milliseconds, with an accuracy of about 50 microseconds.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // a signal ends it early: the caller checks the clock
}
