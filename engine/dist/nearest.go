package dist

import "unsafe"

// Nearest computes squared distances as knowhere does from 2.5.3 on where it wants the one row that is nearest: by fvec_L2sqr_ny_nearest_avx,
// on a CPU with AVX-512, too (src/simd/hook.cc and distances_avx.cc, v2.5.6; as compiled in PyPI's milvus-lite 2.5.1). Last bits differ from
// those of Kernel with the profile Knowhere25. It is immutable.
type Nearest struct {
	dim    int
	kernel *Kernel
}

// NewNearest is of rows of so many dimensions.
func NewNearest(dim int) *Nearest {
	k := newOrderKernel(Generic, L2, orderFaiss8, dim)
	if dim == 2 || dim == 4 {
		k = newOrderKernel(Generic, L2, orderPyramid4, dim)
	}
	return &Nearest{dim, k}
}

// Distance is that of q to the row at x, which has the number row of so many. Of two dimensions the last up to three of all rows, of four the
// last of an odd number are not computed several at a time, and round a product and a sum once.
func (n *Nearest) Distance(q, x unsafe.Pointer, row, rows int) float32 {
	switch {
	case n.dim == 2 && row >= rows&^3:
		return n.pair(q, x, 0, 1)
	case n.dim == 4 && rows%2 == 1 && row == rows-1:
		return n.pair(q, x, 0, 2) + n.pair(q, x, 1, 3)
	}
	return n.kernel.One(q, x)
}

// pair adds to the rounded square of the difference in dimension j that in dimension i.
func (n *Nearest) pair(q, x unsafe.Pointer, i, j int) float32 {
	a, b, s := float32s(q, n.dim), float32s(x, n.dim), summation{l2: true}
	return s.add(true, s.add(false, 0, a[j], b[j]), a[i], b[i])
}
