// Package dist computes distances between a query and vectors that lie in memory, to the bit
// as the library does whose answers are to be reproduced.
//
// In: a prepared query and rows of elements at an address and a stride. Out: raw sums as
// float32: squared L2, the inner product, the share of a Hamming or Jaccard distance. What a
// library makes of a raw sum (1-ip, -ip, a division by a norm) is its search policy's affair.
//
// The order in which a float32 sum is accumulated is named by a Profile. Every profile has a
// specification in plain Go (generic.go), which no back end may differ from by one bit, and a
// generated kernel for each back end: AVX-512, AVX2 with FMA, NEON. The back end is chosen
// once, by what the CPU has; `-tags purego` leaves the specification alone.
package dist

import (
	"fmt"
	"unsafe"
)

// Metric is what is computed.
type Metric uint8

// The metrics. Cosine kernels return inner products: norms are stored beside the vectors.
const (
	L2 Metric = iota // squared Euclidean distance
	InnerProduct
	Cosine
	Hamming
	Jaccard
	BM25 // of sparse vectors; no kernel has it
)

// Similarity reports whether greater is nearer.
func (m Metric) Similarity() bool { return m == InnerProduct || m == Cosine || m == BM25 }

// Element is the type of one dimension of a vector.
type Element uint8

// The elements, in little-endian order in memory. Bits are packed eight to a byte; the
// dimension of a bit vector counts bits.
const (
	Float32 Element = iota
	Float16
	BFloat16
	Int8
	Bit
	Sparse // (index, value) pairs, as many as there are in a row; no kernel has it
)

// Bytes is the size of a vector of dim elements; of sparse ones that of the greatest, which rows are not.
func (e Element) Bytes(dim int) int {
	switch e {
	case Float32:
		return 4 * dim
	case Float16, BFloat16:
		return 2 * dim
	case Bit:
		return (dim + 7) / 8
	case Sparse:
		return 8 * dim
	default:
		return dim
	}
}

// Profile is an order of float32 accumulation: whose bits are reproduced. Where each was seen
// is at orderOf, of the other elements at halfOrderOf.
type Profile uint8

// The profiles. Those of knowhere are by the CPU that the node had, which no file tells, and
// are those of Milvus 2.3 and earlier: from Milvus 2.4 on a node with AVX-512 adds as Faiss.
const (
	KnowhereAVX512 Profile = iota
	KnowhereAVX2
	KnowhereSSE
	HNSWLib            // hnswlib built with GCC, -march=native on an AMD CPU with AVX-512
	Faiss              // faiss 1.15 of PyPI on a machine with AVX-512
	HNSWLibIntelAVX512 // the same on an Intel CPU with AVX-512
	HNSWLibIntelAVX2   // on an Intel CPU with AVX2
	HNSWLibAMDAVX2     // on an AMD CPU with AVX2, Zen 2 and Zen 3
	HNSWLibSSE         // hnswlib built with HNSWLIB_NO_NATIVE
	Knowhere25         // knowhere 2.5 on a machine with AVX-512: as Faiss, but for norms, tables of codes and what is left of eight dimensions
)

// Kernel computes one metric over vectors of one dimension. It is immutable and may be used
// by any number of goroutines. All its methods read dim elements of each row, never a byte
// beyond, at any alignment; 64-byte aligned rows are fastest.
type Kernel struct {
	Metric  Metric
	Element Element
	Profile Profile
	Dim     int
	Backend Backend

	// n is what the functions below count in: elements, or bytes of bits.
	n      int
	gather gatherFunc
	ahead  gatherFunc // may be nil: then gather; else there are four ids behind those that count
	scan   scanFunc   // may be nil: then gather without ids
	block  blockFunc
}

// A query is at q as Kernel.Query left it.
type (
	// gatherFunc writes to out[i] the distance of q to the row at base+ids[i]*stride. Where
	// forms have no scanFunc, ids may be nil for all rows from base on.
	gatherFunc func(q, base unsafe.Pointer, stride uintptr, ids *uint32, out *float32, count, n int)
	// scanFunc writes to out[i] the distance of q to the row at x+i*stride.
	scanFunc func(q, x unsafe.Pointer, stride uintptr, out *float32, rows, n int)
	// blockFunc writes to out[j*outStride+i] the distance of the query at q+j*qStride, j in 0..3,
	// to the row at x+i*stride.
	blockFunc func(q unsafe.Pointer, qStride uintptr, x unsafe.Pointer, stride uintptr, out *float32, outStride, rows, n int)
)

// Query returns a copy of a query that is stored as row, in the form in which kernels take it:
// float16 and bfloat16 become float32 (exactly), the others stay as they are. It is 64-byte
// aligned. The error says that row has not the bytes of one.
func (k *Kernel) Query(row []byte) ([]byte, error) {
	if want := k.Element.Bytes(k.Dim); len(row) != want {
		return nil, fmt.Errorf("a query of %d bytes for vectors of %d", len(row), want)
	}
	return k.widen(row), nil
}

// One is the distance of q to the row at x.
func (k *Kernel) One(q, x unsafe.Pointer) float32 {
	var d float32
	if k.scan == nil {
		k.gather(q, x, 0, nil, keep(&d), 1, k.n)
	} else {
		k.scan(q, x, 0, keep(&d), 1, k.n)
	}
	return d
}

// Gather writes to out[i] the distance of q to the row ids[i] of those that start at base,
// stride bytes apart. While it computes four rows it prefetches the next four.
func (k *Kernel) Gather(q, base unsafe.Pointer, stride uintptr, ids []uint32, out []float32) {
	if len(ids) == 0 {
		return
	}
	_ = out[len(ids)-1]
	k.gather(q, base, stride, keep(&ids[0]), keep(&out[0]), len(ids), k.n)
}

// Scan writes to out[i] the distance of q to the i-th row at x.
func (k *Kernel) Scan(q, x unsafe.Pointer, stride uintptr, out []float32) {
	switch {
	case len(out) == 0:
	case k.scan == nil:
		k.gather(q, x, stride, nil, keep(&out[0]), len(out), k.n)
	default:
		k.scan(q, x, stride, keep(&out[0]), len(out), k.n)
	}
}

// Block writes to out[j*rows+i] the distance of the j-th of four queries at q, qStride bytes
// apart, to the i-th row at x, of as many as rows: the same bits as Scan with each query.
func (k *Kernel) Block(q unsafe.Pointer, qStride uintptr, x unsafe.Pointer, stride uintptr, out []float32, rows int) {
	if rows == 0 {
		return
	}
	_ = out[4*rows-1]
	k.block(q, qStride, x, stride, keep(&out[0]), rows, rows, k.n)
}

// keep hides from the compiler that p goes to a function that it does not know, so that what
// p points to may stay on the stack: no kernel keeps a pointer.
func keep[T any](p *T) *T {
	address := uintptr(unsafe.Pointer(p))
	return *(**T)(unsafe.Pointer(&address))
}
