package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writeLinear writes the kernels of linear maps.
func writeLinear(p *program) {
	writeLinearRows(p, "linearEightsAVX2", false)
	writeLinearRows(p, "linearSixteensAVX2", true)
	writeLinearTurns(p)
}

// writeLinearRows writes the products of rows, four at a time, with x: in 8 lanes, where the first 4 elements and the next 8 go first if n has an
// odd number of them, or in 16, where n is a multiple of that.
func writeLinearRows(p *program, name string, sixteens bool) {
	p.function(name, nil, param{"rows", float32s}, param{"stride", word}, param{"x", float32s}, param{"n", number}, param{"out", float32s}, param{"count", number})
	base, stride, x, n, out, count := reg.RSI, reg.RDX, reg.RDI, reg.R8, reg.R9, reg.RCX
	index, left := reg.RAX, reg.RBX
	rows := []reg.GPPhysical{reg.R10, reg.R11, reg.R12, reg.R13}
	p.MOVQ(p.addr("rows"), base)
	p.MOVQ(p.addr("stride"), stride)
	p.MOVQ(p.addr("x"), x)
	p.MOVQ(p.addr("n"), n)
	p.MOVQ(p.addr("out"), out)
	p.MOVQ(p.addr("count"), count)
	in := func(base reg.GPPhysical, disp int) operand.Mem {
		return operand.Mem{Base: base, Index: index, Scale: 4, Disp: disp}
	}
	p.Label("rows")
	p.MOVQ(base, rows[0])
	for r := 1; r < 4; r++ {
		p.LEAQ(operand.Mem{Base: rows[r-1], Index: stride, Scale: 1}, rows[r])
	}
	p.LEAQ(operand.Mem{Base: rows[3], Index: stride, Scale: 1}, base)
	p.XORQ(index, index)
	p.MOVQ(n, left)
	for r := range 8 {
		p.VXORPS(ymm[r], ymm[r], ymm[r])
	}
	if !sixteens {
		p.TESTQ(operand.U32(4), left)
		p.JZ(operand.LabelRef("eight"))
		p.VMOVUPS(in(x, 0), reg.X8)
		for r := range 4 {
			p.VFMADD231PS(in(rows[r], 0), reg.X8, xmm[r])
		}
		p.ADDQ(operand.Imm(4), index)
		p.SUBQ(operand.Imm(4), left)
		p.Label("eight")
		p.TESTQ(operand.U32(8), left)
		p.JZ(operand.LabelRef("whole"))
		p.VMOVUPS(in(x, 0), reg.Y8)
		for r := range 4 {
			p.VFMADD231PS(in(rows[r], 0), reg.Y8, ymm[r])
		}
		p.ADDQ(operand.Imm(8), index)
		p.SUBQ(operand.Imm(8), left)
		p.Label("whole")
	}
	p.TESTQ(left, left)
	p.JZ(operand.LabelRef("sum"))
	p.Label("elements")
	p.VMOVUPS(in(x, 0), reg.Y8)
	p.VMOVUPS(in(x, 32), reg.Y9)
	for r := range 4 {
		second := ymm[r]
		if sixteens {
			second = ymm[4+r]
		}
		p.VFMADD231PS(in(rows[r], 0), reg.Y8, ymm[r])
		p.VFMADD231PS(in(rows[r], 32), reg.Y9, second)
	}
	p.ADDQ(operand.Imm(16), index)
	p.SUBQ(operand.Imm(16), left)
	p.JNZ(operand.LabelRef("elements"))
	p.Label("sum")
	if sixteens { // neighbours first, then quarters
		for r := range 4 {
			p.VHADDPS(ymm[4+r], ymm[r], ymm[r])
		}
		p.VHADDPS(reg.Y1, reg.Y0, reg.Y0)
		p.VHADDPS(reg.Y3, reg.Y2, reg.Y2)
		for _, r := range []int{0, 2} {
			p.VEXTRACTF128(operand.Imm(1), ymm[r], reg.X8)
			p.VADDPS(reg.X8, xmm[r], xmm[r])
		}
		p.VHADDPS(reg.X2, reg.X0, reg.X0)
	} else {
		for r := range 4 {
			p.VEXTRACTF128(operand.Imm(1), ymm[r], reg.X8)
			p.VADDPS(reg.X8, xmm[r], xmm[r])
		}
		p.VHADDPS(reg.X1, reg.X0, reg.X0)
		p.VHADDPS(reg.X3, reg.X2, reg.X2)
		p.VHADDPS(reg.X2, reg.X0, reg.X0)
	}
	p.VMOVUPS(reg.X0, operand.Mem{Base: out})
	p.ADDQ(operand.Imm(16), out)
	p.SUBQ(operand.Imm(4), count)
	p.JNZ(operand.LabelRef("rows"))
	p.VZEROUPPER()
	p.RET()
}

// writeLinearTurns adds to out the product of columns with x, one element of x after the other, of 64 rows at a time and then of 8.
func writeLinearTurns(p *program) {
	p.function("linearTurnsAVX2", nil, param{"columns", float32s}, param{"stride", word}, param{"x", float32s}, param{"n", number}, param{"out", float32s}, param{"count", number})
	columns, stride, x, n, out, count := reg.RSI, reg.RDX, reg.RDI, reg.R8, reg.R9, reg.RCX
	at, own, left := reg.RAX, reg.RBX, reg.R10
	p.MOVQ(p.addr("columns"), columns)
	p.MOVQ(p.addr("stride"), stride)
	p.MOVQ(p.addr("x"), x)
	p.MOVQ(p.addr("n"), n)
	p.MOVQ(p.addr("out"), out)
	p.MOVQ(p.addr("count"), count)
	some := func(vectors int, name string) {
		for v := range vectors {
			p.VXORPS(ymm[v], ymm[v], ymm[v])
		}
		p.MOVQ(columns, at)
		p.MOVQ(x, own)
		p.MOVQ(n, left)
		p.Label(name)
		p.VBROADCASTSS(operand.Mem{Base: own}, reg.Y8)
		for v := range vectors {
			p.VFMADD231PS(operand.Mem{Base: at, Disp: 32 * v}, reg.Y8, ymm[v])
		}
		p.ADDQ(stride, at)
		p.ADDQ(operand.Imm(4), own)
		p.DECQ(left)
		p.JNZ(operand.LabelRef(name))
		for v := range vectors {
			p.VADDPS(operand.Mem{Base: out, Disp: 32 * v}, ymm[v], ymm[v])
			p.VMOVUPS(ymm[v], operand.Mem{Base: out, Disp: 32 * v})
		}
		p.ADDQ(operand.U32(uint32(32*vectors)), out)
		p.ADDQ(operand.U32(uint32(32*vectors)), columns)
	}
	p.Label("many")
	p.SUBQ(operand.Imm(64), count)
	p.JL(operand.LabelRef("rest"))
	some(8, "of_many")
	p.JMP(operand.LabelRef("many"))
	p.Label("rest")
	p.ADDQ(operand.Imm(64), count)
	p.JZ(operand.LabelRef("done"))
	p.Label("few")
	some(1, "of_few")
	p.SUBQ(operand.Imm(8), count)
	p.JNZ(operand.LabelRef("few"))
	p.Label("done")
	p.VZEROUPPER()
	p.RET()
}
