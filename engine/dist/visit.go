package dist

import "unsafe"

// Visit writes to fresh those of the neighbours in slots whose tag is not epoch, each once,
// in their order, gives them this tag, prefetches the first lines cache lines of each one's
// row (base+id*stride), and returns how many there are. The list ends at the first slot that
// is no row, that is not below len(tags): one with the top bit set marks the end. fresh has
// room for all slots, and what is behind those returned is undefined.
func Visit(slots []uint32, tags []uint16, epoch uint16, base unsafe.Pointer, stride uintptr, lines int, fresh []uint32) int {
	if len(slots) == 0 || len(tags) == 0 {
		return 0
	}
	_ = fresh[len(slots)-1]
	return visit(slots, tags, epoch, base, stride, lines, fresh)
}

// visitGeneric is the specification of Visit; it prefetches nothing.
func visitGeneric(slots []uint32, tags []uint16, epoch uint16, fresh []uint32) int {
	n := 0
	for _, s := range slots {
		if uint64(s) >= uint64(len(tags)) {
			break
		}
		if tags[s] != epoch {
			tags[s] = epoch
			fresh[n] = s
			n++
		}
	}
	return n
}
