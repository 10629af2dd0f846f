//go:build !purego

package dist

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// native returns the back ends of this CPU other than Generic, from slowest to fastest. It uses package cpu,
// which obeys GODEBUG, so features can be masked.
func native() []Backend {
	x := cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA:
		return nil
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL:
		return []Backend{AVX2}
	}
	return []Backend{AVX2, AVX512}
}

// nativeForms returns the generated kernels of a back end, and reports whether it has them. The kernels for
// bits need VPOPCNTDQ, an extension that came two generations after AVX-512. Int8 has only AVX2 kernels,
// because they read rows from memory as fast as AVX-512 would.
func nativeForms(b Backend, m Metric, e Element, o order) (f forms, ok bool) {
	if b != AVX2 && b != AVX512 {
		return f, false
	}
	switch e {
	case Float32:
		f = float32Forms(b, m, o)
	case Float16:
		f = pick(b, m, [2]forms{{rows: float16L2RowsAVX2}, {rows: float16IPRowsAVX2}},
			[2]forms{
				{rows: float16L2RowsAVX512, block: float16L2BlockAVX512},
				{rows: float16IPRowsAVX512, block: float16IPBlockAVX512},
			})
	case BFloat16:
		f = pick(b, m, [2]forms{{rows: bfloat16L2RowsAVX2}, {rows: bfloat16IPRowsAVX2}},
			[2]forms{
				{rows: bfloat16L2RowsAVX512, block: bfloat16L2BlockAVX512},
				{rows: bfloat16IPRowsAVX512, block: bfloat16IPBlockAVX512},
			})
	case Int8:
		all := [2]forms{{rows: int8L2RowsAVX2}, {rows: int8IPRowsAVX2}}
		f = pick(b, m, all, all)
	default: // Bit
		if b != AVX512 || !cpu.X86.HasAVX512VPOPCNTDQ {
			return f, false
		}
		if f.rows = hammingRowsAVX512; m == Jaccard {
			f.rows = jaccardRowsAVX512
		}
	}
	f.prefetches = true
	return f, true
}

// pick returns the kernel of a metric (L2 or inner product) on a back end.
func pick(b Backend, m Metric, avx2, avx512 [2]forms) forms {
	all := avx2
	if b == AVX512 {
		all = avx512
	}
	if m == L2 {
		return all[0]
	}
	return all[1]
}

func float32Forms(b Backend, m Metric, o order) forms {
	switch o {
	case orderKnowhere:
		return pick(b, m, [2]forms{{rows: float32L2KnowhereRowsAVX2}, {rows: float32IPKnowhereRowsAVX2}}, [2]forms{
			{rows: float32L2KnowhereRowsAVX512, block: float32L2KnowhereBlockAVX512},
			{rows: float32IPKnowhereRowsAVX512, block: float32IPKnowhereBlockAVX512},
		})
	case orderHNSW16:
		return pick(b, m, [2]forms{{rows: float32L2HNSW16RowsAVX2}, {rows: float32IPHNSW16RowsAVX2}}, [2]forms{
			{rows: float32L2HNSW16RowsAVX512, block: float32L2HNSW16BlockAVX512},
			{rows: float32IPHNSW16RowsAVX512, block: float32IPHNSW16BlockAVX512},
		})
	case orderHNSW4:
		return pick(b, m, [2]forms{{rows: float32L2HNSW4RowsAVX2}, {rows: float32IPHNSW4RowsAVX2}}, [2]forms{
			{rows: float32L2HNSW4RowsAVX512, block: float32L2HNSW4BlockAVX512},
			{rows: float32IPHNSW4RowsAVX512, block: float32IPHNSW4BlockAVX512},
		})
	default: // orderFaiss
		return pick(b, m, [2]forms{{rows: float32L2FaissRowsAVX2}, {rows: float32IPFaissRowsAVX2}}, [2]forms{
			{rows: float32L2FaissRowsAVX512, block: float32L2FaissBlockAVX512},
			{rows: float32IPFaissRowsAVX512, block: float32IPFaissBlockAVX512},
		})
	}
}

// sieveNative returns the Sieve kernels of this CPU, the fastest last.
func sieveNative() []sieveForms {
	var all []sieveForms
	for _, b := range native() {
		switch {
		case b == AVX2:
			all = append(all, sieveForms{fine: sieveAVX2, wide: true})
		case cpu.X86.HasAVX512VNNI:
			all = append(all, sieveForms{fine: sieve1x2AVX512, blockFine: sieve2x2AVX512, blockCoarse: sieve4x1AVX512})
		}
	}
	return all
}

// codesNative returns the Codes kernels of this CPU, the fastest last.
func codesNative() []codesForm {
	var all []codesForm
	for _, b := range native() {
		switch {
		case b == AVX2:
			all = append(all, codesForm{codesAVX2, true})
		case cpu.X86.HasAVX512VNNI:
			all = append(all, codesForm{codesAVX512, false})
		}
	}
	return all
}

// sq8Native returns the generated kernel of a back end, or nil if it has none.
func sq8Native(b Backend, m Metric) scanFunc {
	switch {
	case b == AVX512 && m == L2:
		return sq8L2ScanAVX512
	case b == AVX512:
		return sq8IPScanAVX512
	case b == AVX2 && m == L2:
		return sq8L2ScanAVX2
	case b == AVX2:
		return sq8IPScanAVX2
	}
	return nil
}

// rankNative returns the RankedList kernels of this CPU, the fastest last.
func rankNative() []rankFunc {
	if !slices.Contains(native(), AVX512) {
		return nil
	}
	return []rankFunc{rankAVX512}
}

//go:noescape
func rankAVX512(d *float32, list *uint32, n int, room int, x *float32, ids *uint32, count int) (ret int64)

// visit implements Visit for slots and a VisitedSet that are not empty.
func visit(slots []uint32, seen *VisitedSet, base unsafe.Pointer, stride uintptr, lines int, fresh []uint32) int {
	return visitAMD64(&slots[0], len(slots), &seen.words[0], int(seen.rows), base, stride, lines, &fresh[0])
}

//go:noescape
func visitAMD64(
	slots *uint32, count int, words *uint32, rows int, base unsafe.Pointer, stride uintptr, lines int, fresh *uint32,
) (ret int)

func peek(slots []uint32, seen *VisitedSet, base unsafe.Pointer, stride uintptr, lines int, fresh []uint32) int {
	return peekAMD64(&slots[0], len(slots), &seen.words[0], int(seen.rows), base, stride, lines, &fresh[0])
}

//go:noescape
func peekAMD64(
	slots *uint32, count int, words *uint32, rows int, base unsafe.Pointer, stride uintptr, lines int, fresh *uint32,
) (ret int)

func prefetch(p unsafe.Pointer, lines int) { prefetchAMD64(p, lines) }

//go:noescape
func prefetchAMD64(p unsafe.Pointer, lines int)

func fetchRows(base unsafe.Pointer, stride uintptr, ids []uint32, lines int) {
	prefetchRowsAMD64(base, stride, &ids[0], len(ids), lines)
}

//go:noescape
func prefetchRowsAMD64(base unsafe.Pointer, stride uintptr, ids *uint32, count int, lines int)

// Translates reports whether this CPU has a kernel for Translate, which needs VBMI of AVX-512.
func Translates() bool { return cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512BW }

func translate(table *[256]byte, src, dst *byte, n int) {
	translateVBMI(&table[0], src, dst, n)
}

//go:noescape
func translateVBMI(table *byte, src *byte, dst *byte, n int)
