//go:build !purego

package dist

import "unsafe"

func peek(slots []uint32, seen *Seen, base unsafe.Pointer, stride uintptr, lines int, fresh []uint32) int {
	n := peekGeneric(slots, seen, fresh)
	if n > 0 && lines > 0 {
		prefetchRows(base, stride, &fresh[0], n, lines)
	}
	return n
}

func prefetch(p unsafe.Pointer, lines int) {
	var first uint32
	prefetchRows(p, 0, &first, 1, lines)
}

func fetchRows(base unsafe.Pointer, stride uintptr, ids []uint32, lines int) {
	prefetchRows(base, stride, &ids[0], len(ids), lines)
}
