package dist

import (
	"fmt"
	"unsafe"
)

// PQValues is how many values a part of a product quantiser tells apart: 8 bits.
const PQValues = 256

// PQ computes distances between a query and vectors in parts, for each of which a code says which of PQValues centroids it is near to:
// a table of the distances of the query's parts to all centroids, and sums of its entries. Bits are those of faiss's tables and sums
// on a CPU with AVX-512, or knowhere's (As). It is immutable.
type PQ struct {
	parts, width int       // how many parts there are, and their dimension
	centroids    []byte    // float32, PQValues rows of width for each part
	across       []float32 // the centroids as pqTableFunc takes them; nil where it is not used
	l2, ip       *Kernel
	knowhere     bool
	last         bool // knowhere's from 2.5 on: what is added to a sum is added at last
	forms        pqForms
}

// pqForms are the kernels of a back end; nil for the specification.
type pqForms struct {
	sum   pqSumFunc
	less  pqLessFunc
	table pqTableFunc
}

type (
	// pqSumFunc is the kernel of Sum, of codes of so many parts; out is not empty.
	pqSumFunc func(add float32, table []float32, x unsafe.Pointer, stride uintptr, out []float32, parts int)
	// pqLessFunc is the kernel of Less.
	pqLessFunc func(own, query, out []float32)
	// pqTableFunc is the kernel of Table for parts whose elements are added up one after the other. x has, of each part, the first
	// elements of all centroids, then the second ones.
	pqTableFunc func(m Metric, q, x, table []float32, parts int)
)

// NewPQ returns the kernels for parts of one width, on the best back end of this CPU; centroids are copied.
func NewPQ(parts, width int, centroids []float32) (*PQ, error) {
	backends := Backends()
	return newPQ(backends[len(backends)-1], parts, width, centroids)
}

func newPQ(b Backend, parts, width int, centroids []float32) (*PQ, error) {
	if parts <= 0 || width <= 0 || len(centroids)/PQValues/width != parts || len(centroids)%(PQValues*width) != 0 {
		return nil, fmt.Errorf("%d values of centroids for %d parts of %d dimensions", len(centroids), parts, width)
	}
	k := &PQ{parts: parts, width: width, centroids: Aligned(4 * len(centroids))}
	copy(k.Centroids(), centroids)
	if k.forms = pqNative(b); k.forms.table != nil && width <= inTurnWidth {
		k.across = k.transposed()
	}
	if err := k.kernels(Faiss); err != nil {
		return nil, err
	}
	return k, nil
}

// inTurnWidth is up to which width faiss adds up the elements of a part one after the other.
const inTurnWidth = 8

// transposed are the centroids with the first elements of those of a part together, then the second ones.
func (k *PQ) transposed() []float32 {
	all := make([]float32, len(k.centroids)/4)
	for p := range k.parts {
		own := all[p*PQValues*k.width:][:PQValues*k.width]
		for c := range PQValues {
			for j, x := range k.Centroid(p, byte(c)) {
				own[j*PQValues+c] = x
			}
		}
	}
	return all
}

// kernels takes those of a profile.
func (k *PQ) kernels(p Profile) (err error) {
	dim := k.width
	if dim == 8 && p == Faiss {
		dim = 7 // see Table
	}
	if p == Knowhere25 {
		return k.kernels25()
	}
	if k.l2, err = New(L2, Float32, p, dim); err != nil {
		return err
	}
	k.ip, err = New(InnerProduct, Float32, p, dim)
	return err
}

// kernels25 takes those of PartKernels.
func (k *PQ) kernels25() (err error) {
	k.l2, k.ip, err = PartKernels(Knowhere25, k.width)
	return err
}

// PartKernels are those by which knowhere makes tables of parts of so many dimensions, L2 and inner products: up to 2.3 by the functions for SSE,
// whatever the CPU has; 2.5 (Knowhere25) by fvec_L2sqr_ny_avx, whatever the CPU has beside AVX2, and fvec_inner_products_ny_sse
// (src/simd/hook.cc, v2.5.6), as they are compiled in PyPI's milvus-lite 2.5.1.
func PartKernels(p Profile, width int) (l2, ip *Kernel, err error) {
	if ip, err = New(InnerProduct, Float32, KnowhereSSE, width); err != nil {
		return nil, nil, err
	}
	if p != Knowhere25 || width == 2 || width == 4 {
		l2, err = New(L2, Float32, KnowhereSSE, width)
		return l2, ip, err
	}
	return newOrderKernel(ip.Backend, L2, orderFaiss8, width), ip, nil
}

// As returns the same in the order of a profile: knowhere's three are one, tables by its SSE functions whatever the CPU has (fvec_hook,
// src/simd/hook.cc, v2.2.3) and sums one after the other, the added number first; those of knowhere 2.5 are by its AVX2 functions under L2; all
// others are faiss's.
func (k *PQ) As(p Profile) (*PQ, error) {
	switch p {
	case KnowhereAVX512, KnowhereAVX2, KnowhereSSE:
		p = KnowhereSSE
	case Knowhere25:
	default:
		return k, nil
	}
	c := *k
	c.knowhere, c.last = true, p == Knowhere25
	return &c, c.kernels(p)
}

// Centroids are the values of those of all parts, in a row.
func (k *PQ) Centroids() []float32 {
	return float32s(unsafe.Pointer(unsafe.SliceData(k.centroids)), len(k.centroids)/4)
}

// Parts is how many parts a vector has.
func (k *PQ) Parts() int { return k.parts }

// Centroid is that of a part that has the code c.
func (k *PQ) Centroid(part int, c byte) []float32 {
	at := (part*PQValues + int(c)) * k.width
	return k.Centroids()[at : at+k.width : at+k.width]
}

// Table writes to table the distances of x, PQValues for each part, under L2 or the inner product.
// By faiss 1.15, faiss/utils/simd_impl, fvec_L2sqr_ny and fvec_inner_products_ny, whose library of PyPI was compared: parts of 8
// and of 12 dimensions have orders of their own, the others that of whole vectors.
func (k *PQ) Table(m Metric, x, table []float32) {
	kernel, s := k.ip, summation{l2: m == L2}
	if m == L2 {
		kernel = k.l2
	}
	if k.across != nil && !k.knowhere {
		k.forms.table(m, x[:k.parts*k.width], k.across, table[:k.parts*PQValues], k.parts)
		return
	}
	q := Aligned(4 * k.width)
	part := float32s(unsafe.Pointer(unsafe.SliceData(q)), k.width)
	for p := range k.parts {
		copy(part, x[p*k.width:])
		first := p * PQValues
		out := table[first : first+PQValues]
		switch {
		case k.width == 8 && !k.knowhere: // one after the other, which is the kernel's order of seven
			kernel.Scan(unsafe.Pointer(unsafe.SliceData(q)), unsafe.Pointer(&k.centroids[4*first*k.width]), uintptr(4*k.width), out)
			for c, sum := range out {
				out[c] = s.add(true, sum, part[7], k.Centroid(p, byte(c))[7])
			}
		case k.width == 12 && !k.knowhere:
			for c := range out {
				out[c] = s.twelve(part, k.Centroid(p, byte(c)))
			}
		default:
			kernel.Scan(unsafe.Pointer(unsafe.SliceData(q)), unsafe.Pointer(&k.centroids[4*first*k.width]), uintptr(4*k.width), out)
		}
	}
}

// twelve has four lanes, of which the second four are multiplied first.
func (s summation) twelve(q, x []float32) float32 {
	var acc [4]float32
	for i := range acc {
		acc[i] = s.add(false, 0, q[4+i], x[4+i])
		acc[i] = s.add(true, acc[i], q[i], x[i])
		acc[i] = s.add(true, acc[i], q[8+i], x[8+i])
	}
	fold(acc[:])
	return acc[0] + acc[1]
}

// Norms writes to table the squares of the lengths of all centroids.
func (k *PQ) Norms(table []float32) {
	for i := range table {
		if k.last {
			table[i] = KnowhereNorm2(k.Centroids()[i*k.width : (i+1)*k.width])
			continue
		}
		if k.knowhere { // its squares of lengths have the order of its products
			at := unsafe.Pointer(&k.centroids[4*i*k.width])
			table[i] = k.ip.One(at, at)
			continue
		}
		table[i] = float32Norm2(Faiss, k.Centroids()[i*k.width:(i+1)*k.width])
	}
}

// Sum writes to out[i] the sum of add and the entries of table that the i-th code at x names, stride bytes apart. By faiss 1.15,
// faiss/impl/pq_code_distance/pq_code_distance-avx512.h: 16 lanes for as many times 16 parts as there are, then one after the other.
func (k *PQ) Sum(add float32, table []float32, x unsafe.Pointer, stride uintptr, out []float32) {
	table = table[:k.parts*PQValues]
	switch {
	case k.knowhere:
		k.SumInTurn(add, table, x, stride, out)
		return
	case k.forms.sum != nil && len(out) > 0:
		k.forms.sum(add, table, x, stride, out, k.parts)
		return
	}
	for i := range out {
		code := unsafe.Slice((*byte)(unsafe.Add(x, uintptr(i)*stride)), k.parts)
		sum, rest := float32(0), table
		if len(code) >= 16 {
			var acc [16]float32
			for ; len(code) >= 16; code, rest = code[16:], rest[16*PQValues:] {
				sixteen(&acc, (*[16]byte)(code), (*[16 * PQValues]float32)(rest))
			}
			fold(acc[:])
			fold(acc[:8])
			fold(acc[:4])
			sum += acc[0] + acc[1]
		}
		for j, c := range code {
			sum += rest[j*PQValues+int(c)]
		}
		out[i] = add + sum
	}
}

// Less writes to out what is left of a list's table when twice the query's is taken off, which is rounded once. All are tables.
func (k *PQ) Less(own, query, out []float32) {
	n := k.parts * PQValues
	own, query, out = own[:n], query[:n], out[:n]
	if k.forms.less != nil {
		k.forms.less(own, query, out)
		return
	}
	for i, v := range query {
		out[i] = own[i] - 2*v
	}
}

// sixteen adds the entries of 16 parts to their lanes.
func sixteen(acc *[16]float32, code *[16]byte, table *[16 * PQValues]float32) {
	acc[0] += table[0*PQValues+int(code[0])]
	acc[1] += table[1*PQValues+int(code[1])]
	acc[2] += table[2*PQValues+int(code[2])]
	acc[3] += table[3*PQValues+int(code[3])]
	acc[4] += table[4*PQValues+int(code[4])]
	acc[5] += table[5*PQValues+int(code[5])]
	acc[6] += table[6*PQValues+int(code[6])]
	acc[7] += table[7*PQValues+int(code[7])]
	acc[8] += table[8*PQValues+int(code[8])]
	acc[9] += table[9*PQValues+int(code[9])]
	acc[10] += table[10*PQValues+int(code[10])]
	acc[11] += table[11*PQValues+int(code[11])]
	acc[12] += table[12*PQValues+int(code[12])]
	acc[13] += table[13*PQValues+int(code[13])]
	acc[14] += table[14*PQValues+int(code[14])]
	acc[15] += table[15*PQValues+int(code[15])]
}

// Gather writes to out[i] the sum for the code ids[i] of those at x, as Sum does without anything added.
func (k *PQ) Gather(table []float32, x unsafe.Pointer, stride uintptr, ids []uint32, out []float32) {
	for i, id := range ids {
		k.Sum(0, table, unsafe.Add(x, uintptr(id)*stride), stride, out[i:i+1])
	}
}

// SumInTurn is Sum for codes that were less than a byte, which faiss adds up one after the other, too.
func (k *PQ) SumInTurn(add float32, table []float32, x unsafe.Pointer, stride uintptr, out []float32) {
	if k.knowhere && !k.last {
		k.inTurn(add, table, x, stride, out)
		return
	}
	k.inTurn(0, table, x, stride, out)
	for i, sum := range out {
		out[i] = add + sum
	}
}

// inTurn adds up one after the other, of four rows at a time: a sum waits for the one before. By scan_list_with_table,
// faiss/IndexIVFPQ.cpp of knowhere v2.2.3.
func (k *PQ) inTurn(add float32, table []float32, x unsafe.Pointer, stride uintptr, out []float32) {
	row := func(i int) []byte { return unsafe.Slice((*byte)(unsafe.Add(x, uintptr(i)*stride)), k.parts) }
	last := len(out) - 1
	for i := 0; i <= last; i += 4 {
		a, b, c, d := row(i), row(min(i+1, last)), row(min(i+2, last)), row(min(i+3, last))
		sums := [4]float32{add, add, add, add}
		for j := range a {
			own := (*[PQValues]float32)(table[j*PQValues:])
			sums[0] += own[a[j]]
			sums[1] += own[b[j]]
			sums[2] += own[c[j]]
			sums[3] += own[d[j]]
		}
		copy(out[i:], sums[:])
	}
}
