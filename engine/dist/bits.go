package dist

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// bitKernels are the kernels of a metric of bits on a back end: its own, or the specification
// where it has none. The specification counts with the CPU's instruction where Go knows of it
// (POPCNT, CNT): AVX2 has nothing better than that.
func bitKernels(b Backend, m Metric) forms {
	if f, ok := bitNative(b, m); ok {
		return f
	}
	return bitGeneric(m)
}

// bitGeneric is the specification of the kernels of bits; n counts bytes. Hamming is the
// number of bits that differ; Jaccard is the share of those that differ in those that are set
// in either, and 1 when none is (xor_popcnt and bvec_jaccard in
// thirdparty/faiss/faiss/utils/binary_distances.cpp of knowhere v2.5.5).
func bitGeneric(m Metric) forms {
	if m == Jaccard {
		return pairForms(jaccard)
	}
	return pairForms(hamming)
}

func hamming(q, x unsafe.Pointer, n int) float32 {
	a, b := unsafe.Slice((*byte)(q), n), unsafe.Slice((*byte)(x), n)
	count := 0
	for len(a) >= 8 && len(b) >= 8 {
		count += bits.OnesCount64(binary.LittleEndian.Uint64(a) ^ binary.LittleEndian.Uint64(b))
		a, b = a[8:], b[8:]
	}
	for i := range a {
		count += bits.OnesCount8(a[i] ^ b[i])
	}
	return float32(count)
}

func jaccard(q, x unsafe.Pointer, n int) float32 {
	a, b := unsafe.Slice((*byte)(q), n), unsafe.Slice((*byte)(x), n)
	both, either := 0, 0
	for len(a) >= 8 && len(b) >= 8 {
		u, v := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		both += bits.OnesCount64(u & v)
		either += bits.OnesCount64(u | v)
		a, b = a[8:], b[8:]
	}
	for i := range a {
		both += bits.OnesCount8(a[i] & b[i])
		either += bits.OnesCount8(a[i] | b[i])
	}
	if either == 0 {
		return 1
	}
	return float32(either-both) / float32(either)
}
