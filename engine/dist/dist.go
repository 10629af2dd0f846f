// Package dist computes distances between a query and vectors in memory: squared L2, inner products, Hamming and Jaccard distances, as
// float32. The search of each library turns these into its scores (1-ip, -ip, a division by a norm).
//
// A Profile names the library in whose order floats are added up. Each order has a specification in plain Go (generic.go), and every
// back end (AVX-512, AVX2 with FMA, NEON) computes the same bits, so that results are the same on every machine. The back end is chosen
// once, by the features of the CPU; `-tags purego` leaves the specification alone.
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

// Profile is whose order of adding up floats a kernel has. Each library adds up in an order of its own, which depends on how it was
// compiled; its order here is that of its usual build for an x86-64 server with AVX-512. Distances of other builds differ by a few
// units in the last place (ULPs).
type Profile uint8

// The profiles.
const (
	Knowhere Profile = iota // knowhere 2.2, of Milvus 2.3 and earlier; later ones add up as faiss does
	HNSWLib                 // hnswlib 0.8, built by GCC with -march=native
	Faiss                   // faiss 1.15 of PyPI
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
	n int
	forms
}

// forms are the two forms of one kernel.
type forms struct {
	rows  rowsFunc
	block blockFunc // may be nil: then four times rows
	ahead bool      // rows prefetches the rows of the ids behind
}

// A query is at q as Kernel.Query left it.
type (
	// rowsFunc writes to out[i] the distance of q to the row at base+ids[i]*stride, or without ids at base+i*stride. Behind ids of rows
	// more stand behind those that count.
	rowsFunc func(q, base unsafe.Pointer, stride uintptr, ids *uint32, out *float32, count, n int)
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
	k.rows(q, x, 0, nil, keep(&d), 1, k.n)
	return d
}

// Behind is how many ids follow, in a GatherAhead, those whose distances are asked for.
const Behind = 4

// Ahead reports whether GatherAhead prefetches.
func (k *Kernel) Ahead() bool { return k.ahead }

// GatherAhead writes to out[i] the distance of q to the row ids[i] of those that start at base, stride bytes apart, for all of ids but
// the last Behind. While it computes four rows it prefetches those of the next four ids: rows that are likely to be asked for next, or
// any that are there.
func (k *Kernel) GatherAhead(q, base unsafe.Pointer, stride uintptr, ids []uint32, out []float32) {
	n := len(ids) - Behind
	if n <= 0 {
		return
	}
	_ = out[n-1]
	k.rows(q, base, stride, keep(&ids[0]), keep(&out[0]), n, k.n)
}

// Gather is GatherAhead of all ids.
func (k *Kernel) Gather(q, base unsafe.Pointer, stride uintptr, ids []uint32, out []float32) {
	if len(ids) == 0 {
		return
	}
	_ = out[len(ids)-1]
	k.rows.gather(q, base, stride, ids, keep(&out[0]), k.n)
}

// gather calls f for all ids, some at a time, with the next ones behind them, or the last again.
func (f rowsFunc) gather(q, base unsafe.Pointer, stride uintptr, ids []uint32, out *float32, n int) {
	const some = 32
	var chunk [some + Behind]uint32
	for len(ids) > 0 {
		count := min(len(ids), some)
		have := copy(chunk[:], ids[:min(len(ids), count+Behind)])
		for i := have; i < count+Behind; i++ {
			chunk[i] = chunk[have-1]
		}
		f(q, base, stride, keep(&chunk[0]), out, count, n)
		if ids = ids[count:]; len(ids) > 0 { // a pointer past the end is not allowed
			out = (*float32)(unsafe.Add(unsafe.Pointer(out), 4*count))
		}
	}
}

// Scan writes to out[i] the distance of q to the i-th row at x.
func (k *Kernel) Scan(q, x unsafe.Pointer, stride uintptr, out []float32) {
	if len(out) > 0 {
		k.rows(q, x, stride, nil, keep(&out[0]), len(out), k.n)
	}
}

// Block writes to out[j*rows+i] the distance of the j-th of four queries at q, qStride bytes
// apart, to the i-th row at x, of as many as rows: the same bits as Scan with each query.
func (k *Kernel) Block(q unsafe.Pointer, qStride uintptr, x unsafe.Pointer, stride uintptr, out []float32, rows int) {
	if rows == 0 {
		return
	}
	_ = out[4*rows-1]
	if k.block != nil {
		k.block(q, qStride, x, stride, keep(&out[0]), rows, rows, k.n)
		return
	}
	// Rows are taken a few at a time, so that they come from memory once.
	const few = 16
	for done := 0; done < rows; done += few {
		for j := range 4 {
			k.Scan(unsafe.Add(q, uintptr(j)*qStride), unsafe.Add(x, uintptr(done)*stride), stride, out[j*rows+done:][:min(few, rows-done)])
		}
	}
}

// Aligned makes n zero bytes of the heap that start at a multiple of 64.
func Aligned(n int) []byte {
	b := make([]byte, n+63)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & 63)
	return b[skip : skip+n : skip+n]
}

// keep hides from the compiler that p goes to a function that it does not know, so that what
// p points to may stay on the stack: no kernel keeps a pointer.
func keep[T any](p *T) *T {
	address := uintptr(unsafe.Pointer(p))
	return *(**T)(unsafe.Pointer(&address))
}
