package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// half is one float16 or bfloat16 kernel: see halfOrder of package dist for lanes and accs.
// A main loop takes 32 elements, one cache line of each row; then come whole blocks of lanes,
// then what is left, filled up with zeros.
type half struct {
	*pairs
	bf    bool // bfloat16
	l2    bool
	lanes int
	accs  int
	wide  bool // AVX-512 registers and masks
}

// writeHalf writes the float16 and bfloat16 kernels.
func writeHalf(p *program) {
	f := &pairs{program: p}
	masks := f.tailMasks()
	for _, wide := range []bool{true, false} {
		for _, bf := range []bool{false, true} {
			for _, l2 := range []bool{true, false} {
				accs := 2
				if !bf && !l2 {
					accs = 1
				}
				orders := []half{{lanes: 16, accs: accs}}
				if !wide {
					orders = append(orders, half{lanes: 8, accs: 1})
					if bf {
						orders = append(orders, half{lanes: 4, accs: 1})
					}
				}
				for _, h := range orders {
					h.pairs, h.wide, h.bf, h.l2 = f, wide, bf, l2
					h.kernels(masks)
				}
				if accs == 2 { // that of scalar quantisers, over codes of a graph
					h := half{pairs: f, wide: wide, bf: bf, l2: l2, lanes: 16, accs: 1}
					h.gatherKernel(masks)
				}
			}
		}
	}
}

// tailMasks is eight words of ones and eight of zeros: from word 8-n on, a mask of n lanes.
func (f *pairs) tailMasks() operand.Mem {
	m := f.StaticGlobal("halfTailMasks")
	f.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		v := uint32(0xffffffff)
		if i >= 8 {
			v = 0
		}
		f.AddDatum(4*i, operand.U32(v))
	}
	return m
}

// name is element, metric, form, lanes and accumulators, instruction set.
func (h half) name(form string) string {
	element, metric, isa := "float16", "IP", "AVX2"
	if h.bf {
		element = "bfloat16"
	}
	if h.l2 {
		metric = "L2"
	}
	if h.wide {
		isa = "AVX512"
	}
	return fmt.Sprintf("%s%s%s%dx%d%s", element, metric, form, h.lanes, h.accs, isa)
}

// registers is how many vector registers hold one accumulator.
func (h half) registers() int {
	if h.wide || h.lanes < 16 {
		return 1
	}
	return 2
}

func (h half) kernels(masks operand.Mem) {
	width := 4
	if !h.wide && h.lanes == 16 && h.accs == 2 {
		width = 2
	}
	// Memory gives a scan of two rows at a time more than one of four.
	scanWidth := width
	if h.accs == 2 {
		scanWidth = 2
	}
	prologue := func() {
		if h.wide {
			h.tailMask(15)
		}
	}
	do := func(n int) { h.rows(n, masks) }
	h.scan(h.name("Scan"), scanWidth, prologue, do)
	h.gather(h.name("Gather"), width, prologue, do)
	if h.wide {
		h.block()
	}
}

// gatherKernel is that alone.
func (h half) gatherKernel(masks operand.Mem) {
	h.gather(h.name("Gather"), 4, func() {
		if h.wide {
			h.tailMask(15)
		}
	}, func(n int) { h.rows(n, masks) })
}

// tailMask sets K1 to the elements of the last, incomplete block; low is the block size less one.
func (f *pairs) tailMask(low int) {
	f.arg("n", reg.RCX)
	f.ANDQ(operand.I32(int32(low)), reg.RCX)
	f.MOVQ(operand.U32(1), reg.RAX)
	f.SHLQ(reg.CL, reg.RAX)
	f.DECQ(reg.RAX)
	f.KMOVQ(reg.RAX, reg.K1)
}

// acc is part i of accumulator a of row r.
func (h half) acc(n, r, a, i int) reg.VecPhysical {
	k := (a*n+r)*h.registers() + i
	return h.vec(k)
}

// vec is vector register k in the size of this kernel.
func (h half) vec(k int) reg.VecPhysical {
	switch {
	case h.wide:
		return zmm[k]
	case h.lanes == 4:
		return xmm[k]
	}
	return ymm[k]
}

// part is how many elements one register takes.
func (h half) part() int { return h.lanes / h.registers() }

// rows computes n distances; registers from 12 (24 of AVX-512) on are scratch.
func (h half) rows(n int, masks operand.Mem) {
	for k := range n * h.accs * h.registers() {
		h.VXORPS(xmm[k], xmm[k], xmm[k])
	}
	main, rest, tail, done := h.label("main"), h.label("rest"), h.label("tail"), h.label("done")
	h.XORQ(index, index)
	h.arg("n", limit)
	h.ANDQ(operand.I32(-32), limit)
	h.JZ(ref(rest + "_sum"))
	h.Label(main)
	h.prefetch(n, 2)
	for k := 0; k < 32; k += h.lanes {
		h.blockOfLanes(n, k, k/h.lanes%h.accs)
	}
	h.ADDQ(operand.Imm(32), index)
	h.CMPQ(index, limit)
	h.JLT(ref(main))
	h.Label(rest + "_sum")
	if h.accs == 2 {
		for r := range n {
			for i := range h.registers() {
				h.VADDPS(h.acc(n, r, 1, i), h.acc(n, r, 0, i), h.acc(n, r, 0, i))
			}
		}
	}
	h.arg("n", limit)
	h.SUBQ(index, limit)
	h.Label(rest)
	h.CMPQ(limit, operand.Imm(uint64(h.lanes)))
	h.JLT(ref(tail))
	h.blockOfLanes(n, 0, 0)
	h.ADDQ(operand.Imm(uint64(h.lanes)), index)
	h.SUBQ(operand.Imm(uint64(h.lanes)), limit)
	h.JMP(ref(rest))
	h.Label(tail)
	h.TESTQ(limit, limit)
	h.JZ(ref(done))
	if h.wide {
		h.maskedTail(n)
	} else {
		h.assembledTail(n, masks)
	}
	h.Label(done)
	h.reduce(n)
}

// blockOfLanes adds lanes terms, which start disp elements after index, to accumulator a.
func (h half) blockOfLanes(n, disp, a int) {
	for i := range h.registers() {
		d := disp + i*h.part()
		var q operand.Op = atIndex(query, 4, 4*d)
		if n > 1 {
			h.VMOVUPS(q, h.scratch(5))
			q = h.scratch(5)
		}
		for r := range n {
			t := h.scratch(r)
			h.load(atIndex(rows4[r], 2, 2*d), t)
			h.term(q, t, h.acc(n, r, a, i))
		}
	}
}

// scratch is a register for the elements of row r, or for others: 4 to 7.
func (h half) scratch(r int) reg.VecPhysical {
	if h.wide {
		return zmm[24+r]
	}
	return h.vec(8 + r)
}

// load widens as many elements as a register takes.
func (h half) load(from operand.Op, to reg.VecPhysical) {
	if !h.bf {
		h.VCVTPH2PS(from, to)
		return
	}
	h.VPMOVZXWD(from, to)
	h.VPSLLD(operand.Imm(16), to, to)
}

// term adds to acc the product of q and x, or the square of their difference; x is lost.
func (h half) term(q operand.Op, x, acc reg.VecPhysical) {
	if h.l2 {
		h.VSUBPS(q, x, x)
		q = x
	}
	if h.lanes == 4 {
		h.VMULPS(q, x, x)
		h.VADDPS(x, acc, acc)
		return
	}
	h.VFMADD231PS(q, x, acc)
}

// maskedTail adds the terms that K1 names. Masked loads touch no byte that the mask leaves out.
func (h half) maskedTail(n int) {
	h.VMOVUPS_Z(atIndex(query, 4, 0), reg.K1, reg.Z31)
	for r := range n {
		h.maskedLoad(atIndex(rows4[r], 2, 0), zmm[24+r])
		h.term(reg.Z31, zmm[24+r], h.acc(n, r, 0, 0))
	}
}

func (h half) maskedLoad(from operand.Op, to reg.VecPhysical) {
	if !h.bf {
		h.VCVTPH2PS_Z(from, reg.K1, to)
		return
	}
	h.VPMOVZXWD_Z(from, reg.K1, to)
	h.VPSLLD(operand.Imm(16), to, to)
}

// assembledTail adds the last limit terms, fewer than lanes, without AVX-512's masks.
func (h half) assembledTail(n int, masks operand.Mem) {
	if h.lanes == 16 {
		few, end := h.label("few"), h.label("end")
		h.CMPQ(limit, operand.Imm(8))
		h.JLT(ref(few))
		h.LEAQ(atIndex(query, 4, 0), next4[1])
		for r := range n {
			h.load(atIndex(rows4[r], 2, 0), h.vec(8+r))
			h.term(direct(next4[1], 0), h.vec(8+r), h.acc(n, r, 0, 0))
		}
		h.ADDQ(operand.Imm(8), index)
		h.SUBQ(operand.Imm(8), limit)
		h.partOfLanes(n, 1, masks)
		h.JMP(ref(end))
		h.Label(few)
		h.partOfLanes(n, 0, masks)
		// The other lanes get their zeros too: they turn -0 into +0.
		h.VXORPS(reg.X12, reg.X12, reg.X12)
		for r := range n {
			h.VFMADD231PS(reg.Y12, reg.Y12, h.acc(n, r, 0, 1))
		}
		h.Label(end)
		return
	}
	h.partOfLanes(n, 0, masks)
}

// partOfLanes adds limit terms, 0 to 7, to part i of the first accumulators.
func (h half) partOfLanes(n, i int, masks operand.Mem) {
	h.LEAQ(masks, next4[1])
	h.MOVQ(limit, next4[2])
	h.NEGQ(next4[2])
	mask, q := h.vec(12), h.vec(13)
	h.VMOVUPS(operand.Mem{Base: next4[1], Index: next4[2], Scale: 4, Disp: 32}, mask)
	h.VMASKMOVPS(atIndex(query, 4, 0), mask, q)
	for r := range n {
		h.LEAQ(atIndex(rows4[r], 2, 0), next4[0])
		h.LEAQ(operand.Mem{Base: next4[0], Index: limit, Scale: 2}, next4[0])
		h.assemble(xmm[14], next4[0], 2)
		h.load(xmm[14], h.vec(8+r))
		h.term(q, h.vec(8+r), h.acc(n, r, 0, i))
	}
}

// assemble puts into x the last limit elements of size bytes before end, fewer than 16 bytes,
// and zeros behind them, without reading beyond them.
func (f *pairs) assemble(x reg.VecPhysical, end reg.Register, size int) {
	f.VPXOR(x, x, x)
	for bit := 1; bit*size < 16; bit *= 2 {
		skip := f.label("skip")
		f.TESTQ(operand.I32(int32(bit)), limit)
		f.JZ(ref(skip))
		bytes := bit * size
		f.SUBQ(operand.Imm(uint64(bytes)), end)
		if bit > 1 {
			f.VPSLLDQ(operand.Imm(uint64(bytes)), x, x)
		}
		switch bytes {
		case 1:
			f.VPINSRB(operand.Imm(0), direct(end, 0), x, x)
		case 2:
			f.VPINSRW(operand.Imm(0), direct(end, 0), x, x)
		case 4:
			f.VPINSRD(operand.Imm(0), direct(end, 0), x, x)
		case 8:
			f.VPINSRQ(operand.Imm(0), direct(end, 0), x, x)
		}
		f.Label(skip)
	}
}

// reduce adds up the lanes of the first accumulators of n rows, into the low lanes of X0.
func (h half) reduce(n int) {
	for r := range n {
		switch {
		case h.wide:
			h.narrow(r)
			continue
		case h.registers() == 2:
			// The sums of registers 2r and 2r+1 move down to r.
			h.VADDPS(ymm[2*r+1], ymm[2*r], ymm[r])
		}
		if h.lanes > 4 {
			h.VEXTRACTF128(operand.Imm(1), ymm[r], reg.X15)
			h.VADDPS(reg.X15, xmm[r], xmm[r])
		}
	}
	scratch := reg.X15
	if h.wide {
		scratch = reg.X31
	}
	h.foldFours(xmm[:n], scratch, h.lanes == 4)
}

// narrow adds up the upper and lower halves of sixteen lanes, then of eight.
func (f *pairs) narrow(k int) {
	f.VEXTRACTF64X4(operand.Imm(1), zmm[k], reg.Y31)
	f.VADDPS(reg.Y31, ymm[k], ymm[k])
	f.VEXTRACTF32X4(operand.Imm(1), ymm[k], reg.X31)
	f.VADDPS(reg.X31, xmm[k], xmm[k])
}

// foldFours adds up the four lanes of each of up to four registers: neighbours first,
// or as (x0+x2)+(x1+x3). The sums go to the low lanes of the first.
func (f *pairs) foldFours(x []reg.VecPhysical, scratch reg.VecPhysical, neighbours bool) {
	pair := func(a, b, to reg.VecPhysical) {
		if neighbours {
			f.VHADDPS(b, a, to)
			return
		}
		f.VUNPCKHPD(b, a, scratch)
		f.VUNPCKLPD(b, a, to)
		f.VADDPS(scratch, to, to)
	}
	last := x[0]
	switch len(x) {
	case 4:
		pair(x[0], x[1], x[0])
		pair(x[2], x[3], x[1])
		last = x[1]
	case 3:
		pair(x[0], x[1], x[0])
		pair(x[2], x[2], x[1])
		last = x[1]
	case 2:
		pair(x[0], x[1], x[0])
	case 1:
		pair(x[0], x[0], x[0])
	}
	f.VHADDPS(last, x[0], x[0])
}
