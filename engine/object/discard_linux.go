package object

import (
	"os"
	"syscall"
)

// discard returns what takes the pages of a read-only mapping of a file out of this process's
// memory; they stay in the system's cache and come back if they are read again. So a file is
// never resident beside the index that is made of it.
func discard(data []byte) func(from, to int) {
	page := os.Getpagesize()
	return func(from, to int) {
		from = (from + page - 1) / page * page
		to = to / page * page
		if from < to {
			_ = syscall.Madvise(data[from:to], syscall.MADV_DONTNEED)
		}
	}
}
