package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sieve is a kernel that tells which rows of 8-bit codes pass a cut (package dist, sieve.go): codes lie in groups of 16 rows, four
// elements of each by turns, so that a lane is a row and nothing has to be added up across lanes. A step takes four elements.
type sieve struct {
	*pairs
	queries, planes int // of 8 bits each
}

// sieveForm are the parameters: see sieveFunc of package dist.
var sieveForm = form{
	{"q", pointer},
	{"qStride", word},
	{"x", pointer},
	{"a", float32s},
	{"b", float32s},
	{"cut", pointer},
	{"out", pointer},
	{"outStride", number},
	{"words", number},
	{"quads", number},
}

// writeSieve writes the kernels.
func writeSieve(p *program) {
	f := &pairs{program: p}
	for _, s := range []sieve{{f, 1, 2}, {f, 4, 1}, {f, 2, 2}} {
		s.wide()
	}
	for _, vnni := range []bool{false, true} {
		narrowSieve{f, vnni}.write()
	}
}

// The registers of the wide kernels.
var (
	planesAt = [4]reg.GPPhysical{reg.RSI, reg.R8, reg.R9, reg.R10}
	firstRow = reg.R12 // the step in groups 0 and, at twice the pitch, 2
	nextRow  = reg.R14 // the same of 1 and 3
	pitch    = reg.R13 // bytes of a group
	fetched  = reg.R15 // what is prefetched
	bitsOut  = reg.R11
	ofA      = reg.RDI
	ofB      = reg.RDX
)

// sieveAhead is how many bytes beyond those in work are prefetched: single queries read rows from memory.
const sieveAhead = 8192

// dot adds to acc the products of unsigned bytes and signed ones, four to a lane (VPDPBUSD of AVX512_VNNI, which avo does not know).
func (f *pairs) dot(signed, unsigned, acc reg.VecPhysical) {
	ops := []operand.Op{signed, unsigned, acc}
	f.Instruction(&ir.Instruction{Opcode: "VPDPBUSD", Operands: ops, Inputs: ops, Outputs: ops[2:]})
}

// wide writes a kernel of AVX-512 with VNNI: accumulator g of plane p is Z16+4p+g.
func (s sieve) wide() {
	s.function(fmt.Sprintf("sieve%dx%dAVX512", s.queries, s.planes), nil, sieveForm...)
	s.sieveStart()
	s.Label("word")
	s.step()
	s.cut()
	s.ADDQ(operand.U32(256), ofA)
	s.ADDQ(operand.U32(256), ofB)
	s.ADDQ(operand.Imm(8), bitsOut)
	s.LEAQ(operand.Mem{Base: pitch, Index: pitch, Scale: 2}, reg.RAX)
	s.ADDQ(reg.RAX, firstRow)
	s.ADDQ(reg.RAX, nextRow)
	s.DECQ(left)
	s.JNZ(ref("word"))
	s.Label("done")
	s.VZEROUPPER()
	s.RET()
}

// sieveStart loads the registers.
func (s sieve) sieveStart() {
	s.arg("words", left)
	s.TESTQ(left, left)
	s.JLE(ref("done"))
	s.arg("quads", pitch)
	s.arg("q", planesAt[0])
	s.arg("qStride", reg.RAX)
	for i := 1; i < s.queries*s.planes; i++ {
		if i%s.planes == 0 {
			s.LEAQ(operand.Mem{Base: planesAt[i-s.planes], Index: reg.RAX, Scale: 1}, planesAt[i])
		} else {
			s.LEAQ(operand.Mem{Base: planesAt[i-1], Index: pitch, Scale: 4}, planesAt[i])
		}
	}
	s.SHLQ(operand.Imm(6), pitch)
	s.arg("x", firstRow)
	s.LEAQ(operand.Mem{Base: firstRow, Index: pitch, Scale: 1}, nextRow)
	s.LEAQ(operand.Mem{Base: firstRow, Disp: sieveAhead}, fetched)
	s.arg("a", ofA)
	s.arg("b", ofB)
	s.arg("out", bitsOut)
}

// step adds up 64 rows, four elements at a time.
func (s sieve) step() {
	planes := s.queries * s.planes
	for k := range 4 * planes {
		s.VPXORD(zmm[16+k], zmm[16+k], zmm[16+k])
	}
	s.arg("quads", reg.RBX)
	s.SHLQ(operand.Imm(2), reg.RBX)
	s.XORQ(reg.RAX, reg.RAX)
	s.Label("step")
	for g, at := range []operand.Mem{
		{Base: firstRow}, {Base: nextRow}, {Base: firstRow, Index: pitch, Scale: 2}, {Base: nextRow, Index: pitch, Scale: 2},
	} {
		s.VMOVDQU64(at, zmm[g])
		if s.queries == 1 {
			s.PREFETCHT0(operand.Mem{Base: fetched, Disp: 64 * g})
		}
	}
	for p := range planes {
		s.VPBROADCASTD(operand.Mem{Base: planesAt[p], Index: reg.RAX, Scale: 1}, zmm[4+p])
		for g := range 4 {
			s.dot(zmm[4+p], zmm[g], zmm[16+4*p+g])
		}
	}
	s.ADDQ(operand.Imm(64), firstRow)
	s.ADDQ(operand.Imm(64), nextRow)
	s.ADDQ(operand.U32(256), fetched)
	s.ADDQ(operand.Imm(4), reg.RAX)
	s.CMPQ(reg.RAX, reg.RBX)
	s.JLT(ref("step"))
}

// cut compares the sums of each query with its cut and stores a bit a row.
func (s sieve) cut() {
	s.arg("cut", reg.RBX)
	s.arg("outStride", reg.RAX)
	s.SHLQ(operand.Imm(3), reg.RAX)
	for q := range s.queries {
		for i := range 4 {
			s.VBROADCASTSS(operand.Mem{Base: reg.RBX, Disp: 4 * i}, zmm[i])
		}
		s.VPBROADCASTD(operand.Mem{Base: reg.RBX, Disp: 16}, reg.Z4)
		for g := range 4 {
			sum := zmm[16+4*q*s.planes+g]
			if s.planes == 2 {
				s.VPSLLD(operand.Imm(8), sum, sum)
				s.VPADDD(zmm[16+4*q*s.planes+4+g], sum, sum)
			}
			s.VPSUBD(reg.Z4, sum, sum)
			s.VCVTDQ2PS(sum, sum)
			s.VMULPS(reg.Z0, sum, sum)
			s.VMOVAPS(reg.Z1, reg.Z5)
			s.VFMADD231PS(operand.Mem{Base: ofA, Disp: 64 * g}, reg.Z2, reg.Z5)
			s.VFMADD231PS(operand.Mem{Base: ofB, Disp: 64 * g}, reg.Z3, reg.Z5)
			s.VCMPPS(operand.Imm(notLessOrEqual), reg.Z5, sum, []reg.Register{reg.K1, reg.K2, reg.K3, reg.K4}[g])
		}
		s.KUNPCKWD(reg.K1, reg.K2, reg.K1)
		s.KUNPCKWD(reg.K3, reg.K4, reg.K3)
		s.KUNPCKDQ(reg.K1, reg.K3, reg.K1)
		s.KMOVQ(reg.K1, operand.Mem{Base: bitsOut})
		s.ADDQ(reg.RAX, bitsOut)
		s.ADDQ(operand.Imm(32), reg.RBX)
	}
	for range s.queries {
		s.SUBQ(reg.RAX, bitsOut)
	}
}

// notLessOrEqual is the predicate NLE_UQ of VCMPPS: true of NaN.
const notLessOrEqual = 0x16

// narrowSieve is the kernel of one query with 256 bits: VPDPBUSD of AVX-VNNI over two planes, or without it VPMADDWD over a query of
// 16 bits.
type narrowSieve struct {
	*pairs
	vnni bool
}

func (s narrowSieve) write() {
	name := "sieveAVX2"
	if s.vnni {
		name = "sieveAVXVNNI"
	}
	s.function(name, nil, sieveForm...)
	s.arg("words", left)
	s.TESTQ(left, left)
	s.JLE(ref("done"))
	s.arg("x", firstRow)
	s.arg("a", ofA)
	s.arg("b", ofB)
	s.arg("out", bitsOut)
	s.arg("cut", reg.R8)
	s.Label("word")
	s.XORQ(reg.R9, reg.R9) // groups done, times 16
	s.XORQ(reg.R10, reg.R10)
	s.Label("group")
	s.sums()
	s.group()
	s.ADDQ(operand.Imm(64), ofA)
	s.ADDQ(operand.Imm(64), ofB)
	s.ADDQ(operand.Imm(16), reg.R9)
	s.CMPQ(reg.R9, operand.Imm(64))
	s.JLT(ref("group"))
	s.MOVQ(reg.R10, operand.Mem{Base: bitsOut})
	s.ADDQ(operand.Imm(8), bitsOut)
	s.DECQ(left)
	s.JNZ(ref("word"))
	s.Label("done")
	s.VZEROUPPER()
	s.RET()
}

// sums leaves those of 16 rows in Y0 and Y1.
func (s narrowSieve) sums() {
	for k := range 4 {
		s.VPXOR(ymm[k], ymm[k], ymm[k])
	}
	s.arg("q", query)
	s.arg("quads", reg.RBX)
	s.LEAQ(operand.Mem{Base: query, Index: reg.RBX, Scale: 4}, reg.R13) // the other plane
	s.Label("step")
	s.PREFETCHT0(operand.Mem{Base: firstRow, Disp: sieveAhead / 2})
	if s.vnni {
		s.VMOVDQU(operand.Mem{Base: firstRow}, reg.Y4)
		s.VMOVDQU(operand.Mem{Base: firstRow, Disp: 32}, reg.Y5)
		s.VPBROADCASTD(operand.Mem{Base: query}, reg.Y6)
		s.VPBROADCASTD(operand.Mem{Base: reg.R13}, reg.Y7)
		s.vex(6, 4, 0)
		s.vex(6, 5, 1)
		s.vex(7, 4, 2)
		s.vex(7, 5, 3)
		s.ADDQ(operand.Imm(4), query)
		s.ADDQ(operand.Imm(4), reg.R13)
	} else {
		s.VPBROADCASTQ(operand.Mem{Base: query}, reg.Y4)
		for k := range 4 {
			s.VPMOVZXBW(operand.Mem{Base: firstRow, Disp: 16 * k}, ymm[5+k])
			s.VPMADDWD(reg.Y4, ymm[5+k], ymm[5+k])
			s.VPADDD(ymm[5+k], ymm[k], ymm[k])
		}
		s.ADDQ(operand.Imm(8), query)
	}
	s.ADDQ(operand.Imm(64), firstRow)
	s.DECQ(reg.RBX)
	s.JNZ(ref("step"))
	if s.vnni {
		for k := range 2 {
			s.VPSLLD(operand.Imm(8), ymm[k], ymm[k])
			s.VPADDD(ymm[2+k], ymm[k], ymm[k])
		}
		return
	}
	for k := range 2 {
		s.VPHADDD(ymm[2*k+1], ymm[2*k], ymm[k])
		s.VPERMQ(operand.Imm(0xd8), ymm[k], ymm[k])
	}
}

// vex is VPDPBUSD of the registers with these numbers below 16 in its VEX form, which Go's assembler does not write.
func (f *pairs) vex(signed, unsigned, acc int) {
	first := byte(0xe2) // no register from 8 on but in the second place
	if acc > 7 {
		first &^= 0x80
	}
	if signed > 7 {
		first &^= 0x20
	}
	for _, b := range []byte{0xc4, first, byte(^unsigned&15)<<3 | 5, 0x50, 0xc0 | byte(acc&7)<<3 | byte(signed&7)} {
		f.Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []operand.Op{operand.U8(b)}})
	}
}

// group compares the sums of 16 rows and puts their bits into R10 at R9.
func (s narrowSieve) group() {
	for k := range 2 {
		s.VPBROADCASTD(operand.Mem{Base: reg.R8, Disp: 16}, reg.Y4)
		s.VPSUBD(reg.Y4, ymm[k], ymm[k])
		s.VCVTDQ2PS(ymm[k], ymm[k])
		for i := range 4 {
			s.VBROADCASTSS(operand.Mem{Base: reg.R8, Disp: 4 * i}, ymm[4+i])
		}
		s.VMULPS(reg.Y4, ymm[k], ymm[k])
		s.VFMADD231PS(operand.Mem{Base: ofA, Disp: 32 * k}, reg.Y6, reg.Y5)
		s.VFMADD231PS(operand.Mem{Base: ofB, Disp: 32 * k}, reg.Y7, reg.Y5)
		s.VCMPPS(operand.Imm(notLessOrEqual), reg.Y5, ymm[k], ymm[k])
	}
	s.VMOVMSKPS(reg.Y0, reg.EAX)
	s.VMOVMSKPS(reg.Y1, reg.EBX)
	s.SHLL(operand.Imm(8), reg.EBX)
	s.ORL(reg.EBX, reg.EAX)
	s.MOVQ(left, reg.RBX) // a shift takes its count from RCX
	s.MOVQ(reg.R9, reg.RCX)
	s.SHLQ(reg.CL, reg.RAX)
	s.MOVQ(reg.RBX, left)
	s.ORQ(reg.RAX, reg.R10)
}
