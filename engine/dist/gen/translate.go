package main

import (
	"go/types"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// writeTranslate writes the look-up of bytes in a table of 256: in its halves, which are two registers each, by the lower seven bits,
// and the highest says which of the two counts.
func writeTranslate(p *program) {
	bytes := types.NewPointer(types.Typ[types.Byte])
	p.function("translateVBMI", nil, param{"table", bytes}, param{"src", bytes}, param{"dst", bytes}, param{"n", number})
	table, src, dst, left := reg.RAX, reg.RSI, reg.RDI, reg.RCX
	p.MOVQ(p.addr("table"), table)
	p.MOVQ(p.addr("src"), src)
	p.MOVQ(p.addr("dst"), dst)
	p.MOVQ(p.addr("n"), left)
	for i := range 4 {
		p.VMOVDQU8(operand.Mem{Base: table, Disp: 64 * i}, zmm[i])
	}
	p.SUBQ(operand.U8(64), left)
	p.JL(operand.LabelRef("rest"))
	p.Label("vector")
	p.VMOVDQU8(operand.Mem{Base: src}, reg.Z4)
	translate(p)
	p.VMOVDQU8(reg.Z4, operand.Mem{Base: dst})
	p.ADDQ(operand.U8(64), src)
	p.ADDQ(operand.U8(64), dst)
	p.SUBQ(operand.U8(64), left)
	p.JGE(operand.LabelRef("vector"))
	p.Label("rest")
	p.ADDQ(operand.U8(64), left)
	p.JZ(operand.LabelRef("done"))
	p.MOVQ(operand.I32(-1), table)
	p.BZHIQ(left, table, table)
	p.KMOVQ(table, reg.K2)
	p.VMOVDQU8_Z(operand.Mem{Base: src}, reg.K2, reg.Z4)
	translate(p)
	p.VMOVDQU8(reg.Z4, reg.K2, operand.Mem{Base: dst})
	p.Label("done")
	p.VZEROUPPER()
	p.RET()
}

// translate replaces the bytes in Z4.
func translate(p *program) {
	p.VMOVDQA64(reg.Z4, reg.Z5)
	p.VPMOVB2M(reg.Z4, reg.K1)
	p.VPERMI2B(reg.Z1, reg.Z0, reg.Z4)
	p.VPERMI2B(reg.Z3, reg.Z2, reg.Z5)
	p.VMOVDQU8(reg.Z5, reg.K1, reg.Z4)
}
