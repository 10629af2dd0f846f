package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// signed is one int8 kernel: elements become int16, products are added in pairs to int32,
// which VPMADDWD does without rounding or saturation for all that int8 can hold.
type signed struct {
	*pairs
	l2   bool
	wide bool // AVX-512
}

// writeInt8 writes the kernels.
func writeInt8(p *program) {
	f := &pairs{program: p}
	for _, wide := range []bool{true, false} {
		for _, l2 := range []bool{true, false} {
			s := signed{pairs: f, l2: l2, wide: wide}
			prologue := func() {
				if wide {
					f.tailMask(31)
				}
			}
			f.scan(s.name("Scan"), 4, prologue, s.rows)
			f.gather(s.name("Gather"), 4, prologue, s.rows)
		}
	}
}

func (s signed) name(form string) string {
	metric, isa := "IP", "AVX2"
	if s.l2 {
		metric = "L2"
	}
	if s.wide {
		isa = "AVX512"
	}
	return fmt.Sprintf("int8%s%s%s", metric, form, isa)
}

// step is how many elements one register takes as int16.
func (s signed) step() int {
	if s.wide {
		return 32
	}
	return 16
}

func (s signed) vec(k int) reg.VecPhysical {
	if s.wide {
		return zmm[k]
	}
	return ymm[k]
}

// rows computes n distances: register r is the accumulator of row r.
func (s signed) rows(n int) {
	for k := range n {
		s.VPXOR(xmm[k], xmm[k], xmm[k])
	}
	main, rest, tail, done := s.label("main"), s.label("rest"), s.label("tail"), s.label("done")
	s.XORQ(index, index)
	s.arg("n", limit)
	s.ANDQ(operand.I32(-64), limit)
	s.JZ(ref(rest + "_after"))
	s.Label(main)
	s.prefetch(n, 1)
	for k := 0; k < 64; k += s.step() {
		s.terms(n, k)
	}
	s.ADDQ(operand.Imm(64), index)
	s.CMPQ(index, limit)
	s.JLT(ref(main))
	s.Label(rest + "_after")
	s.arg("n", limit)
	s.SUBQ(index, limit)
	s.Label(rest)
	s.CMPQ(limit, operand.Imm(uint64(s.step())))
	s.JLT(ref(tail))
	s.terms(n, 0)
	s.ADDQ(operand.Imm(uint64(s.step())), index)
	s.SUBQ(operand.Imm(uint64(s.step())), limit)
	s.JMP(ref(rest))
	s.Label(tail)
	s.TESTQ(limit, limit)
	s.JZ(ref(done))
	s.tail(n)
	s.Label(done)
	s.reduce(n)
}

// terms adds the terms of one register of elements, disp after index.
func (s signed) terms(n, disp int) {
	q := s.vec(13)
	s.VPMOVSXBW(atIndex(query, 1, disp), q)
	for r := range n {
		s.VPMOVSXBW(atIndex(rows4[r], 1, disp), s.vec(8+r))
		s.term(r)
	}
}

func (s signed) term(r int) {
	x := s.vec(8 + r)
	q := s.vec(13)
	if s.l2 {
		s.VPSUBW(q, x, x)
		q = x
	}
	s.VPMADDWD(q, x, x)
	s.VPADDD(x, s.vec(r), s.vec(r))
}

// tail adds the last limit terms, fewer than a register takes.
func (s signed) tail(n int) {
	if s.wide {
		s.VPMOVSXBW_Z(atIndex(query, 1, 0), reg.K1, reg.Z13)
		for r := range n {
			s.VPMOVSXBW_Z(atIndex(rows4[r], 1, 0), reg.K1, zmm[8+r])
			s.term(r)
		}
		return
	}
	s.part(query, 13)
	for r := range n {
		s.part(rows4[r], 8+r)
		s.term(r)
	}
}

// part widens the last limit elements at p, without reading beyond them.
func (s signed) part(p reg.Register, to int) {
	s.LEAQ(atIndex(p, 1, 0), next4[0])
	s.ADDQ(limit, next4[0])
	s.assemble(reg.X14, next4[0], 1)
	s.VPMOVSXBW(reg.X14, ymm[to])
}

// reduce adds up the lanes of n accumulators, as float32 in the low lanes of X0.
func (s signed) reduce(n int) {
	for r := range n {
		if s.wide {
			s.VEXTRACTI64X4(operand.Imm(1), zmm[r], reg.Y15)
			s.VPADDD(reg.Y15, ymm[r], ymm[r])
		}
		s.VEXTRACTI128(operand.Imm(1), ymm[r], reg.X15)
		s.VPADDD(reg.X15, xmm[r], xmm[r])
	}
	last := reg.X0
	if n == 4 {
		s.VPHADDD(reg.X1, reg.X0, reg.X0)
		s.VPHADDD(reg.X3, reg.X2, reg.X2)
		last = reg.X2
	} else {
		s.VPHADDD(reg.X0, reg.X0, reg.X0)
	}
	s.VPHADDD(last, reg.X0, reg.X0)
	s.VCVTDQ2PS(reg.X0, reg.X0)
}
