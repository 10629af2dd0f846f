package main

import (
	"go/types"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The predicates of VCMPPS.
const (
	equal   = operand.U8(0)
	less    = operand.U8(1)
	greater = operand.U8(14)
)

// infinity is the bits of a positive one.
const infinity = 0x7f800000

// writeRanked writes the kernel of sorted lists. Behind the nodes of a list stand infinities: the last place of its room holds what has
// to be beaten, full or not. Elements move by one place from the last vector down, while all of a vector are greater.
func writeRanked(p *program) {
	p.function("rankAVX512", types.Typ[types.Int64], param{"d", float32s}, param{"list", uint32s}, param{"n", number}, param{"room", number},
		param{"x", float32s}, param{"ids", uint32s}, param{"count", number})
	d, list, n, room := reg.RSI, reg.RDI, reg.RAX, reg.RBX
	x, ids, left, least, equals := reg.RDX, reg.R8, reg.RCX, reg.R9, reg.R10
	lanes, bits, bit, at, above := reg.R11, reg.R12, reg.R13, reg.R14, reg.R15
	p.MOVQ(p.addr("d"), d)
	p.MOVQ(p.addr("list"), list)
	p.MOVQ(p.addr("n"), n)
	p.MOVQ(p.addr("room"), room)
	p.MOVQ(p.addr("x"), x)
	p.MOVQ(p.addr("ids"), ids)
	p.MOVQ(p.addr("count"), left)
	p.MOVL(operand.U32(1<<24-1), least.As32())
	p.XORL(equals.As32(), equals.As32())
	worst := operand.Mem{Base: d, Index: room, Scale: 4, Disp: -4}
	load := func(some string) {
		p.MOVL(operand.U32(0xffff), lanes.As32())
		p.CMPQ(left, operand.Imm(16))
		p.JGE(operand.LabelRef(some))
		p.BZHIL(left.As32(), lanes.As32(), lanes.As32())
		p.Label(some)
		p.KMOVW(lanes.As32(), reg.K1)
		p.VMOVUPS_Z(operand.Mem{Base: x}, reg.K1, reg.Z0)
		p.VBROADCASTSS(worst, reg.Z1)
		p.VCMPPS(less, reg.Z1, reg.Z0, reg.K1, reg.K2)
		p.KMOVW(reg.K2, bits.As32())
	}

	// A list that is not full takes all, if all are less than infinity.
	p.CMPQ(n, room)
	p.JEQ(operand.LabelRef("chunk"))
	p.Label("finite")
	load("some")
	p.CMPL(bits.As32(), lanes.As32())
	p.JNE(operand.LabelRef("odd"))
	p.ADDQ(operand.Imm(64), x)
	p.SUBQ(operand.Imm(16), left)
	p.JGT(operand.LabelRef("finite"))
	p.MOVQ(p.addr("x"), x)
	p.MOVQ(p.addr("count"), left)

	p.Label("chunk")
	load("most")
	p.TESTL(bits.As32(), bits.As32())
	p.JZ(operand.LabelRef("next"))

	p.Label("one")
	p.TZCNTL(bits.As32(), bit.As32())
	p.VBROADCASTSS(operand.Mem{Base: x, Index: bit, Scale: 4}, reg.Z2)
	p.VUCOMISS(worst, reg.X2)
	p.JAE(operand.LabelRef("passed"))
	p.LEAQ(operand.Mem{Base: n, Disp: -1}, at)
	p.ANDQ(operand.I8(-16), at)
	p.Label("vector")
	p.VMOVUPS(operand.Mem{Base: d, Index: at, Scale: 4}, reg.Z3)
	p.VMOVDQU32(operand.Mem{Base: list, Index: at, Scale: 4}, reg.Z4)
	p.VCMPPS(greater, reg.Z2, reg.Z3, reg.K3)
	p.KMOVW(reg.K3, above.As32())
	p.CMPL(above.As32(), operand.U32(0xffff))
	p.JNE(operand.LabelRef("place"))
	p.TESTQ(at, at)
	p.JZ(operand.LabelRef("place"))
	p.VMOVUPS(reg.Z3, operand.Mem{Base: d, Index: at, Scale: 4, Disp: 4})
	p.VMOVDQU32(reg.Z4, operand.Mem{Base: list, Index: at, Scale: 4, Disp: 4})
	p.SUBQ(operand.Imm(16), at)
	p.JMP(operand.LabelRef("vector"))
	p.Label("place")
	p.VMOVUPS(reg.Z3, reg.K3, operand.Mem{Base: d, Index: at, Scale: 4, Disp: 4})
	p.VMOVDQU32(reg.Z4, reg.K3, operand.Mem{Base: list, Index: at, Scale: 4, Disp: 4})
	p.BTSL(operand.Imm(16), above.As32())
	p.TZCNTL(above.As32(), above.As32())
	p.ADDQ(above, at)
	p.VMOVSS(reg.X2, operand.Mem{Base: d, Index: at, Scale: 4})
	p.MOVL(operand.Mem{Base: ids, Index: bit, Scale: 4}, bit.As32())
	p.MOVL(bit.As32(), operand.Mem{Base: list, Index: at, Scale: 4})
	p.VCMPPS(equal, reg.Z2, reg.Z3, reg.K4)
	p.KMOVW(reg.K4, above.As32())
	p.ORL(above.As32(), equals.As32())
	p.CMPQ(at, least)
	p.CMOVQLT(at, least)
	p.MOVL(operand.U32(infinity), operand.Mem{Base: d, Index: room, Scale: 4})
	p.CMPQ(n, room)
	p.ADCQ(operand.Imm(0), n)
	p.Label("passed")
	p.BLSRL(bits.As32(), bits.As32())
	p.JNZ(operand.LabelRef("one"))

	p.Label("next")
	p.ADDQ(operand.Imm(64), x)
	p.ADDQ(operand.Imm(64), ids)
	p.SUBQ(operand.Imm(16), left)
	p.JGT(operand.LabelRef("chunk"))

	p.SHLQ(operand.Imm(24), least)
	p.ORQ(least, n)
	p.NEGL(equals.As32())
	p.SBBQ(equals, equals)
	p.SHRQ(operand.Imm(63), equals)
	p.SHLQ(operand.Imm(48), equals)
	p.ORQ(equals, n)
	p.Store(n, p.ReturnIndex(0))
	p.VZEROUPPER()
	p.RET()

	p.Label("odd")
	p.MOVQ(operand.I32(-1), n)
	p.Store(n, p.ReturnIndex(0))
	p.VZEROUPPER()
	p.RET()
}
