//go:build !purego

package dist

import "unsafe"

func peek(slots []uint32, seen *Seen, base unsafe.Pointer, stride uintptr, lines int, fresh []uint32) int {
	return peekAMD64(&slots[0], len(slots), &seen.words[0], int(seen.rows), base, stride, lines, &fresh[0])
}

func prefetch(p unsafe.Pointer, lines int) { prefetchAMD64(p, lines) }

func fetchRows(base unsafe.Pointer, stride uintptr, ids []uint32, lines int) {
	prefetchRowsAMD64(base, stride, &ids[0], len(ids), lines)
}
