//go:build purego || !(amd64 || arm64)

package dist

import "unsafe"

func peek(slots []uint32, seen *Seen, _ unsafe.Pointer, _ uintptr, _ int, fresh []uint32) int {
	return peekGeneric(slots, seen, fresh)
}

func prefetch(unsafe.Pointer, int) {}

func fetchRows(unsafe.Pointer, uintptr, []uint32, int) {}
