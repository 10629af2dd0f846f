// Package dist computes distances between a query and vectors in memory, as float32: squared L2 distances,
// inner products, and Hamming and Jaccard distances. The search of each library turns them into its scores
// (1-ip, -ip, or a division by a norm).
//
// A Profile names the library whose order of float additions a kernel follows. Each order has a specification
// in plain Go (generic.go). Every back end (AVX-512, AVX2 with FMA, NEON) computes the same bits as the
// specification, so results are the same on every machine. The back end is chosen once, from the features of
// the CPU. With -tags purego, only the specification is built.
package dist

import (
	"fmt"
	"unsafe"
)

// Metric is a distance or a similarity between two vectors.
type Metric uint8

// The metrics. Cosine kernels return inner products because norms are stored next to the vectors.
const (
	L2 Metric = iota // squared Euclidean distance
	InnerProduct
	Cosine
	Hamming
	Jaccard
	BM25 // for sparse vectors; has no kernel
)

// Similarity reports whether a greater value means nearer.
func (m Metric) Similarity() bool { return m == InnerProduct || m == Cosine || m == BM25 }

// Element is the type of the values of a vector.
type Element uint8

// The elements, little-endian in memory. Bits are packed eight to a byte, and the dimension of a bit vector is
// its number of bits.
const (
	Float32 Element = iota
	Float16
	BFloat16
	Int8
	Bit
	Sparse // (index, value) pairs, whose number differs by row; has no kernel
)

// Bytes returns the size in bytes of a vector of dim elements. For Sparse it returns the size of the largest
// possible row; rows are smaller.
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

// Profile is the library whose order of float additions a kernel follows. Each library adds in its own order,
// which depends on how it was compiled. The order here is that of its usual build for an x86-64 server with
// AVX-512. Distances of other builds differ by a few units in the last place (ULPs).
type Profile uint8

// The profiles.
const (
	Knowhere Profile = iota // knowhere 2.2, in Milvus 2.3 and earlier; later versions add in faiss's order
	HNSWLib                 // hnswlib 0.8, built by GCC with -march=native
	Faiss                   // faiss 1.15 from PyPI
)

// Kernel computes a metric over vectors with the same dimension. It is immutable and safe for concurrent use. Its
// methods read dim elements of each row and no byte past them, at any alignment; 64-byte aligned rows are fastest.
type Kernel struct {
	Metric  Metric
	Element Element
	Profile Profile
	Dim     int
	Backend Backend

	// n is the length of a row in the unit of the functions below: elements, or bytes for bit vectors.
	n int
	forms
}

// forms holds the functions of a kernel: for one query, and for four queries at once.
type forms struct {
	rows       rowsFunc
	block      blockFunc // if nil, rows is called for each of the four queries
	prefetches bool      // rows prefetches the rows of the ids that follow
}

// q points to a query in the form that Kernel.Query returns.
type (
	// rowsFunc writes to out[i] the distance from q to the row at base+ids[i]*stride, or to the row at
	// base+i*stride if ids is nil. ids holds Lookahead more ids of existing rows after the first count.
	rowsFunc func(q, base unsafe.Pointer, stride uintptr, ids *uint32, out *float32, count, n int)
	// blockFunc writes to out[j*outStride+i] the distance from the query at q+j*qStride, for j from 0 to 3, to
	// the row at x+i*stride.
	blockFunc func(
		q unsafe.Pointer, qStride uintptr, x unsafe.Pointer, stride uintptr, out *float32, outStride, rows, n int,
	)
)

// Query returns a 64-byte aligned copy of the query stored in row, in the form that kernels take. It widens
// float16 and bfloat16 to float32 (exactly) and leaves other elements unchanged. It returns an error if row
// does not have the size of a vector.
func (k *Kernel) Query(row []byte) ([]byte, error) {
	if want := k.Element.Bytes(k.Dim); len(row) != want {
		return nil, fmt.Errorf("a query of %d bytes for vectors of %d", len(row), want)
	}
	return k.widen(row), nil
}

// One returns the distance from q to the row at x.
func (k *Kernel) One(q, x unsafe.Pointer) float32 {
	var d float32
	k.rows(q, x, 0, nil, keep(&d), 1, k.n)
	return d
}

// Lookahead is the number of ids at the end of a list whose distances GatherAhead does not compute.
const Lookahead = 4

// Prefetches reports whether GatherAhead prefetches.
func (k *Kernel) Prefetches() bool { return k.prefetches }

// GatherAhead writes to out[i] the distance from q to the row ids[i], for all ids except the last Lookahead. Rows
// start at base, stride bytes apart. While it computes four rows, it prefetches the rows of the next four ids.
// The last Lookahead ids should be those of rows that are likely to be needed next, and must be those of existing
// rows.
func (k *Kernel) GatherAhead(q, base unsafe.Pointer, stride uintptr, ids []uint32, out []float32) {
	n := len(ids) - Lookahead
	if n <= 0 {
		return
	}
	_ = out[n-1]
	k.rows(q, base, stride, keep(&ids[0]), keep(&out[0]), n, k.n)
}

// Gather is like GatherAhead, but computes the distances of all ids.
func (k *Kernel) Gather(q, base unsafe.Pointer, stride uintptr, ids []uint32, out []float32) {
	if len(ids) == 0 {
		return
	}
	_ = out[len(ids)-1]
	k.rows.gather(q, base, stride, ids, keep(&out[0]), k.n)
}

// gather calls f for all ids, in chunks. After each chunk it puts the ids that follow, or copies of the last
// id.
func (f rowsFunc) gather(q, base unsafe.Pointer, stride uintptr, ids []uint32, out *float32, n int) {
	const some = 32
	var chunk [some + Lookahead]uint32
	for len(ids) > 0 {
		count := min(len(ids), some)
		have := copy(chunk[:], ids[:min(len(ids), count+Lookahead)])
		for i := have; i < count+Lookahead; i++ {
			chunk[i] = chunk[have-1]
		}
		f(q, base, stride, keep(&chunk[0]), out, count, n)
		if ids = ids[count:]; len(ids) > 0 { // a pointer past the end is not allowed
			out = (*float32)(unsafe.Add(unsafe.Pointer(out), 4*count))
		}
	}
}

// Scan writes to out[i] the distance from q to the i-th row at x, stride bytes apart.
func (k *Kernel) Scan(q, x unsafe.Pointer, stride uintptr, out []float32) {
	if len(out) > 0 {
		k.rows(q, x, stride, nil, keep(&out[0]), len(out), k.n)
	}
}

// Block writes to out[j*rows+i] the distance from query j of four to row i. Queries start at q, qStride bytes
// apart, and rows at x, stride bytes apart. The results have the same bits as those of Scan with each query.
func (k *Kernel) Block(q unsafe.Pointer, qStride uintptr, x unsafe.Pointer, stride uintptr, out []float32, rows int) {
	if rows == 0 {
		return
	}
	_ = out[4*rows-1]
	if k.block != nil {
		k.block(q, qStride, x, stride, keep(&out[0]), rows, rows, k.n)
		return
	}
	// Take a few rows at a time, so that each is read from memory only once.
	const few = 16
	for done := 0; done < rows; done += few {
		for j := range 4 {
			k.Scan(unsafe.Add(q, uintptr(j)*qStride), unsafe.Add(x, uintptr(done)*stride), stride,
				out[j*rows+done:][:min(few, rows-done)])
		}
	}
}

// Aligned returns n zero bytes on the heap that start at a multiple of 64.
func Aligned(n int) []byte {
	b := make([]byte, n+63)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & 63)
	return b[skip : skip+n : skip+n]
}

// keep returns p, but hides from the compiler that p is passed to an assembly function. The variable that p
// points to may therefore stay on the stack, which is safe because no kernel keeps a pointer.
func keep[T any](p *T) *T {
	address := uintptr(unsafe.Pointer(p))
	return *(**T)(unsafe.Pointer(&address))
}
