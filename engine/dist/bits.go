package dist

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// hamming and jaccard are the specification of the kernels for bits; n is in bytes. They count with the
// instruction of the CPU (POPCNT, CNT), because AVX2 and NEON have nothing better. Hamming is the number of
// bits that differ. Jaccard is the number of bits that differ divided by the number of bits set in either
// vector, and 1 if no bit is set (xor_popcnt and bvec_jaccard in
// thirdparty/faiss/faiss/utils/binary_distances.cpp of knowhere v2.5.5).
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
