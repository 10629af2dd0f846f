package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// queriesAt are the addresses of the four queries of a block.
var queriesAt = [4]reg.GPPhysical{reg.RSI, reg.R12, reg.R13, reg.R14}

// block writes a kernel of four queriesAt by as many rows as sixteen accumulators allow.
func (h half) block() {
	h.function(h.name("Block"), nil, blockForm...)
	h.arg("q", queriesAt[0])
	h.arg("qStride", limit)
	for j := 1; j < 4; j++ {
		h.LEAQ(operand.Mem{Base: queriesAt[j-1], Index: limit, Scale: 1}, queriesAt[j])
	}
	h.arg("x", cursor)
	h.arg("out", out)
	h.tailMask(15)
	h.arg("rows", left)
	// 16 accumulators, or 24: what the conversions of the rows leave.
	width := 4
	if h.accs == 2 {
		width = 3
	}
	for _, w := range widths(width) {
		h.Label(fmt.Sprintf("by%d", w))
		h.CMPQ(left, operand.Imm(uint64(w)))
		h.JLT(ref(fmt.Sprintf("less%d", w)))
		h.arg("stride", limit)
		h.MOVQ(cursor, rows4[0])
		for r := 1; r < w; r++ {
			h.LEAQ(operand.Mem{Base: rows4[r-1], Index: limit, Scale: 1}, rows4[r])
		}
		h.LEAQ(operand.Mem{Base: rows4[w-1], Index: limit, Scale: 1}, cursor)
		h.blockRows(w)
		h.blockStore(w)
		h.SUBQ(operand.Imm(uint64(w)), left)
		h.JMP(ref(fmt.Sprintf("by%d", w)))
		h.Label(fmt.Sprintf("less%d", w))
	}
	h.VZEROUPPER()
	h.RET()
}

// blockRows computes the distances of four queriesAt to w rows. Accumulator a of query j and
// row r is register (4a+j)*w+r.
func (h half) blockRows(w int) {
	for k := range 4 * w * h.accs {
		h.VXORPS(xmm[k], xmm[k], xmm[k])
	}
	main, sum, tail, done := h.label("main"), h.label("sum"), h.label("tail"), h.label("done")
	step := 16 * h.accs
	h.XORQ(index, index)
	h.arg("n", limit)
	h.ANDQ(operand.I32(int32(-step)), limit)
	h.JZ(ref(sum))
	h.Label(main)
	for a := range h.accs {
		h.blockTerms(w, 16*a, a)
	}
	h.ADDQ(operand.Imm(uint64(step)), index)
	h.CMPQ(index, limit)
	h.JLT(ref(main))
	h.Label(sum)
	h.arg("n", limit)
	h.SUBQ(index, limit)
	if h.accs == 2 {
		for k := range 4 * w {
			h.VADDPS(zmm[4*w+k], zmm[k], zmm[k])
		}
		h.CMPQ(limit, operand.Imm(16))
		h.JLT(ref(tail))
		h.blockTerms(w, 0, 0)
		h.ADDQ(operand.Imm(16), index)
		h.SUBQ(operand.Imm(16), limit)
	}
	h.Label(tail)
	h.TESTQ(limit, limit)
	h.JZ(ref(done))
	for r := range w {
		h.maskedLoad(atIndex(rows4[r], 2, 0), zmm[24+r])
	}
	for j, q := range queriesAt {
		h.VMOVUPS_Z(atIndex(q, 4, 0), reg.K1, reg.Z29)
		h.blockQuery(w, j, 0)
	}
	h.Label(done)
}

// blockTerms adds sixteen terms of each pair, disp elements after index, to accumulators a.
func (h half) blockTerms(w, disp, a int) {
	for r := range w {
		h.load(atIndex(rows4[r], 2, 2*disp), zmm[24+r])
	}
	for j, q := range queriesAt {
		h.VMOVUPS(atIndex(q, 4, 4*disp), reg.Z29)
		h.blockQuery(w, j, a)
	}
}

// blockQuery adds the terms of the query in Z29 and the rows in Z24 and up.
func (h half) blockQuery(w, j, a int) {
	for r := range w {
		acc := zmm[(4*a+j)*w+r]
		if h.l2 {
			h.VSUBPS(reg.Z29, zmm[24+r], reg.Z30)
			h.VFMADD231PS(reg.Z30, reg.Z30, acc)
		} else {
			h.VFMADD231PS(reg.Z29, zmm[24+r], acc)
		}
	}
}

// blockStore writes the sums of w rows for each query and moves out on by w.
func (h half) blockStore(w int) {
	h.arg("outStride", limit)
	h.MOVQ(out, reg.R15)
	for j := range queriesAt {
		for r := range w {
			h.narrow(j*w + r)
		}
		h.foldFours(xmm[j*w:j*w+w], reg.X31, false)
		switch w {
		case 4:
			h.VMOVUPS(xmm[j*w], direct(reg.R15, 0))
		case 3:
			h.VMOVLPS(xmm[j*w], direct(reg.R15, 0))
			h.VEXTRACTPS(operand.Imm(2), xmm[j*w], direct(reg.R15, 8))
		case 1:
			h.VMOVSS(xmm[j*w], direct(reg.R15, 0))
		}
		if j < 3 {
			h.LEAQ(operand.Mem{Base: reg.R15, Index: limit, Scale: 4}, reg.R15)
		}
	}
	h.ADDQ(operand.Imm(uint64(4*w)), out)
}
