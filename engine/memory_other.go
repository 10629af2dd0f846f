//go:build !linux

package engine

import "kitescope/engine/dist"

// allocate returns n zeroed bytes on the heap at 64-byte alignment.
func allocate(n int, _ bool) ([]byte, func()) { return dist.Aligned(n), nil }

// Uint32s returns n zeroed numbers on the heap.
func Uint32s(n int) []uint32 { return make([]uint32, n) }

// Touch does nothing because there are no huge pages to fault in.
func Touch([]byte) {}
