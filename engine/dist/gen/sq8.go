package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sq8 is a kernel of distances to rows of 8-bit codes with a range for each dimension (dist.SQ8). At q are the query, the widths of
// the ranges, their beginnings, n of each, and two numbers: what a code is multiplied by, and what is added to it.
type sq8 struct {
	*pairs
	wide, l2, knowhere bool
}

// What is added to a code is in register 11, what it is multiplied by in 12.
const (
	sq8Add = 11
	sq8Mul = 12
)

var (
	spans = next4[2]
	lows  = next4[3]
)

// writeSQ8 writes the kernels.
func writeSQ8(p *program) {
	f := &pairs{program: p}
	for _, isa := range []string{"AVX512", "AVX2"} {
		for _, maker := range []string{"", "Knowhere"} {
			for _, metric := range []string{"L2", "IP"} {
				k := sq8{f, isa == "AVX512", metric == "L2", maker != ""}
				f.scan("sq8"+maker+metric+isa, 4, k.prologue, k.rows)
			}
		}
	}
}

// v is vector register i.
func (k sq8) v(i int) reg.VecPhysical {
	if k.wide {
		return zmm[i]
	}
	return ymm[i]
}

// lanes is how many elements a register has.
func (k sq8) lanes() int {
	if k.wide {
		return 16
	}
	return 8
}

func (k sq8) prologue() {
	k.arg("n", limit)
	k.LEAQ(operand.Mem{Base: query, Index: limit, Scale: 4}, spans)
	k.LEAQ(operand.Mem{Base: query, Index: limit, Scale: 8}, lows)
	k.LEAQ(operand.Mem{Base: lows, Index: limit, Scale: 4}, index)
	k.VBROADCASTSS(operand.Mem{Base: index}, k.v(sq8Mul))
	k.VBROADCASTSS(operand.Mem{Base: index, Disp: 4}, k.v(sq8Add))
}

// rows leaves the distances of n rows in the low lanes of X0.
func (k sq8) rows(n int) {
	for r := range 4 {
		if k.wide {
			k.VPXORD(zmm[r], zmm[r], zmm[r])
		} else {
			k.VXORPS(ymm[r], ymm[r], ymm[r])
		}
	}
	main := k.label("main")
	k.XORQ(index, index)
	k.arg("n", limit)
	k.Label(main)
	q, span, low := k.v(8), k.v(9), k.v(10)
	k.VMOVUPS(atIndex(query, 4, 0), q)
	k.VMOVUPS(atIndex(spans, 4, 0), span)
	k.VMOVUPS(atIndex(lows, 4, 0), low)
	if n > 1 {
		k.PREFETCHT0(atIndex(next4[0], uint8(n), linearAhead))
	}
	for r := range n {
		x := k.v(4 + r)
		k.VPMOVZXBD(atIndex(rows4[r], 1, 0), x)
		k.VCVTDQ2PS(x, x)
		if k.knowhere {
			k.VADDPS(k.v(sq8Add), x, x)
			k.VMULPS(k.v(sq8Mul), x, x)
		} else {
			k.VFMADD213PS(k.v(sq8Add), k.v(sq8Mul), x)
		}
		k.VFMADD213PS(low, span, x)
		if k.l2 {
			k.VSUBPS(x, q, x)
			k.VFMADD231PS(x, x, k.v(r))
		} else {
			k.VFMADD231PS(x, q, k.v(r))
		}
	}
	k.ADDQ(operand.Imm(uint64(k.lanes())), index)
	k.CMPQ(index, limit)
	k.JLT(ref(main))
	k.finish(n)
}

// finish adds up the lanes of n rows.
func (k sq8) finish(n int) {
	if k.wide {
		for r := range n {
			k.VEXTRACTF64X4(operand.Imm(1), zmm[r], ymm[4+r])
			k.VADDPS(ymm[4+r], ymm[r], ymm[r])
		}
	}
	other := func(r int) int { return min(r, n-1) } // of one row all four are it
	if k.knowhere {
		k.VHADDPS(ymm[other(1)], ymm[0], ymm[4])
		k.VHADDPS(ymm[other(3)], ymm[other(2)], ymm[5])
		k.VHADDPS(ymm[5], ymm[4], ymm[0])
		k.VEXTRACTF128(operand.Imm(1), ymm[0], xmm[1])
		k.VADDPS(xmm[1], xmm[0], xmm[0])
		return
	}
	for r := range n {
		k.VEXTRACTF128(operand.Imm(1), ymm[r], xmm[4+r])
		k.VADDPS(xmm[4+r], xmm[r], xmm[r])
	}
	for i, to := range []int{4, 6} {
		a, b := xmm[other(2*i)], xmm[other(2*i+1)]
		k.VUNPCKLPS(b, a, xmm[to])
		k.VUNPCKHPS(b, a, xmm[to+1])
		k.VADDPS(xmm[to+1], xmm[to], xmm[to])
	}
	k.VMOVLHPS(xmm[6], xmm[4], xmm[0])
	k.VMOVHLPS(xmm[4], xmm[6], xmm[1])
	k.VADDPS(xmm[1], xmm[0], xmm[0])
}
