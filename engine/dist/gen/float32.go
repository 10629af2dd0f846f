package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// order is an order of accumulation, named as in package dist.
type order string

// The orders: see order in orders.go of package dist, which says what each is.
const (
	pyramid16 order = "Pyramid16"
	pyramid8  order = "Pyramid8"
	pyramid4  order = "Pyramid4"
	hnsw16    order = "HNSW16"
	hnsw4     order = "HNSW4"
	faiss     order = "Faiss"
)

// isa is a set of instructions.
type isa string

const (
	avx2   isa = "AVX2"
	avx512 isa = "AVX512"
)

// recipe is all that makes a kernel: l2 or the inner product, in an order, with instructions.
type recipe struct {
	l2 bool
	order
	isa
}

func (k recipe) name(form string) string {
	metric := "ip"
	if k.l2 {
		metric = "l2"
	}
	return metric + string(k.order) + form + string(k.isa)
}

// lanes is how wide the accumulator of the main loop is.
func (k recipe) lanes() int {
	switch {
	case k.order == pyramid4, k.order == hnsw4 && k.l2:
		return 4
	case k.order == pyramid8, k.order == hnsw4:
		return 8
	}
	return 16
}

// fused reports whether the main loop multiplies and adds in one rounding.
func (k recipe) fused() bool { return k.order != pyramid4 && k.order != hnsw4 }

func writeFloat32(p *program) {
	iota4 := p.StaticGlobal("iota")
	p.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 4 {
		p.AddDatum(4*i, operand.U32(uint32(i)))
	}
	p.iota = iota4
	for _, l2 := range []bool{true, false} {
		for _, o := range []order{pyramid16, hnsw16, faiss} {
			p.rows(recipe{l2, o, avx512})
			p.ahead(recipe{l2, o, avx512})
			p.block(recipe{l2, o, avx512})
			p.rows(recipe{l2, o, avx2})
			p.ahead(recipe{l2, o, avx2})
		}
		for _, o := range []order{pyramid8, pyramid4, hnsw4} {
			p.rows(recipe{l2, o, avx2})
			p.ahead(recipe{l2, o, avx2})
		}
	}
}

// x, y and z are the i-th vector register at its three widths.
func x(i int) reg.VecPhysical {
	return []reg.VecPhysical{
		reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7,
		reg.X8, reg.X9, reg.X10, reg.X11, reg.X12, reg.X13, reg.X14, reg.X15,
		reg.X16, reg.X17, reg.X18, reg.X19, reg.X20, reg.X21, reg.X22, reg.X23,
		reg.X24, reg.X25, reg.X26, reg.X27, reg.X28, reg.X29, reg.X30, reg.X31,
	}[i]
}

func y(i int) reg.VecPhysical { return x(i).AsY().(reg.VecPhysical) }
func z(i int) reg.VecPhysical { return x(i).AsZ().(reg.VecPhysical) }

// wide is the register of that many lanes.
func wide(lanes int) func(int) reg.VecPhysical {
	switch lanes {
	case 4:
		return x
	case 8:
		return y
	}
	return z
}

// rows4 are the addresses of four rows.
var rows4 = [4]reg.GPPhysical{reg.R8, reg.R9, reg.R10, reg.R11}

// next4 are the addresses of the four rows to prefetch.
var next4 = [4]reg.GPPhysical{reg.R12, reg.R13, reg.R14, reg.R15}

// off is how far into the rows the computation is, in bytes; end is where the main loop ends.
var (
	off = reg.RAX
	end = reg.RBX
)

// at is the memory off and disp bytes into a row.
func at(row reg.Register, disp int) operand.Mem {
	return operand.Mem{Base: row, Index: off, Scale: 1, Disp: disp}
}

// step adds the terms of lanes elements at disp to the accumulator: query is a register,
// row memory or a register, t a register to spoil.
func (p *program) step(k recipe, fused bool, query, row operand.Op, t, acc reg.VecPhysical) {
	switch {
	case k.l2:
		p.VSUBPS(row, query, t)
		if fused {
			p.VFMADD231PS(t, t, acc)
			return
		}
		p.VMULPS(t, t, t)
		p.VADDPS(t, acc, acc)
	case fused:
		p.VFMADD231PS(row, query, acc)
	default:
		p.VMULPS(row, query, t)
		p.VADDPS(t, acc, acc)
	}
}

// chunk adds the terms of 16 elements of the rows from first to before last to their
// accumulators: of 16 lanes in Z0 to Z3, or Y0 to Y3 and Y4 to Y7; of 8 in Y0 to Y3; of 4 in
// X0 to X3.
func (p *program) chunk(k recipe, query reg.Register, first, last int) {
	w := k.lanes()
	split := w == 16 && k.isa == avx2
	if split {
		w = 8
	}
	r := wide(w)
	for part := range 16 / w {
		q := r(8 + part%2)
		p.VMOVUPS(at(query, 4*w*part), q)
		for i := first; i < last; i++ {
			acc := i
			if split {
				acc += 4 * part
			}
			p.step(k, k.fused(), q, at(rows4[i], 4*w*part), r(10+i), r(acc))
		}
	}
}

// zero clears the accumulators from register first on.
func (p *program) zero(first, count int, evex bool) {
	for i := first; i < first+count; i++ {
		if evex {
			p.VPXORD(z(i), z(i), z(i))
		} else {
			p.VXORPS(x(i), x(i), x(i))
		}
	}
}
