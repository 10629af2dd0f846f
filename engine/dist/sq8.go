package dist

import (
	"fmt"
	"unsafe"
)

// SQ8 computes distances between a query and vectors in 8 bits a dimension, each with a range of its own: code c of dimension i
// stands for low[i] + span[i] * (c+0.5)/255. Sums are to the bit those of faiss's scalar quantiser (QT_8bit). It is immutable.
type SQ8 struct {
	l2        bool
	order     sq8Order
	low, span []float32
	unit      [256]float32 // what a code stands for in a range from 0 to 1
	one, half float32      // by what a code is multiplied, and what is added to it
	scan      scanFunc
}

// sq8Order is how a term and the sum of terms are rounded.
type sq8Order struct {
	lanes int // 16, 8, or 1: one after the other, a product and a sum rounded twice unless fused
	// knowhere: the code is added to a half and then multiplied; and the last eight lanes are added up in pairs of neighbours.
	knowhere bool
	// fused: one after the other, a product and a sum rounded once.
	fused bool
}

// sq8OrderOf is the order of a profile at a dimension. By faiss 1.15, faiss/impl/scalar_quantizer/sq-avx512-impl.h, sq-avx2.cpp and
// codecs.h, whose library of PyPI was compared at each of its levels; for knowhere by v2.2.3,
// thirdparty/faiss/faiss/impl/ScalarQuantizerCodec_avx512.h and _avx.h, compiled alone and compared (testdata/sq8_knowhere.cc), and one after
// the other by the answers of a Milvus 2.3.5 at 20 dimensions: its functions for AVX-512 and AVX2 are compiled with FMA.
func sq8OrderOf(p Profile, dim int) sq8Order {
	o := sq8Order{lanes: 16, knowhere: p == KnowhereAVX512 || p == KnowhereAVX2 || p == KnowhereSSE}
	if p == KnowhereAVX2 || dim%16 != 0 {
		o.lanes = 8
	}
	if p == KnowhereSSE || dim%8 != 0 {
		o.lanes = 1
	}
	if o.lanes == 1 {
		o.fused = p == KnowhereAVX512 || p == KnowhereAVX2 || p == Knowhere25
		o.knowhere = false // the same plain loop
	}
	return o
}

// NewSQ8 returns the kernel for vectors whose ranges begin at low and are span wide, on the best back end of this CPU.
func NewSQ8(m Metric, p Profile, low, span []float32) (*SQ8, error) {
	backends := Backends()
	return NewSQ8On(backends[len(backends)-1], m, p, low, span)
}

// NewSQ8On is NewSQ8 on a named back end; an error if this CPU or this build has it not.
func NewSQ8On(b Backend, m Metric, p Profile, low, span []float32) (*SQ8, error) {
	switch {
	case m != L2 && m != InnerProduct:
		return nil, fmt.Errorf("no metric %s for vectors of 8 bits a dimension", m)
	case len(low) == 0 || len(low) != len(span):
		return nil, fmt.Errorf("%d ranges of %d widths", len(low), len(span))
	case !b.usable():
		return nil, fmt.Errorf("this CPU or this build has no kernels for %s", b)
	}
	k := &SQ8{l2: m == L2, order: sq8OrderOf(p, len(low)), low: low, span: span}
	k.levels(255)
	k.scan = sq8Native(b, m, k.order)
	return k, nil
}

// NewSQ returns the same for codes in bytes of which only the lower bits are taken, 4 or 6: c stands for (c+0.5)/15 or /63 in its range.
func NewSQ(bits int, m Metric, p Profile, low, span []float32) (*SQ8, error) {
	k, err := NewSQ8(m, p, low, span)
	if err == nil {
		k.levels(float32(int(1)<<bits - 1))
		if k.order.lanes == 8 && bits == 4 { // its functions for 8 lanes add the half first
			for c := range k.unit {
				k.unit[c] = (float32(c) + 0.5) * k.one
			}
			k.scan = nil
		}
	}
	return k, err
}

// levels sets what codes stand for, the greatest of which is n: (c+0.5)/n as the order rounds it.
func (k *SQ8) levels(n float32) {
	k.one, k.half = 1/n, 0.5/n
	for c := range k.unit {
		switch x := float32(c); {
		case k.order.lanes == 1:
			k.unit[c] = (x + 0.5) / n
		case k.order.knowhere:
			k.unit[c] = (x + 0.5) * k.one
		default:
			k.unit[c] = fusedAdd(x, k.one, k.half)
		}
	}
}

// Dim is the dimension.
func (k *SQ8) Dim() int { return len(k.low) }

// SQ8Query is a query as the kernel takes it, for one goroutine.
type SQ8Query struct {
	kernel *SQ8
	packed []byte // the query, the widths and the beginnings of the ranges, what a code is multiplied by, what is added to it
}

// NewQuery returns a query, to be filled through Floats.
func (k *SQ8) NewQuery() *SQ8Query {
	n := len(k.low)
	q := &SQ8Query{kernel: k, packed: Aligned(4 * (3*n + 2))}
	all := q.all()
	copy(all[n:], k.span)
	copy(all[2*n:], k.low)
	all[3*n], all[3*n+1] = k.one, k.half
	if k.order.knowhere {
		all[3*n+1] = 0.5
	}
	return q
}

func (q *SQ8Query) all() []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(q.packed))), 3*len(q.kernel.low)+2)
}

// Floats is where the query is kept.
func (q *SQ8Query) Floats() []float32 {
	n := len(q.kernel.low)
	return q.all()[:n:n]
}

// Gather writes to out[i] the distance of the query to the code ids[i] of those at x, stride bytes apart.
func (q *SQ8Query) Gather(x unsafe.Pointer, stride uintptr, ids []uint32, out []float32) {
	for i, id := range ids {
		q.Scan(unsafe.Add(x, uintptr(id)*stride), stride, out[i:i+1])
	}
}

// Scan writes to out[i] the distance of the query to the i-th code at x, stride bytes apart.
func (q *SQ8Query) Scan(x unsafe.Pointer, stride uintptr, out []float32) {
	switch k := q.kernel; {
	case len(out) == 0:
	case k.scan != nil:
		k.scan(unsafe.Pointer(unsafe.SliceData(q.packed)), x, stride, keep(&out[0]), len(out), len(k.low))
	case k.order.lanes == 1 && k.order.fused:
		for i := range out {
			out[i] = k.fusedInTurn(q.Floats(), unsafe.Slice((*byte)(unsafe.Add(x, uintptr(i)*stride)), len(k.low)))
		}
	case k.order.lanes == 1:
		k.inTurn(q.Floats(), x, stride, out)
	default:
		for i := range out {
			out[i] = k.sum(q.Floats(), unsafe.Slice((*byte)(unsafe.Add(x, uintptr(i)*stride)), len(k.low)))
		}
	}
}

// sum is the specification of the orders with lanes.
func (k *SQ8) sum(q []float32, code []byte) float32 {
	var all [16]float32
	acc := all[:k.order.lanes]
	s := summation{l2: k.l2}
	for i, c := range code {
		lane := i % len(acc)
		acc[lane] = s.add(true, acc[lane], q[i], fusedAdd(k.unit[c], k.span[i], k.low[i]))
	}
	if !k.order.knowhere {
		for ; len(acc) > 1; acc = acc[:len(acc)/2] {
			fold(acc)
		}
		return acc[0]
	}
	if len(acc) == 16 {
		fold(acc)
	}
	half := func(a []float32) float32 { return (a[0] + a[1]) + (a[2] + a[3]) }
	return half(acc[:4]) + half(acc[4:8])
}

// inTurn is the order without lanes, over four rows at a time: a sum waits for the one before.
func (k *SQ8) inTurn(q []float32, x unsafe.Pointer, stride uintptr, out []float32) {
	n := len(q)
	row := func(i int) []byte { return unsafe.Slice((*byte)(unsafe.Add(x, uintptr(i)*stride)), n) }
	four := k.fourIP
	if k.l2 {
		four = k.fourL2
	}
	last := len(out) - 1
	for i := 0; i <= last; i += 4 {
		s := four(q, row(i), row(min(i+1, last)), row(min(i+2, last)), row(min(i+3, last)))
		copy(out[i:], s[:])
	}
}

func (k *SQ8) fourL2(q []float32, a, b, c, d []byte) [4]float32 {
	unit, low, span := &k.unit, k.low[:len(q)], k.span[:len(q)]
	a, b, c, d = a[:len(q)], b[:len(q)], c[:len(q)], d[:len(q)]
	var sa, sb, sc, sd float32
	for j, v := range q {
		w, l := span[j], low[j]
		xa, xb := v-(l+float32(unit[a[j]]*w)), v-(l+float32(unit[b[j]]*w))
		xc, xd := v-(l+float32(unit[c[j]]*w)), v-(l+float32(unit[d[j]]*w))
		sa += float32(xa * xa)
		sb += float32(xb * xb)
		sc += float32(xc * xc)
		sd += float32(xd * xd)
	}
	return [4]float32{sa, sb, sc, sd}
}

func (k *SQ8) fourIP(q []float32, a, b, c, d []byte) [4]float32 {
	unit, low, span := &k.unit, k.low[:len(q)], k.span[:len(q)]
	a, b, c, d = a[:len(q)], b[:len(q)], c[:len(q)], d[:len(q)]
	var sa, sb, sc, sd float32
	for j, v := range q {
		w, l := span[j], low[j]
		sa += float32(v * (l + float32(unit[a[j]]*w)))
		sb += float32(v * (l + float32(unit[b[j]]*w)))
		sc += float32(v * (l + float32(unit[c[j]]*w)))
		sd += float32(v * (l + float32(unit[d[j]]*w)))
	}
	return [4]float32{sa, sb, sc, sd}
}

// fusedInTurn is the order without lanes where a product and a sum are rounded once.
func (k *SQ8) fusedInTurn(q []float32, code []byte) float32 {
	var acc float32
	for i, c := range code {
		a := fusedAdd(k.unit[c], k.span[i], k.low[i])
		b := q[i]
		if k.l2 {
			a = b - a
			b = a
		}
		acc = fusedAdd(a, b, acc)
	}
	return acc
}
