package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// codes is a kernel of sums of products of a query with rows of codes by id, for graphs: the n bytes of a row, a multiple of 64, lie
// together. Of a query, each 64 elements take 128 bytes: their upper plane and their lower, or 16 bits each. Results are int32,
// whatever the type of out is called.
type codes struct {
	*pairs
	wide, vnni bool
}

// writeCodes writes the kernels.
func writeCodes(p *program) {
	f := &pairs{program: p}
	for _, k := range []struct {
		name       string
		wide, vnni bool
	}{{"codesAVX512", true, true}, {"codesAVXVNNI", false, true}, {"codesAVX2", false, false}} {
		c := codes{f, k.wide, k.vnni}
		f.gather(k.name, 4, func() {}, c.rows)
	}
}

// rows leaves the sums of n rows in the low lanes of X0.
func (c codes) rows(n int) {
	for k := range 8 {
		c.VPXOR(xmm[k], xmm[k], xmm[k])
	}
	main := c.label("main")
	c.XORQ(index, index)
	c.arg("n", limit)
	c.Label(main)
	c.prefetch(n, 1)
	switch {
	case c.wide:
		c.wideTerms(n)
	case c.vnni:
		c.vexTerms(n)
	default:
		c.wordTerms(n)
	}
	c.ADDQ(operand.Imm(64), index)
	c.CMPQ(index, limit)
	c.JLT(ref(main))
	for r := range n {
		if c.wide {
			c.fold(zmm[r], zmm[4+r])
			c.VEXTRACTI64X4(operand.Imm(1), zmm[r], reg.Y15)
			c.VPADDD(reg.Y15, ymm[r], ymm[r])
		} else if c.vnni {
			c.fold(ymm[r], ymm[4+r])
		}
		c.VEXTRACTI128(operand.Imm(1), ymm[r], reg.X15)
		c.VPADDD(reg.X15, xmm[r], xmm[r])
	}
	last := reg.X0
	if n == 4 {
		c.VPHADDD(reg.X1, reg.X0, reg.X0)
		c.VPHADDD(reg.X3, reg.X2, reg.X2)
		last = reg.X2
	} else {
		c.VPHADDD(reg.X0, reg.X0, reg.X0)
	}
	c.VPHADDD(last, reg.X0, reg.X0)
}

// fold puts the sums of the upper plane and of the lower together.
func (c codes) fold(high, low reg.VecPhysical) {
	c.VPSLLD(operand.Imm(8), high, high)
	c.VPADDD(low, high, high)
}

func (c codes) wideTerms(n int) {
	c.VMOVDQU64(atIndex(query, 2, 0), reg.Z13)
	c.VMOVDQU64(atIndex(query, 2, 64), reg.Z14)
	for r := range n {
		c.VMOVDQU64(atIndex(rows4[r], 1, 0), zmm[8+r])
		c.dot(reg.Z13, zmm[8+r], zmm[r])
		c.dot(reg.Z14, zmm[8+r], zmm[4+r])
	}
}

func (c codes) vexTerms(n int) {
	for disp := 0; disp < 64; disp += 32 {
		c.VMOVDQU(atIndex(query, 2, disp), reg.Y13)
		c.VMOVDQU(atIndex(query, 2, 64+disp), reg.Y14)
		for r := range n {
			c.VMOVDQU(atIndex(rows4[r], 1, disp), ymm[8+r])
			c.vex(13, 8+r, r)
			c.vex(14, 8+r, 4+r)
		}
	}
}

func (c codes) wordTerms(n int) {
	for disp := 0; disp < 64; disp += 16 {
		c.VMOVDQU(atIndex(query, 2, 2*disp), reg.Y13)
		for r := range n {
			c.VPMOVZXBW(atIndex(rows4[r], 1, disp), ymm[8+r])
			c.VPMADDWD(reg.Y13, ymm[8+r], ymm[8+r])
			c.VPADDD(ymm[8+r], ymm[r], ymm[r])
		}
	}
}
