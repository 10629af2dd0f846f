package dist

import "unsafe"

// Peek prefetches the rows that Visit would prefetch with the same arguments, but marks no row as met. It is meant
// for the node that is likely to be visited next. It writes the ids of the rows to fresh, which may contain
// duplicates, and returns their number.
func Peek(slots []uint32, seen *VisitedSet, base unsafe.Pointer, stride uintptr, lines int, fresh []uint32) int {
	if len(slots) == 0 || seen.rows == 0 {
		return 0
	}
	_ = fresh[len(slots)-1]
	return peek(slots, seen, base, stride, lines, fresh)
}

// Prefetch prefetches the cache lines of a list that will be read soon.
func Prefetch(list []uint32) {
	if len(list) > 0 {
		prefetch(unsafe.Pointer(&list[0]), (len(list)+15)/16)
	}
}

// PrefetchRows prefetches the first lines cache lines of rows that will be read soon.
func PrefetchRows(base unsafe.Pointer, stride uintptr, lines int, ids []uint32) {
	if len(ids) > 0 && lines > 0 {
		fetchRows(base, stride, ids, lines)
	}
}

// peekGeneric is the specification of Peek. It prefetches nothing.
func peekGeneric(slots []uint32, seen *VisitedSet, fresh []uint32) int {
	n := 0
	for _, s := range slots {
		if uint64(s) >= seen.rows {
			break
		}
		if seen.words[s/32]>>(s%32)&1 == 0 {
			fresh[n] = s
			n++
		}
	}
	return n
}
