package main

import (
	"go/types"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var bytesAt = types.NewPointer(types.Typ[types.Uint8])

// writeRaBitQ writes the kernels of vectors in a bit a dimension.
func writeRaBitQ(p *program) {
	writeRaBitQLeft(p)
	writeRaBitQQuantise(p, "rabitqRoundUpAVX512", false)
	writeRaBitQQuantise(p, "rabitqRoundAwayAVX512", true)
	writeRaBitQPlanes(p)
	writeRaBitQScan(p, "rabitqScan4AVX512", 4, false)
	writeRaBitQScan(p, "rabitqScan8AVX512", 8, false)
	writeRaBitQScan(p, "rabitqCounted4AVX512", 4, true)
	writeRaBitQScan(p, "rabitqCounted8AVX512", 8, true)
	writeRaBitQLanes(p)
	writeRaBitQTurns(p)
}

// sixteen sets the lowest bits of a mask, as many as a register counts, 16 at the most; label is one that nobody else has.
func (p *program) sixteen(k reg.OpmaskPhysical, count, scratch reg.GPPhysical, label string) {
	p.MOVL(operand.U32(0xffff), scratch.As32())
	p.CMPQ(count, operand.Imm(16))
	p.JGE(operand.LabelRef(label))
	p.BZHIL(count.As32(), scratch.As32(), scratch.As32())
	p.Label(label)
	p.KMOVW(scratch.As32(), k)
}

// writeRaBitQLeft writes what is left of a query without a centroid, and the least and the greatest of it.
func writeRaBitQLeft(p *program) {
	p.function("rabitqLeftAVX512", nil, param{"query", float32s}, param{"centroid", float32s}, param{"left", float32s}, param{"ends", float32s}, param{"n", number})
	q, c, left, ends, n, scratch := reg.RSI, reg.RDI, reg.RDX, reg.R8, reg.RCX, reg.RAX
	p.MOVQ(p.addr("query"), q)
	p.MOVQ(p.addr("centroid"), c)
	p.MOVQ(p.addr("left"), left)
	p.MOVQ(p.addr("ends"), ends)
	p.MOVQ(p.addr("n"), n)
	p.VBROADCASTSS(operand.Mem{Base: ends}, reg.Z0)
	p.VBROADCASTSS(operand.Mem{Base: ends, Disp: 4}, reg.Z1)
	step := func() {
		p.VSUBPS_Z(operand.Mem{Base: c}, reg.Z2, reg.K1, reg.Z2)
		p.VMOVUPS(reg.Z2, reg.K1, operand.Mem{Base: left})
		p.VMINPS(reg.Z2, reg.Z0, reg.K1, reg.Z0)
		p.VMAXPS(reg.Z2, reg.Z1, reg.K1, reg.Z1)
	}
	p.Label("some")
	p.sixteen(reg.K1, n, scratch, "all")
	p.VMOVUPS_Z(operand.Mem{Base: q}, reg.K1, reg.Z2)
	step()
	p.ADDQ(operand.Imm(64), q)
	p.ADDQ(operand.Imm(64), c)
	p.ADDQ(operand.Imm(64), left)
	p.SUBQ(operand.Imm(16), n)
	p.JGT(operand.LabelRef("some"))
	fold := func(z, y, x reg.VecPhysical, by func(a, b, to reg.VecPhysical)) {
		p.VEXTRACTF64X4(operand.Imm(1), z, reg.Y3)
		by(reg.Y3, y, y)
		p.VEXTRACTF128(operand.Imm(1), y, reg.X3)
		by(reg.X3, x, x)
		p.VPERMILPS(operand.Imm(0x4e), x, reg.X3)
		by(reg.X3, x, x)
		p.VPERMILPS(operand.Imm(0xb1), x, reg.X3)
		by(reg.X3, x, x)
	}
	fold(reg.Z0, reg.Y0, reg.X0, func(a, b, to reg.VecPhysical) { p.VMINPS(a, b, to) })
	fold(reg.Z1, reg.Y1, reg.X1, func(a, b, to reg.VecPhysical) { p.VMAXPS(a, b, to) })
	p.VMOVSS(reg.X0, operand.Mem{Base: ends})
	p.VMOVSS(reg.X1, operand.Mem{Base: ends, Disp: 4})
	p.VZEROUPPER()
	p.RET()
}

// writeRaBitQQuantise writes values of what is left, by numbers: where the range begins, what is multiplied by, the product of both, the
// greatest value; and returns their sum. Away: to the nearest, of two the greater, with the beginning taken off first; else a half is added, and
// that is so of the last dimensions alone, that are fewer than 16.
func writeRaBitQQuantise(p *program, name string, away bool) {
	p.function(name, types.Typ[types.Int64], param{"left", float32s}, param{"values", bytesAt}, param{"numbers", float32s}, param{"n", number})
	left, values, numbers, n, scratch := reg.RSI, reg.RDI, reg.RDX, reg.RCX, reg.RAX
	p.MOVQ(p.addr("left"), left)
	p.MOVQ(p.addr("values"), values)
	p.MOVQ(p.addr("numbers"), numbers)
	p.MOVQ(p.addr("n"), n)
	low, scale, product, most, half, zero, sum := reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14
	for i, z := range []reg.VecPhysical{low, scale, product, most} {
		p.VBROADCASTSS(operand.Mem{Base: numbers, Disp: 4 * i}, z)
	}
	p.MOVL(operand.U32(0x3f000000), scratch.As32())
	p.VPBROADCASTD(scratch.As32(), half)
	p.VPXORQ(zero, zero, zero)
	p.VPXORQ(sum, sum, sum)
	finish := func() {
		if away {
			p.VRNDSCALEPS(operand.Imm(9), reg.Z0, reg.Z1) // down
			p.VSUBPS(reg.Z1, reg.Z0, reg.Z0)
			p.VCMPPS(operand.U8(13), half, reg.Z0, reg.K2) // not less
			p.MOVL(operand.U32(0x3f800000), scratch.As32())
			p.VPBROADCASTD(scratch.As32(), reg.Z2)
			p.VADDPS(reg.Z2, reg.Z1, reg.K2, reg.Z1)
			p.VMAXPS(zero, reg.Z1, reg.Z0)
			p.VMINPS(most, reg.Z0, reg.Z0)
		} else {
			p.VMAXPS(zero, reg.Z0, reg.Z0)
			p.VMINPS(most, reg.Z0, reg.Z0)
			p.VADDPS(half, reg.Z0, reg.Z0)
		}
		p.VCVTTPS2DQ_Z(reg.Z0, reg.K1, reg.Z0)
		p.VPADDD(reg.Z0, sum, sum)
		p.VPMOVDB(reg.Z0, reg.K1, operand.Mem{Base: values})
	}
	p.Label("some")
	p.sixteen(reg.K1, n, scratch, "all")
	p.VMOVUPS_Z(operand.Mem{Base: left}, reg.K1, reg.Z0)
	if !away {
		p.CMPQ(n, operand.Imm(16))
		p.JL(operand.LabelRef("last"))
		p.VFMSUB213PS(product, scale, reg.Z0)
		p.JMP(operand.LabelRef("scaled"))
		p.Label("last")
	}
	p.VSUBPS(low, reg.Z0, reg.Z0)
	p.VMULPS(scale, reg.Z0, reg.Z0)
	if !away {
		p.Label("scaled")
	}
	finish()
	p.ADDQ(operand.Imm(64), left)
	p.ADDQ(operand.Imm(16), values)
	p.SUBQ(operand.Imm(16), n)
	p.JGT(operand.LabelRef("some"))
	p.VEXTRACTI64X4(operand.Imm(1), sum, reg.Y0)
	p.VPADDD(reg.Y0, reg.Y14, reg.Y0)
	p.VEXTRACTI128(operand.Imm(1), reg.Y0, reg.X1)
	p.VPADDD(reg.X1, reg.X0, reg.X0)
	p.VPSHUFD(operand.Imm(0x4e), reg.X0, reg.X1)
	p.VPADDD(reg.X1, reg.X0, reg.X0)
	p.VPSHUFD(operand.Imm(0xb1), reg.X0, reg.X1)
	p.VPADDD(reg.X1, reg.X0, reg.X0)
	p.VMOVD(reg.X0, scratch.As32())
	p.Store(scratch, p.ReturnIndex(0))
	p.VZEROUPPER()
	p.RET()
}

// writeRaBitQPlanes writes, of 64 values at a time, the planes of their bits, slots of 16 bytes for each 128 values.
func writeRaBitQPlanes(p *program) {
	p.function("rabitqPlanesAVX512", nil, param{"values", bytesAt}, param{"planes", bytesAt}, param{"chunks", number}, param{"slots", number})
	values, planes, chunks, slots, left, bit := reg.RSI, reg.RDI, reg.RCX, reg.RDX, reg.R8, reg.RAX
	p.MOVQ(p.addr("values"), values)
	p.MOVQ(p.addr("planes"), planes)
	p.MOVQ(p.addr("chunks"), chunks)
	p.MOVQ(p.addr("slots"), slots)
	p.Label("chunk")
	p.VMOVDQU64(operand.Mem{Base: values}, reg.Z0)
	p.VMOVDQU64(operand.Mem{Base: values, Disp: 64}, reg.Z1)
	p.MOVL(operand.U32(0x01010101), bit.As32())
	p.VPBROADCASTD(bit.As32(), reg.Z2)
	p.MOVQ(slots, left)
	p.Label("plane")
	p.VPTESTMB(reg.Z2, reg.Z0, reg.K1)
	p.VPTESTMB(reg.Z2, reg.Z1, reg.K2)
	p.KMOVQ(reg.K1, operand.Mem{Base: planes})
	p.KMOVQ(reg.K2, operand.Mem{Base: planes, Disp: 8})
	p.VPADDB(reg.Z2, reg.Z2, reg.Z2)
	p.ADDQ(operand.Imm(16), planes)
	p.DECQ(left)
	p.JNZ(operand.LabelRef("plane"))
	p.SUBQ(operand.I32(-128), values)
	p.DECQ(chunks)
	p.JNZ(operand.LabelRef("chunk"))
	p.VZEROUPPER()
	p.RET()
}

// writeRaBitQScan writes distances but for the last step of their metric: 16 bytes of a row's signs at a time meet a register of four planes, or
// two. Counted: how many signs are set is behind the row's two numbers; else they are counted.
func writeRaBitQScan(p *program, name string, slots int, counted bool) {
	p.function(name, nil, param{"planes", bytesAt}, param{"x", pointer}, param{"stride", word}, param{"factors", float32s}, param{"signs", number}, param{"out", float32s}, param{"count", number})
	planes, x, stride, factors, out, count := reg.RSI, reg.RDI, reg.RDX, reg.R8, reg.R9, reg.RCX
	whole, rest, at, left, own, n := reg.R10, reg.R11, reg.RAX, reg.R12, reg.R13, reg.RBX
	p.MOVQ(p.addr("planes"), planes)
	p.MOVQ(p.addr("x"), x)
	p.MOVQ(p.addr("stride"), stride)
	p.MOVQ(p.addr("factors"), factors)
	p.MOVQ(p.addr("signs"), whole)
	p.MOVQ(p.addr("out"), out)
	p.MOVQ(p.addr("count"), count)
	p.MOVQ(whole, rest)
	p.SHRQ(operand.Imm(4), whole)
	p.ANDQ(operand.Imm(15), rest)
	p.sixteen(reg.K1, rest, at, "fewer")
	shifts := []reg.VecPhysical{reg.Z14, reg.Z15}
	for i, bits := range []uint64{0x0303020201010000, 0x0707060605050404} {
		p.MOVQ(operand.U64(bits), at)
		p.VMOVQ(at, reg.X0)
		p.VPMOVZXBQ(reg.X0, shifts[i])
	}
	for i, v := range []reg.VecPhysical{reg.X8, reg.X9, reg.X10, reg.X11} {
		p.VMOVSS(operand.Mem{Base: factors, Disp: 4 * i}, v)
	}
	halves := slots / 4
	meet := func() {
		if !counted {
			p.VPOPCNTQ(reg.Z4, reg.Z5)
			p.VPADDQ(reg.X5, reg.X2, reg.X2)
		}
		for h := range halves {
			p.VPANDQ(operand.Mem{Base: own, Disp: 64 * h}, reg.Z4, zmm[6+h])
			p.VPOPCNTQ(zmm[6+h], zmm[6+h])
			p.VPADDQ(zmm[6+h], zmm[h], zmm[h])
		}
	}
	p.Label("row")
	for i := range 3 {
		p.VPXOR(xmm[i], xmm[i], xmm[i])
	}
	p.MOVQ(planes, own)
	p.MOVQ(x, at)
	p.MOVQ(whole, left)
	p.TESTQ(left, left)
	p.JZ(operand.LabelRef("tail"))
	p.Label("chunk")
	p.VBROADCASTI32X4(operand.Mem{Base: at}, reg.Z4)
	meet()
	p.ADDQ(operand.Imm(16), at)
	p.ADDQ(operand.U32(uint32(16*slots)), own)
	p.DECQ(left)
	p.JNZ(operand.LabelRef("chunk"))
	p.Label("tail")
	p.TESTQ(rest, rest)
	p.JZ(operand.LabelRef("met"))
	p.VMOVDQU8_Z(operand.Mem{Base: at}, reg.K1, reg.X4)
	p.VSHUFI64X2(operand.Imm(0), reg.Z4, reg.Z4, reg.Z4)
	meet()
	p.ADDQ(rest, at)
	p.Label("met")
	for h := range halves {
		p.VPSLLVQ(shifts[h], zmm[h], zmm[h])
	}
	if halves == 2 {
		p.VPADDQ(reg.Z1, reg.Z0, reg.Z0)
	}
	p.VEXTRACTI64X4(operand.Imm(1), reg.Z0, reg.Y1)
	p.VPADDQ(reg.Y1, reg.Y0, reg.Y0)
	p.VEXTRACTI128(operand.Imm(1), reg.Y0, reg.X1)
	p.VPADDQ(reg.X1, reg.X0, reg.X0)
	number := func(v, scratch, to reg.VecPhysical) {
		p.VPSRLDQ(operand.Imm(8), v, scratch)
		p.VPADDQ(scratch, v, v)
		p.VMOVQ(v, n)
		p.VXORPS(to, to, to)
		p.VCVTSI2SSQ(n, to, to)
	}
	number(reg.X0, reg.X1, reg.X3)
	p.VMULSS(reg.X8, reg.X3, reg.X3)
	if counted {
		p.VMULSS(operand.Mem{Base: at, Disp: 8}, reg.X9, reg.X4)
	} else {
		number(reg.X2, reg.X1, reg.X4)
		p.VMULSS(reg.X9, reg.X4, reg.X4)
	}
	p.VADDSS(reg.X4, reg.X3, reg.X3)
	p.VSUBSS(reg.X10, reg.X3, reg.X3)
	p.VADDSS(operand.Mem{Base: at}, reg.X11, reg.X5)
	p.VMOVSS(operand.Mem{Base: at, Disp: 4}, reg.X6)
	p.VADDSS(reg.X6, reg.X6, reg.X6)
	p.VMULSS(reg.X3, reg.X6, reg.X6)
	p.VSUBSS(reg.X6, reg.X5, reg.X5)
	p.VMOVSS(reg.X5, operand.Mem{Base: out})
	p.ADDQ(operand.Imm(4), out)
	p.ADDQ(stride, x)
	p.DECQ(count)
	p.JNZ(operand.LabelRef("row"))
	p.VZEROUPPER()
	p.RET()
}

// writeRaBitQLanes writes sums of those of left whose signs are set in 16 lanes, of four rows at a time. Behind left are zeros, and behind the signs
// of a row its numbers.
func writeRaBitQLanes(p *program) {
	p.function("rabitqLanesAVX512", nil, param{"left", float32s}, param{"x", pointer}, param{"stride", word}, param{"out", float32s}, param{"count", number}, param{"words", number})
	left, x, stride, out, count, words := reg.RSI, reg.RDI, reg.RDX, reg.R9, reg.RCX, reg.R8
	index, own := reg.RAX, reg.RBX
	rows := []reg.GPPhysical{reg.R10, reg.R11, reg.R12, reg.R13}
	masks := []reg.OpmaskPhysical{reg.K1, reg.K2, reg.K3, reg.K4}
	p.MOVQ(p.addr("left"), left)
	p.MOVQ(p.addr("x"), x)
	p.MOVQ(p.addr("stride"), stride)
	p.MOVQ(p.addr("out"), out)
	p.MOVQ(p.addr("count"), count)
	p.MOVQ(p.addr("words"), words)
	sums := func(some int, name string) {
		p.MOVQ(x, rows[0])
		for r := 1; r < some; r++ {
			p.LEAQ(operand.Mem{Base: rows[r-1], Index: stride, Scale: 1}, rows[r])
		}
		for r := range some {
			p.VPXORQ(zmm[r], zmm[r], zmm[r])
		}
		p.XORQ(index, index)
		p.MOVQ(left, own)
		p.Label(name)
		p.VMOVUPS(operand.Mem{Base: own}, reg.Z8)
		for r := range some {
			p.KMOVW(operand.Mem{Base: rows[r], Index: index, Scale: 2}, masks[r])
			p.VADDPS(reg.Z8, zmm[r], masks[r], zmm[r])
		}
		p.ADDQ(operand.Imm(64), own)
		p.INCQ(index)
		p.CMPQ(index, words)
		p.JLT(operand.LabelRef(name))
		for r := range some {
			p.VEXTRACTF64X4(operand.Imm(1), zmm[r], reg.Y9)
			p.VADDPS(reg.Y9, ymm[r], ymm[r])
			p.VEXTRACTF128(operand.Imm(1), ymm[r], reg.X9)
			p.VADDPS(reg.X9, xmm[r], xmm[r])
			p.VPERMILPS(operand.Imm(0x0e), xmm[r], reg.X9)
			p.VADDPS(reg.X9, xmm[r], xmm[r])
			p.VMOVSHDUP(xmm[r], reg.X9)
			p.VADDSS(reg.X9, xmm[r], xmm[r])
			p.VMOVSS(xmm[r], operand.Mem{Base: out, Disp: 4 * r})
		}
		p.LEAQ(operand.Mem{Base: rows[some-1], Index: stride, Scale: 1}, x)
		p.ADDQ(operand.Imm(uint64(4*some)), out)
	}
	p.Label("four")
	p.SUBQ(operand.Imm(4), count)
	p.JL(operand.LabelRef("rest"))
	sums(4, "words")
	p.JMP(operand.LabelRef("four"))
	p.Label("rest")
	p.ADDQ(operand.Imm(4), count)
	p.JZ(operand.LabelRef("done"))
	p.Label("one")
	sums(1, "words_of_one")
	p.DECQ(count)
	p.JNZ(operand.LabelRef("one"))
	p.Label("done")
	p.VZEROUPPER()
	p.RET()
}

// writeRaBitQTurns writes such sums one after the other, of 16 rows at a time, each in a lane: their signs of 32 dimensions are gathered.
func writeRaBitQTurns(p *program) {
	p.function("rabitqTurnsAVX512", nil, param{"left", float32s}, param{"x", pointer}, param{"stride", word}, param{"out", float32s}, param{"count", number}, param{"words", number})
	left, x, stride, out, count, words := reg.RSI, reg.RDI, reg.RDX, reg.R9, reg.RCX, reg.R8
	at, own, todo, scratch := reg.RAX, reg.RBX, reg.R10, reg.R11
	p.MOVQ(p.addr("left"), left)
	p.MOVQ(p.addr("x"), x)
	p.MOVQ(p.addr("stride"), stride)
	p.MOVQ(p.addr("out"), out)
	p.MOVQ(p.addr("count"), count)
	p.MOVQ(p.addr("words"), words)
	ones, places := reg.Z15, reg.Z14
	p.MOVL(operand.U32(1), scratch.As32())
	p.VPBROADCASTD(scratch.As32(), ones)
	p.MOVQ(operand.U64(0x0706050403020100), scratch)
	p.VMOVQ(scratch, reg.X0)
	p.MOVQ(operand.U64(0x0f0e0d0c0b0a0908), scratch)
	p.VPINSRQ(operand.Imm(1), scratch, reg.X0, reg.X0)
	p.VPMOVZXBD(reg.X0, places)
	p.VPBROADCASTD(stride.As32(), reg.Z1)
	p.VPMULLD(reg.Z1, places, places)
	p.Label("rows")
	p.sixteen(reg.K1, count, scratch, "some")
	p.VPXORQ(reg.Z0, reg.Z0, reg.Z0)
	p.MOVQ(x, at)
	p.MOVQ(left, own)
	p.MOVQ(words, todo)
	p.Label("word")
	p.KMOVW(reg.K1, reg.K2)
	p.VPXORQ(reg.Z2, reg.Z2, reg.Z2)
	p.VPGATHERDD(operand.Mem{Base: at, Index: places, Scale: 1}, reg.K2, reg.Z2)
	for i := range 32 {
		p.VPTESTMD(ones, reg.Z2, reg.K3)
		p.VADDPS_BCST(operand.Mem{Base: own, Disp: 4 * i}, reg.Z0, reg.K3, reg.Z0)
		p.VPSRLD(operand.Imm(1), reg.Z2, reg.Z2)
	}
	p.ADDQ(operand.Imm(4), at)
	p.SUBQ(operand.I32(-128), own)
	p.DECQ(todo)
	p.JNZ(operand.LabelRef("word"))
	p.VMOVUPS(reg.Z0, reg.K1, operand.Mem{Base: out})
	p.ADDQ(operand.Imm(64), out)
	p.MOVQ(stride, scratch)
	p.SHLQ(operand.Imm(4), scratch)
	p.ADDQ(scratch, x)
	p.SUBQ(operand.Imm(16), count)
	p.JGT(operand.LabelRef("rows"))
	p.VZEROUPPER()
	p.RET()
}
