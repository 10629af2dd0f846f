package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bitset is one kernel of bits, by AVX-512's VPOPCNTQ. What that instruction is not for is
// left to the specification, which counts by POPCNT.
type bitset struct {
	*pairs
	jaccard bool
}

// writeBits writes the kernels.
func writeBits(p *program) {
	f := &pairs{program: p}
	for _, jaccard := range []bool{false, true} {
		b := bitset{pairs: f, jaccard: jaccard}
		prologue := func() { f.tailMask(63) }
		f.scan(b.name("Scan"), 4, prologue, b.rows)
		f.gather(b.name("Gather"), 4, prologue, b.rows)
	}
}

func (b bitset) name(form string) string {
	if b.jaccard {
		return fmt.Sprintf("jaccard%sAVX512", form)
	}
	return fmt.Sprintf("hamming%sAVX512", form)
}

// rows counts for n rows: in register r the bits that differ (hamming) or that are set in
// both, in 4+r those set in either.
func (b bitset) rows(n int) {
	for r := range n {
		b.VPXOR(xmm[r], xmm[r], xmm[r])
		b.VPXOR(xmm[4+r], xmm[4+r], xmm[4+r])
	}
	main, after, done := b.label("main"), b.label("after"), b.label("done")
	b.XORQ(index, index)
	b.arg("n", limit)
	b.ANDQ(operand.I32(-64), limit)
	b.JZ(ref(after))
	b.Label(main)
	b.prefetch(n, 1)
	b.VMOVDQU64(atIndex(query, 1, 0), reg.Z13)
	for r := range n {
		b.VMOVDQU64(atIndex(rows4[r], 1, 0), reg.Z14)
		b.count(r)
	}
	b.ADDQ(operand.Imm(64), index)
	b.CMPQ(index, limit)
	b.JLT(ref(main))
	b.Label(after)
	b.arg("n", limit)
	b.SUBQ(index, limit)
	b.JZ(ref(done))
	b.VMOVDQU8_Z(atIndex(query, 1, 0), reg.K1, reg.Z13)
	for r := range n {
		b.VMOVDQU8_Z(atIndex(rows4[r], 1, 0), reg.K1, reg.Z14)
		b.count(r)
	}
	b.Label(done)
	b.finish(n)
}

// count counts the bits of Z13 and Z14 for row r.
func (b bitset) count(r int) {
	if !b.jaccard {
		b.VPXORQ(reg.Z13, reg.Z14, reg.Z14)
		b.VPOPCNTQ(reg.Z14, reg.Z14)
		b.VPADDQ(reg.Z14, zmm[r], zmm[r])
		return
	}
	b.VPANDQ(reg.Z13, reg.Z14, reg.Z15)
	b.VPORQ(reg.Z13, reg.Z14, reg.Z14)
	b.VPOPCNTQ(reg.Z15, reg.Z15)
	b.VPOPCNTQ(reg.Z14, reg.Z14)
	b.VPADDQ(reg.Z15, zmm[r], zmm[r])
	b.VPADDQ(reg.Z14, zmm[4+r], zmm[4+r])
}

// finish makes the distances of the counts.
func (b bitset) finish(n int) {
	b.lanes(0, n)
	if !b.jaccard {
		b.VCVTDQ2PS(reg.X0, reg.X0)
		return
	}
	b.lanes(4, n)
	b.VPSUBD(reg.X0, reg.X4, reg.X0)
	b.VCVTDQ2PS(reg.X0, reg.X0)
	b.VCVTDQ2PS(reg.X4, reg.X5)
	b.VDIVPS(reg.X5, reg.X0, reg.X0)
	// No bit set in either: the distance is 1, not 0/0.
	b.VPXOR(reg.X6, reg.X6, reg.X6)
	b.VPCMPEQD(reg.X6, reg.X4, reg.X6)
	b.MOVL(operand.Imm(0x3f800000), reg.EDX)
	b.VMOVD(reg.EDX, reg.X7)
	b.VPBROADCASTD(reg.X7, reg.X7)
	b.VBLENDVPS(reg.X6, reg.X7, reg.X0, reg.X0)
}

// lanes adds up the eight lanes of n registers from first on, as int32 in the low lanes of the first.
func (b bitset) lanes(first, n int) {
	x := xmm[first : first+n]
	for r := range n {
		b.VEXTRACTI64X4(operand.Imm(1), zmm[first+r], reg.Y15)
		b.VPADDQ(reg.Y15, ymm[first+r], ymm[first+r])
		b.VEXTRACTI128(operand.Imm(1), ymm[first+r], reg.X15)
		b.VPADDQ(reg.X15, x[r], x[r])
	}
	pair := func(a, c, to reg.VecPhysical) {
		b.VPUNPCKHQDQ(c, a, reg.X15)
		b.VPUNPCKLQDQ(c, a, to)
		b.VPADDQ(reg.X15, to, to)
	}
	if n == 4 {
		pair(x[0], x[1], x[0])
		pair(x[2], x[3], x[2])
		b.VSHUFPS(operand.Imm(0x88), x[2], x[0], x[0])
		return
	}
	pair(x[0], x[0], x[0])
}
