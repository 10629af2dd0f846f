package engine

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"kitescope/engine/dist"
)

// hugePage is the size of a huge page in bytes. Allocations of at least this size are mapped separately.
const hugePage = 2 << 20

// allocate returns n zeroed bytes at an alignment of at least 64 bytes, and a function that frees them (nil if they
// are on the heap). Large allocations are mapped. If huge is set, the kernel is advised to use huge pages for them,
// because a random access to a vector then costs no TLB miss of its own. The first touch is expensive, however
// (0.59 s for 320 MB, compared with 0.15 s for small pages), so huge pages do not pay off for data that is read
// once.
func allocate(n int, huge bool) ([]byte, func()) {
	if n < hugePage {
		return dist.Aligned(n), nil
	}
	b, err := unix.Mmap(-1, 0, n+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return dist.Aligned(n), nil
	}
	skip := int(-uintptr(unsafe.Pointer(&b[0])) & (hugePage - 1))
	region := b[skip : skip+n : skip+n]
	if huge {
		_ = unix.Madvise(region, unix.MADV_HUGEPAGE) // if refused, small pages will do
	} else {
		_ = unix.Madvise(region, unix.MADV_NOHUGEPAGE)
	}
	free := func() { _ = unix.Munmap(b) }
	return region, free
}

// Touch faults in the huge pages that begin in b by writing a zero byte to each. Call it once before several
// goroutines fill b: if two goroutines write to a new page at once, the kernel zeroes two pages and discards one.
func Touch(b []byte) {
	for at := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1)); at < len(b); at += hugePage {
		b[at] = 0
	}
}

// Uint32s returns n zeroed numbers on the heap, in huge pages if they fill at least one. It is for lists of links,
// which are read in random order like vectors.
func Uint32s(n int) []uint32 {
	const page = hugePage / 4
	if n < page {
		return make([]uint32, n)
	}
	s := make([]uint32, n+page)
	skip := int(-uintptr(unsafe.Pointer(&s[0]))&(hugePage-1)) / 4
	s = s[skip : skip+n : skip+n]
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), n/page*hugePage), unix.MADV_HUGEPAGE) // may fail
	return s
}
