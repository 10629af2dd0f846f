//go:build !purego

package dist

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// native returns the back ends of this CPU other than Generic. Every arm64 CPU has NEON.
func native() []Backend { return []Backend{NEON} }

// nativeForms returns the generated kernels of a back end, and reports whether it has them.
func nativeForms(b Backend, m Metric, e Element, o order) (forms, bool) {
	if b != NEON || e == Bit {
		return forms{}, false
	}
	all := map[Element][2]rowsFunc{ // L2, inner product
		Float16:  {float16L2RowsNEON, float16IPRowsNEON},
		BFloat16: {bfloat16L2RowsNEON, bfloat16IPRowsNEON},
		Int8:     {int8L2RowsNEON, int8IPRowsNEON},
	}[e]
	if e == Float32 {
		all = [orders][2]rowsFunc{
			orderKnowhere: {float32L2KnowhereRowsNEON, float32IPKnowhereRowsNEON},
			orderHNSW16:   {float32L2HNSW16RowsNEON, float32IPHNSW16RowsNEON},
			orderHNSW4:    {float32L2HNSW4RowsNEON, float32IPHNSW4RowsNEON},
			orderFaiss:    {float32L2FaissRowsNEON, float32IPFaissRowsNEON},
		}[o]
	}
	if m == L2 {
		return forms{rows: all[0]}, true
	}
	return forms{rows: all[1]}, true
}

// sieveNative returns the Sieve kernels of this CPU. The earliest arm64 CPUs have none because they lack SDOT.
func sieveNative() []sieveForms {
	if !cpu.ARM64.HasASIMDDP {
		return nil
	}
	return []sieveForms{{fine: sieveNEON}}
}

// codesNative returns the Codes kernels of this CPU.
func codesNative() []codesForm { return []codesForm{{codesNEON, true}} }

// sq8Native returns nil because rows are decoded first on arm64.
func sq8Native(Backend, Metric) scanFunc { return nil }

// rankNative returns nil because arm64 uses the specification.
func rankNative() []rankFunc { return nil }

// visit implements Visit for slots and a VisitedSet that are not empty: it runs the specification and prefetches
// afterwards.
func visit(slots []uint32, seen *VisitedSet, base unsafe.Pointer, stride uintptr, lines int, fresh []uint32) int {
	n := visitGeneric(slots, seen, fresh)
	if n > 0 && lines > 0 {
		prefetchRows(base, stride, &fresh[0], n, lines)
	}
	return n
}

func peek(slots []uint32, seen *VisitedSet, base unsafe.Pointer, stride uintptr, lines int, fresh []uint32) int {
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

// prefetchRows prefetches the first lines cache lines (64 bytes each) of count rows. lines is at least one.
//
//go:noescape
func prefetchRows(base unsafe.Pointer, stride uintptr, ids *uint32, count, lines int)

// Translates reports whether there is a kernel for Translate.
func Translates() bool { return false }

func translate(*[256]byte, *byte, *byte, int) {}
