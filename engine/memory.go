package engine

import "unsafe"

// aligned returns n zeroed bytes of the heap at 64-byte alignment.
func aligned(n int) []byte {
	b := make([]byte, n+63)
	skip := int(-uintptr(unsafe.Pointer(&b[0])) & 63)
	return b[skip : skip+n : skip+n]
}
