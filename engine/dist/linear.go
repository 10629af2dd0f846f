package dist

import (
	"fmt"
)

// Product is whose order of adding up has the product of a matrix with one vector.
type Product uint8

// The products. All are OpenBLAS's on CPUs with FMA, which faiss and knowhere use; each was compared with that library (testdata/linear.py).
// They differ by release and by what OpenBLAS takes the CPU for, and those of vectors multiplied many at once differ again: by the rounding of
// sums, about 1e-7 of the lengths.
const (
	// ByVector is sgemv, which faiss takes from 1.15 on (LinearTransform::apply_noalloc, faiss/VectorTransform.cpp): 8 lanes, of which
	// the first 4 take 4 elements first if the dimension has an odd number of these, then all 8 if it has an odd number of eights. What
	// is left of 4 elements is a sum of its own.
	ByVector Product = iota
	// ByBlocks is sgemm of OpenBLAS 0.3.15 for SkylakeX, the one in wheels of milvus-lite: one after the other, in blocks of 448
	// dimensions, of which the last two are of one size.
	ByBlocks
	// ByLanes is sgemm of OpenBLAS from 0.3.17 on for CPUs with AVX-512, as in Milvus's images: for 32 dimensions and more, up to 1,000 as
	// long as the matrix has no more than 1,000,000 elements and 1,200 rows, 16 lanes that are added up in pairs of neighbours, but in the
	// last rows of a number that does not divide by 4 folded in halves. Others are as ByBlocks.
	ByLanes
)

// Linear maps a vector to its product with a matrix, and a bias. It is immutable.
type Linear struct {
	in, out int
	order   linearOrder
	rows    []float32 // of the matrix; for 16 lanes each filled up with zeros to a multiple of that
	columns []float32 // of the matrix, each filled up with zeros to a multiple of 8; in place of rows
	stride  int
	bias    []float32 // nil for none
	native  linearKernels
}

type linearKernels struct {
	// eights and sixteens write the sums of lanes of the rows of a matrix, a multiple of 4, with x, of a multiple of 4 or 16 elements.
	eights, sixteens func(rows []float32, stride int, x []float32, n int, out []float32)
	// turns adds to out, a multiple of 8 and as long as a column is apart from the next, sums with n columns.
	turns func(columns []float32, x []float32, n int, out []float32)
}

// linearOrder is an order of adding up.
type linearOrder struct {
	lanes        int // 8, 16; 0 for blocks
	block, round int
}

// orderOf is the order of a product for a matrix.
func (p Product) orderOf(in, out int) linearOrder {
	switch {
	case p == ByVector:
		return linearOrder{lanes: 8}
	case p == ByLanes && in >= 32 && out <= 1200 && in*out <= 1000000:
		return linearOrder{lanes: 16}
	default:
		return linearOrder{block: 448, round: 16}
	}
}

// NewLinear returns the map of a matrix, out rows of in elements, and a bias of out, nil for none, on the best back end of this CPU.
func NewLinear(p Product, in, out int, matrix, bias []float32) (*Linear, error) {
	backends := Backends()
	return newLinear(backends[len(backends)-1], p, in, out, matrix, bias)
}

func newLinear(b Backend, p Product, in, out int, matrix, bias []float32) (*Linear, error) {
	if in <= 0 || out <= 0 || len(matrix)/in != out || len(matrix)%in != 0 || bias != nil && len(bias) != out {
		return nil, fmt.Errorf("a matrix of %d elements and a bias of %d from %d dimensions to %d", len(matrix), len(bias), in, out)
	}
	l := &Linear{in: in, out: out, order: p.orderOf(in, out), bias: bias, native: linearNative(b)}
	if l.order.lanes > 0 {
		if l.stride = in; l.order.lanes == 16 {
			l.stride = (in + 15) &^ 15
		}
		l.rows = Floats(Aligned(4 * l.stride * out))
		for i := range out {
			copy(l.rows[i*l.stride:], matrix[i*in:(i+1)*in])
		}
		return l, nil
	}
	l.stride = (out + 7) &^ 7
	l.columns = Floats(Aligned(4 * l.stride * in))
	for i := range out {
		for j, v := range matrix[i*in : (i+1)*in] {
			l.columns[j*l.stride+i] = v
		}
	}
	return l, nil
}

// In is the dimension of what is mapped.
func (l *Linear) In() int { return l.in }

// Out is the dimension of what is mapped to.
func (l *Linear) Out() int { return l.out }

// LinearScratch is memory for one goroutine's use of a Linear.
type LinearScratch struct{ x, sums []float32 }

// NewScratch returns such memory.
func (l *Linear) NewScratch() *LinearScratch {
	return &LinearScratch{
		x:    Floats(Aligned(4 * ((l.in + 15) &^ 15))),
		sums: Floats(Aligned(4 * ((l.out + 7) &^ 7))),
	}
}

// Apply writes to y what x is mapped to.
func (l *Linear) Apply(s *LinearScratch, x, y []float32) {
	copy(s.x, x)
	switch l.order.lanes {
	case 8:
		l.eights(s)
	case 16:
		l.sixteens(s)
	default:
		l.turns(s, y)
		return
	}
	for i, sum := range s.sums[:l.out] {
		if l.bias != nil {
			sum = l.bias[i] + sum
		}
		y[i] = sum
	}
	if rest := l.in & 3; rest > 0 && l.order.lanes == 8 {
		for i := range y[:l.out] {
			row := l.rows[i*l.stride:][:l.in]
			sum := float32(row[l.in-rest] * x[l.in-rest])
			for j := l.in - rest + 1; j < l.in; j++ {
				sum += float32(row[j] * x[j])
			}
			y[i] += sum
		}
	}
}

// row is the i-th of the matrix.
func (l *Linear) row(i, n int) []float32 { return l.rows[i*l.stride:][:n] }

// eights is the order of sgemv_t_4.c and sgemv_t_microk_haswell-4.c (kernel/x86_64 of OpenBLAS).
func (l *Linear) eights(s *LinearScratch) {
	n, whole := l.in&^3, l.out&^3
	x := s.x[:n]
	if l.native.eights != nil && whole > 0 && n > 0 {
		l.native.eights(l.rows, l.stride, x, n, s.sums[:whole])
	} else {
		for i := range whole {
			s.sums[i] = eightLanes(l.row(i, n), x)
		}
	}
	i := whole
	if l.out&2 != 0 {
		for range 2 {
			s.sums[i] = fourLanes(l.row(i, n), x)
			i++
		}
	}
	if l.out&1 != 0 {
		s.sums[i] = twiceFourLanes(l.row(i, n), x)
	}
}

func eightLanes(a, x []float32) float32 {
	var acc [8]float32
	add := func(n int) {
		for i := range n {
			acc[i] = fusedAdd(a[i], x[i], acc[i])
		}
		a, x = a[n:], x[n:]
	}
	if len(a)&4 != 0 {
		add(4)
	}
	for len(a) > 0 {
		add(8)
	}
	fold(acc[:])
	return (acc[0] + acc[1]) + (acc[2] + acc[3])
}

// fourLanes rounds twice, as the last two rows of an even number do.
func fourLanes(a, x []float32) float32 {
	var acc [4]float32
	for i := range a {
		acc[i&3] += float32(a[i] * x[i])
	}
	return (acc[0] + acc[1]) + (acc[2] + acc[3])
}

// twiceFourLanes does so in two sets, as the last row of an odd number does.
func twiceFourLanes(a, x []float32) float32 {
	var acc [8]float32
	if len(a)&4 != 0 {
		for i := range 4 {
			acc[i] += float32(a[i] * x[i])
		}
		a, x = a[4:], x[4:]
	}
	for i := range a {
		acc[i&7] += float32(a[i] * x[i])
	}
	fold(acc[:])
	return (acc[0] + acc[1]) + (acc[2] + acc[3])
}

// sixteens is the order of sgemm_small_kernel_tn_skylakex.c (kernel/x86_64 of OpenBLAS).
func (l *Linear) sixteens(s *LinearScratch) {
	whole := l.out &^ 3
	if l.native.sixteens != nil && whole > 0 {
		l.native.sixteens(l.rows, l.stride, s.x, l.stride, s.sums[:whole])
	} else {
		for i := range whole {
			acc := sixteenLanes(l.row(i, l.in), s.x)
			var four [4]float32
			for q := range four {
				own := acc[4*q:]
				four[q] = (own[0] + own[1]) + (own[2] + own[3])
			}
			s.sums[i] = (four[0] + four[1]) + (four[2] + four[3])
		}
	}
	for i := whole; i < l.out; i++ {
		acc := sixteenLanes(l.row(i, l.in), s.x)
		fold(acc[:])
		fold(acc[:8])
		s.sums[i] = (acc[0] + acc[2]) + (acc[1] + acc[3])
	}
}

func sixteenLanes(a, x []float32) (acc [16]float32) {
	for i, v := range a {
		acc[i&15] = fusedAdd(v, x[i], acc[i&15])
	}
	return acc
}

// turns is the order of sgemm: in blocks (driver/level3/level3.c of OpenBLAS), whose sums are added to what there is.
func (l *Linear) turns(s *LinearScratch, y []float32) {
	clear(s.sums)
	copy(s.sums, l.bias)
	for from := 0; from < l.in; {
		n := l.in - from
		switch {
		case n >= 2*l.order.block:
			n = l.order.block
		case n > l.order.block:
			n = (n/2 + l.order.round - 1) / l.order.round * l.order.round
		}
		columns, x := l.columns[from*l.stride:], s.x[from:from+n]
		if l.native.turns != nil {
			l.native.turns(columns, x, n, s.sums)
		} else {
			for i := range s.sums[:l.out] {
				sum := float32(0)
				for j, v := range x {
					sum = fusedAdd(columns[j*l.stride+i], v, sum)
				}
				s.sums[i] += sum
			}
		}
		from += n
	}
	copy(y[:l.out], s.sums)
}
