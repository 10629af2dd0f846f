//go:build !purego

package dist

import "unsafe"

// visit is Visit of slots and rows that are not none: the specification, then the prefetches.
func visit(slots []uint32, seen *Seen, base unsafe.Pointer, stride uintptr, lines int, fresh []uint32) int {
	n := visitGeneric(slots, seen, fresh)
	if n > 0 && lines > 0 {
		prefetchRows(base, stride, &fresh[0], n, lines)
	}
	return n
}

// prefetchRows prefetches the first lines cache lines of 64 bytes, at least one, of count rows.
//
//go:noescape
func prefetchRows(base unsafe.Pointer, stride uintptr, ids *uint32, count, lines int)
