//go:build purego || !(amd64 || arm64)

package dist

import "unsafe"

// native are the back ends of this CPU other than Generic.
func native() []Backend { return nil }

func float32Native(Backend, Metric, order) (forms, bool) { return forms{}, false }

// visit is Visit of slots and rows that are not none.
func visit(slots []uint32, seen *Seen, _ unsafe.Pointer, _ uintptr, _ int, fresh []uint32) int {
	return visitGeneric(slots, seen, fresh)
}
