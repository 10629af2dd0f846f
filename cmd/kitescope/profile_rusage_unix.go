//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"

	"kitescope/profile/usage"
)

// countResources takes over what the kernel counted for a process that has ended (man 2 getrusage).
func countResources(u *usage.Command, s *os.ProcessState) {
	r, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return
	}
	// A process begins with the high water mark of the one that started it, which is us (Linux: setmax_mm_hiwater_rss in
	// kernel/exit.c, with the mm that vfork shares until exec). What is no more than that says nothing.
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err == nil && r.Maxrss > own.Maxrss {
		u.RSS = int64(r.Maxrss)       //nolint:unconvert // 32 bits elsewhere
		if runtime.GOOS != "darwin" { // bytes there, and KiB elsewhere
			u.RSS <<= 10
		}
	}
	u.Voluntary, u.Involuntary = int64(r.Nvcsw), int64(r.Nivcsw) //nolint:unconvert // 32 bits elsewhere
}
