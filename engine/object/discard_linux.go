package object

import (
	"os"
	"syscall"
)

// discard returns a function that releases the pages of a read-only file mapping from the memory of this
// process. They stay in the system's cache and come back if they are read again. A file is therefore never
// resident in addition to the index that is built from it.
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
