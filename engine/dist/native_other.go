//go:build purego || !(amd64 || arm64)

package dist

import "unsafe"

// This build has no native kernels and uses the specification for everything.

func native() []Backend { return nil }

func nativeForms(Backend, Metric, Element, order) (forms, bool) { return forms{}, false }

func sieveNative() []sieveForms { return nil }

func codesNative() []codesForm { return nil }

func sq8Native(Backend, Metric) scanFunc { return nil }

func rankNative() []rankFunc { return nil }

func visit(slots []uint32, seen *VisitedSet, _ unsafe.Pointer, _ uintptr, _ int, fresh []uint32) int {
	return visitGeneric(slots, seen, fresh)
}

func peek(slots []uint32, seen *VisitedSet, _ unsafe.Pointer, _ uintptr, _ int, fresh []uint32) int {
	return peekGeneric(slots, seen, fresh)
}

func prefetch(unsafe.Pointer, int) {}

func fetchRows(unsafe.Pointer, uintptr, []uint32, int) {}

// Translates reports whether there is a kernel for Translate.
func Translates() bool { return false }

func translate(*[256]byte, *byte, *byte, int) {}
