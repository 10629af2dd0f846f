package main

import "fmt"

// sieve writes a kernel that selects rows of 8-bit codes that pass a cut (see sieve.go of package dist). Codes
// are stored in groups of 16 rows, four elements of each row in turn, so a lane is a row and no sum crosses
// lanes. A step takes four elements.
type sieve struct {
	*file
	queries, planes int // queries of a kernel, and planes of 8 bits per query
}

// writeSieve writes all Sieve kernels of amd64.
func writeSieve(f *file) {
	for _, s := range []sieve{{f, 1, 2}, {f, 4, 1}, {f, 2, 2}} {
		s.wide()
	}
	f.narrowSieve()
}

// The registers of the wide kernels.
var (
	planesAt = [4]reg{si, r8, r9, r10}
	firstRow = r12 // current step in group 0 and, at twice the pitch, in group 2
	nextRow  = r14 // the same for groups 1 and 3
	pitch    = r13 // bytes per group
	fetched  = r15 // address to prefetch
	bitsOut  = r11
	ofA      = di
	ofB      = dx
)

// sieveAhead is the distance in bytes at which codes are prefetched, because single queries read rows from
// memory.
const sieveAhead = 8192

// wide writes a kernel for AVX-512 with VNNI. The accumulator of group g and plane p is Z16+4p+g.
func (s sieve) wide() {
	s.function(fmt.Sprintf("sieve%dx%dAVX512", s.queries, s.planes), sieveParams, 0)
	s.sieveStart()
	s.mark("word")
	s.step()
	s.cut()
	s.op("ADDQ", imm(256), ofA)
	s.op("ADDQ", imm(256), ofB)
	s.op("ADDQ", imm(8), bitsOut)
	s.op("LEAQ", memAt(pitch, pitch, 2, 0), ax)
	s.op("ADDQ", ax, firstRow)
	s.op("ADDQ", ax, nextRow)
	s.op("DECQ", count)
	s.op("JNZ", "word")
	s.mark("done")
	s.op("VZEROUPPER")
	s.op("RET")
}

// sieveStart loads the parameters into the registers.
func (s sieve) sieveStart() {
	s.load("words", count)
	s.op("TESTQ", count, count)
	s.op("JLE", "done")
	s.load("quads", pitch)
	s.load("q", planesAt[0])
	s.load("qStride", ax)
	for i := 1; i < s.queries*s.planes; i++ {
		if i%s.planes == 0 {
			s.op("LEAQ", memAt(planesAt[i-s.planes], ax, 1, 0), planesAt[i])
		} else {
			s.op("LEAQ", memAt(planesAt[i-1], pitch, 4, 0), planesAt[i])
		}
	}
	s.op("SHLQ", imm(6), pitch)
	s.load("x", firstRow)
	s.op("LEAQ", memAt(firstRow, pitch, 1, 0), nextRow)
	s.op("LEAQ", mem(firstRow, sieveAhead), fetched)
	s.load("a", ofA)
	s.load("b", ofB)
	s.load("out", bitsOut)
}

// step computes the sums of 64 rows, four elements at a time.
func (s sieve) step() {
	planes := s.queries * s.planes
	for k := range 4 * planes {
		s.op("VPXORD", z(16+k), z(16+k), z(16+k))
	}
	s.load("quads", bx)
	s.op("SHLQ", imm(2), bx)
	s.op("XORQ", ax, ax)
	s.mark("step")
	for g, at := range []string{
		mem(firstRow, 0), mem(nextRow, 0), memAt(firstRow, pitch, 2, 0), memAt(nextRow, pitch, 2, 0),
	} {
		s.op("VMOVDQU64", at, z(g))
		if s.queries == 1 {
			s.op("PREFETCHT0", mem(fetched, 64*g))
		}
	}
	for p := range planes {
		s.op("VPBROADCASTD", memAt(planesAt[p], ax, 1, 0), z(4+p))
		for g := range 4 {
			s.op("VPDPBUSD", z(4+p), z(g), z(16+4*p+g))
		}
	}
	s.op("ADDQ", imm(64), firstRow)
	s.op("ADDQ", imm(64), nextRow)
	s.op("ADDQ", imm(256), fetched)
	s.op("ADDQ", imm(4), ax)
	s.op("CMPQ", ax, bx)
	s.op("JLT", "step")
}

// cut compares the sums of each query with its cut and stores one bit per row.
func (s sieve) cut() {
	s.load("cut", bx)
	s.load("outStride", ax)
	s.op("SHLQ", imm(3), ax)
	for q := range s.queries {
		for i := range 4 {
			s.op("VBROADCASTSS", mem(bx, 4*i), z(i))
		}
		s.op("VPBROADCASTD", mem(bx, 16), z(4))
		for g := range 4 {
			sum := z(16 + 4*q*s.planes + g)
			if s.planes == 2 {
				s.op("VPSLLD", imm(8), sum, sum)
				s.op("VPADDD", z(16+4*q*s.planes+4+g), sum, sum)
			}
			s.op("VPSUBD", z(4), sum, sum)
			s.op("VCVTDQ2PS", sum, sum)
			s.op("VMULPS", z(0), sum, sum)
			s.op("VMOVAPS", z(1), z(5))
			s.op("VFMADD231PS", mem(ofA, 64*g), z(2), z(5))
			s.op("VFMADD231PS", mem(ofB, 64*g), z(3), z(5))
			s.op("VCMPPS", imm(notLessOrEqual), z(5), sum, fmt.Sprintf("K%d", 1+g))
		}
		s.op("KUNPCKWD", "K1", "K2", "K1")
		s.op("KUNPCKWD", "K3", "K4", "K3")
		s.op("KUNPCKDQ", "K1", "K3", "K1")
		s.op("KMOVQ", "K1", mem(bitsOut, 0))
		s.op("ADDQ", ax, bitsOut)
		s.op("ADDQ", imm(32), bx)
	}
	for range s.queries {
		s.op("SUBQ", ax, bitsOut)
	}
}

// notLessOrEqual is the predicate NLE_UQ of VCMPPS, which is true for NaN.
const notLessOrEqual = 0x16

// narrowSieve writes the kernel for one query with 256-bit vectors. It uses VPMADDWD on a query of 16 bits per
// element.
func (f *file) narrowSieve() {
	f.function("sieveAVX2", sieveParams, 0)
	f.load("words", count)
	f.op("TESTQ", count, count)
	f.op("JLE", "done")
	f.load("x", firstRow)
	f.load("a", ofA)
	f.load("b", ofB)
	f.load("out", bitsOut)
	f.load("cut", r8)
	f.mark("word")
	f.op("XORQ", r9, r9) // 16 times the number of finished groups
	f.op("XORQ", r10, r10)
	f.mark("group")
	f.sums()
	f.group()
	f.op("ADDQ", imm(64), ofA)
	f.op("ADDQ", imm(64), ofB)
	f.op("ADDQ", imm(16), r9)
	f.op("CMPQ", r9, imm(64))
	f.op("JLT", "group")
	f.op("MOVQ", r10, mem(bitsOut, 0))
	f.op("ADDQ", imm(8), bitsOut)
	f.op("DECQ", count)
	f.op("JNZ", "word")
	f.mark("done")
	f.op("VZEROUPPER")
	f.op("RET")
}

// sums writes the sums of 16 rows to Y0 and Y1.
func (f *file) sums() {
	f.zero(0, 4)
	f.load("q", query)
	f.load("quads", bx)
	f.mark("step")
	f.op("PREFETCHT0", mem(firstRow, sieveAhead/2))
	f.op("VPBROADCASTQ", mem(query, 0), y(4))
	for i := range 4 {
		f.op("VPMOVZXBW", mem(firstRow, 16*i), y(5+i))
		f.op("VPMADDWD", y(4), y(5+i), y(5+i))
		f.op("VPADDD", y(5+i), y(i), y(i))
	}
	f.op("ADDQ", imm(8), query)
	f.op("ADDQ", imm(64), firstRow)
	f.op("DECQ", bx)
	f.op("JNZ", "step")
	for i := range 2 {
		f.op("VPHADDD", y(2*i+1), y(2*i), y(i))
		f.op("VPERMQ", imm(0xd8), y(i), y(i))
	}
}

// group compares the sums of 16 rows with the cut and puts their bits into R10, shifted by R9.
func (f *file) group() {
	for k := range 2 {
		f.op("VPBROADCASTD", mem(r8, 16), y(4))
		f.op("VPSUBD", y(4), y(k), y(k))
		f.op("VCVTDQ2PS", y(k), y(k))
		for i := range 4 {
			f.op("VBROADCASTSS", mem(r8, 4*i), y(4+i))
		}
		f.op("VMULPS", y(4), y(k), y(k))
		f.op("VFMADD231PS", mem(ofA, 32*k), y(6), y(5))
		f.op("VFMADD231PS", mem(ofB, 32*k), y(7), y(5))
		f.op("VCMPPS", imm(notLessOrEqual), y(5), y(k), y(k))
	}
	f.op("VMOVMSKPS", y(0), ax)
	f.op("VMOVMSKPS", y(1), bx)
	f.op("SHLL", imm(8), bx)
	f.op("ORL", bx, ax)
	f.op("MOVQ", count, bx) // a shift takes its count from RCX
	f.op("MOVQ", r9, cx)
	f.op("SHLQ", cx, ax)
	f.op("MOVQ", bx, count)
	f.op("ORQ", ax, r10)
}
