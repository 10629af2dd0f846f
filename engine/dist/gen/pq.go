package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writePQ writes the kernels of product quantisers.
func writePQ(p *program) {
	writePQSum(p)
	writePQLess(p)
	writePQTable(p, "pqTableIPAVX512", false)
	writePQTable(p, "pqTableL2AVX512", true)
}

// writePQTable writes the distances of the parts of a query to 256 centroids each, added up one after the other. Of a part, the first
// elements of all centroids lie together, then the second ones.
func writePQTable(p *program, name string, l2 bool) {
	p.function(name, nil, param{"q", float32s}, param{"x", float32s}, param{"table", float32s}, param{"parts", number}, param{"width", number})
	q, x, table, parts, left := reg.RSI, reg.RDI, reg.RDX, reg.RCX, reg.RAX
	p.MOVQ(p.addr("q"), q)
	p.MOVQ(p.addr("x"), x)
	p.MOVQ(p.addr("table"), table)
	p.MOVQ(p.addr("parts"), parts)
	p.Label("part")
	for i := range 16 {
		p.VPXORD(zmm[16+i], zmm[16+i], zmm[16+i])
	}
	p.MOVQ(p.addr("width"), left)
	p.Label("element")
	p.VBROADCASTSS(operand.Mem{Base: q}, reg.Z0)
	for i := range 16 {
		at := operand.Mem{Base: x, Disp: 64 * i}
		if l2 {
			p.VSUBPS(at, reg.Z0, zmm[1+i%4])
			p.VFMADD231PS(zmm[1+i%4], zmm[1+i%4], zmm[16+i])
		} else {
			p.VFMADD231PS(at, reg.Z0, zmm[16+i])
		}
	}
	p.ADDQ(operand.Imm(4), q)
	p.ADDQ(operand.U32(1024), x)
	p.DECQ(left)
	p.JNZ(operand.LabelRef("element"))
	for i := range 16 {
		p.VMOVUPS(zmm[16+i], operand.Mem{Base: table, Disp: 64 * i})
	}
	p.ADDQ(operand.U32(1024), table)
	p.DECQ(parts)
	p.JNZ(operand.LabelRef("part"))
	p.VZEROUPPER()
	p.RET()
}

// writePQSum writes the sums of table entries that codes name: 16 parts at a time are gathered to 16 lanes, which are folded in halves,
// and what is left is added one after the other.
func writePQSum(p *program) {
	p.function("pqSumAVX512", nil, param{"table", float32s}, param{"x", pointer}, param{"stride", word}, param{"lanes", uint32s},
		param{"out", float32s}, param{"add", float32s}, param{"count", number}, param{"parts", number})
	x, stride, out, count, parts := reg.RSI, reg.RDI, reg.RDX, reg.RCX, reg.R8
	table, at, left, index := reg.RAX, reg.R9, reg.R10, reg.R11
	p.MOVQ(p.addr("x"), x)
	p.MOVQ(p.addr("stride"), stride)
	p.MOVQ(p.addr("out"), out)
	p.MOVQ(p.addr("count"), count)
	p.MOVQ(p.addr("parts"), parts)
	p.MOVQ(p.addr("lanes"), at)
	p.VMOVDQU32(operand.Mem{Base: at}, reg.Z15)
	p.MOVQ(p.addr("add"), at)
	p.VMOVSS(operand.Mem{Base: at}, reg.X14)

	p.Label("row")
	p.MOVQ(p.addr("table"), table)
	p.MOVQ(x, at)
	p.MOVQ(parts, left)
	p.VXORPS(reg.X0, reg.X0, reg.X0)
	p.SUBQ(operand.Imm(16), left)
	p.JL(operand.LabelRef("rest"))
	p.Label("sixteen")
	p.VPMOVZXBD(operand.Mem{Base: at}, reg.Z1)
	p.VPADDD(reg.Z15, reg.Z1, reg.Z1)
	p.KXNORW(reg.K1, reg.K1, reg.K1)
	p.VPXORD(reg.Z2, reg.Z2, reg.Z2)
	p.VGATHERDPS(operand.Mem{Base: table, Index: reg.Z1, Scale: 4}, reg.K1, reg.Z2)
	p.VADDPS(reg.Z2, reg.Z0, reg.Z0)
	p.ADDQ(operand.Imm(16), at)
	p.ADDQ(operand.U32(16*256*4), table)
	p.SUBQ(operand.Imm(16), left)
	p.JGE(operand.LabelRef("sixteen"))
	p.VEXTRACTF64X4(operand.Imm(1), reg.Z0, reg.Y1)
	p.VADDPS(reg.Y1, reg.Y0, reg.Y0)
	p.VEXTRACTF128(operand.Imm(1), reg.Y0, reg.X1)
	p.VADDPS(reg.X1, reg.X0, reg.X0)
	p.VPERMILPS(operand.Imm(0x0e), reg.X0, reg.X1)
	p.VADDPS(reg.X1, reg.X0, reg.X0)
	p.VMOVSHDUP(reg.X0, reg.X1)
	p.VADDSS(reg.X1, reg.X0, reg.X0)
	p.Label("rest")
	p.ADDQ(operand.Imm(16), left)
	p.JZ(operand.LabelRef("whole"))
	p.Label("one")
	p.MOVBLZX(operand.Mem{Base: at}, index.As32())
	p.VADDSS(operand.Mem{Base: table, Index: index, Scale: 4}, reg.X0, reg.X0)
	p.INCQ(at)
	p.ADDQ(operand.U32(256*4), table)
	p.DECQ(left)
	p.JNZ(operand.LabelRef("one"))
	p.Label("whole")
	p.VADDSS(reg.X0, reg.X14, reg.X0)
	p.VMOVSS(reg.X0, operand.Mem{Base: out})
	p.ADDQ(operand.Imm(4), out)
	p.ADDQ(stride, x)
	p.DECQ(count)
	p.JNZ(operand.LabelRef("row"))
	p.VZEROUPPER()
	p.RET()
}

// writePQLess writes a list's table less twice the query's, a multiple of 64 values.
func writePQLess(p *program) {
	p.function("pqLessAVX512", nil, param{"own", float32s}, param{"query", float32s}, param{"out", float32s}, param{"n", number})
	own, query, out, n := reg.RSI, reg.RDI, reg.RDX, reg.RCX
	p.MOVQ(p.addr("own"), own)
	p.MOVQ(p.addr("query"), query)
	p.MOVQ(p.addr("out"), out)
	p.MOVQ(p.addr("n"), n)
	p.Label("values")
	for i := range 4 {
		p.VMOVUPS(operand.Mem{Base: query, Disp: 64 * i}, zmm[i])
		p.VADDPS(zmm[i], zmm[i], zmm[i])
		p.VMOVUPS(operand.Mem{Base: own, Disp: 64 * i}, zmm[4+i])
		p.VSUBPS(zmm[i], zmm[4+i], zmm[4+i])
		p.VMOVUPS(zmm[4+i], operand.Mem{Base: out, Disp: 64 * i})
	}
	p.ADDQ(operand.U32(256), own)
	p.ADDQ(operand.U32(256), query)
	p.ADDQ(operand.U32(256), out)
	p.SUBQ(operand.Imm(64), n)
	p.JGT(operand.LabelRef("values"))
	p.VZEROUPPER()
	p.RET()
}
