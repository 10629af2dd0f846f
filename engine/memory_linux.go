package engine

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size at which allocations get pages of their own.
const hugePage = 2 << 20

// allocate returns zeroed bytes at 64-byte alignment or better, and what gives them back.
// Large ones are mapped and advised to be huge pages: a random access to a vector then costs
// no TLB miss of its own.
func allocate(n int) ([]byte, func()) {
	if n < hugePage {
		return aligned(n), nil
	}
	b, err := unix.Mmap(-1, 0, n+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return aligned(n), nil
	}
	skip := int(-uintptr(unsafe.Pointer(&b[0])) & (hugePage - 1))
	region := b[skip : skip+n : skip+n]
	_ = unix.Madvise(region, unix.MADV_HUGEPAGE) // where not allowed, small pages do
	free := func() { _ = unix.Munmap(b) }
	return region, free
}
