//go:build !purego

package dist

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// rabitqNative are the kernels of RaBitQ of a back end; nil where there are none.
func rabitqNative(b Backend) rabitqKernels {
	if b != AVX512 {
		return rabitqKernels{}
	}
	k := rabitqKernels{left: rabitqLeft, quantise: rabitqQuantise, lanes: rabitqLanes, turns: rabitqTurns}
	if cpu.X86.HasAVX512VPOPCNTDQ {
		k.scan = rabitqScan
	}
	return k
}

func rabitqLeft(q *RaBitQQuery, centroid []byte, ends *[2]float32) {
	at := (*float32)(unsafe.Pointer(unsafe.SliceData(centroid)))
	rabitqLeftAVX512((*float32)(q.at()), at, &q.left[0], keep(&ends[0]), q.kernel.dim)
}

func rabitqQuantise(q *RaBitQQuery, low, scale float32, most int) uint64 {
	numbers := [4]float32{low, scale, low * scale, float32(most)}
	quantise := rabitqRoundUpAVX512
	if q.kernel.counted {
		quantise = rabitqRoundAwayAVX512
	}
	sum := quantise(&q.left[0], &q.values[0], keep(&numbers[0]), q.kernel.dim)
	rabitqPlanesAVX512(&q.values[0], &q.planes[0], len(q.values)/(8*rabitqChunk), q.slots)
	return uint64(sum)
}

func rabitqScan(q *RaBitQQuery, x unsafe.Pointer, stride uintptr, out []float32) {
	scan := rabitqScan4AVX512
	switch {
	case q.kernel.counted && q.slots == 4:
		scan = rabitqCounted4AVX512
	case q.kernel.counted:
		scan = rabitqCounted8AVX512
	case q.slots != 4:
		scan = rabitqScan8AVX512
	}
	scan(&q.planes[0], x, stride, &q.factors[0], q.kernel.Signs(), &out[0], len(out))
}

func rabitqLanes(q *RaBitQQuery, x unsafe.Pointer, stride uintptr, out []float32) {
	rabitqLanesAVX512(&q.left[0], x, stride, &out[0], len(out), (q.kernel.dim+15)/16)
}

func rabitqTurns(q *RaBitQQuery, x unsafe.Pointer, stride uintptr, out []float32) {
	rabitqTurnsAVX512(&q.left[0], x, stride, &out[0], len(out), (q.kernel.dim+31)/32)
}
