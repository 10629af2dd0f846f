package engine

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"kitescope/engine/dist"
)

// hugePage is the size at which allocations get pages of their own.
const hugePage = 2 << 20

// allocate returns zeroed bytes at 64-byte alignment or better, and what gives them back.
// Large ones are mapped, and advised to be huge pages if asked: a random access to a vector
// then costs no TLB miss of its own, but the first touch is dear (0.59 s for 320 MB where small
// pages took 0.15 s), which does not pay for what is read once.
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
		_ = unix.Madvise(region, unix.MADV_HUGEPAGE) // where not allowed, small pages do
	} else {
		_ = unix.Madvise(region, unix.MADV_NOHUGEPAGE)
	}
	free := func() { _ = unix.Munmap(b) }
	return region, free
}

// Touch has the system give the huge pages that begin in b, by writing a zero to each. It is for memory that several goroutines will
// fill, one call at a time: where two write to a new page at once, the system zeroes two of them, and throws one away.
func Touch(b []byte) {
	for at := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1)); at < len(b); at += hugePage {
		b[at] = 0
	}
}

// Uint32s returns n zeroed numbers of the heap, in huge pages if they are many: lists of links are
// read in random order, as vectors are.
func Uint32s(n int) []uint32 {
	const page = hugePage / 4
	if n < page {
		return make([]uint32, n)
	}
	s := make([]uint32, n+page)
	skip := int(-uintptr(unsafe.Pointer(&s[0]))&(hugePage-1)) / 4
	s = s[skip : skip+n : skip+n]
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), n/page*hugePage), unix.MADV_HUGEPAGE) // where not allowed, small pages do
	return s
}
