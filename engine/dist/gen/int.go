package main

// writeInt writes the kernels of int8, of bits, and of the 8-bit codes of graphs.
func writeInt(f *file) {
	f.int8("int8L2RowsAVX2", true)
	f.int8("int8IPRowsAVX2", false)
	f.bits("hammingRowsAVX512", false)
	f.bits("jaccardRowsAVX512", true)
	f.codesAVX2()
	f.codesAVX512()
}

// int8 writes a kernel of int8 elements. Elements are widened to int16, and pairs of products are added to
// int32. VPMADDWD does this without rounding or saturation for every int8 value.
func (f *file) int8(name string, l2 bool) {
	f.function(name, rowsParams, 0)
	f.load("n", end)
	f.op("ANDQ", imm(-32), end)
	f.rows(rowsKernel{
		accs: 4, step: 32,
		chunk: func(first, last int) {
			for part := range 2 {
				f.op("VPMOVSXBW", memAt(query, off, 1, 16*part), y(8))
				for i := first; i < last; i++ {
					t, q := y(10+i), y(8)
					f.op("VPMOVSXBW", memAt(rows4[i], off, 1, 16*part), t)
					if l2 {
						f.op("VPSUBW", q, t, t)
						q = t
					}
					f.op("VPMADDWD", q, t, t)
					f.op("VPADDD", t, y(i), y(i))
				}
			}
		},
		finish: func() {
			f.addInts()
			// Add the remaining elements, one of each row at a time.
			f.load("n", r12)
			f.op("JMP", "check")
			f.mark("one")
			for i, row := range rows4 {
				f.op("VPINSRB", imm(i), memAt(row, off, 1, 0), x(10), x(10))
			}
			f.op("VPMOVSXBD", x(10), x(10))
			f.op("VPBROADCASTB", memAt(query, off, 1, 0), x(8))
			f.op("VPMOVSXBD", x(8), x(8))
			if l2 {
				f.op("VPSUBD", x(10), x(8), x(8))
				f.op("VMOVDQA", x(8), x(10))
			}
			f.op("VPMULLD", x(8), x(10), x(10))
			f.op("VPADDD", x(10), x(0), x(0))
			f.op("INCQ", off)
			f.mark("check")
			f.op("CMPQ", off, r12)
			f.op("JLT", "one")
			f.op("VCVTDQ2PS", x(0), x(0))
		},
	})
}

// addInts adds the int32 lanes of each of Y0 to Y3 into one lane of X0.
func (f *file) addInts() {
	for i := range 4 {
		f.op("VEXTRACTI128", imm(1), y(i), x(10+i))
		f.op("VPADDD", x(10+i), x(i), x(i))
	}
	f.op("VPHADDD", x(1), x(0), x(0))
	f.op("VPHADDD", x(3), x(2), x(2))
	f.op("VPHADDD", x(2), x(0), x(0))
}

// bits writes a kernel of bits, which uses VPOPCNTQ of AVX-512. Registers 0 to 3 count the bits that differ, or
// for Jaccard the bits set in both. For Jaccard, registers 4 to 7 count the bits set in either. Other CPUs use
// the specification, which counts by POPCNT.
func (f *file) bits(name string, jaccard bool) {
	f.function(name, rowsParams, 0)
	f.load("n", end)
	f.op("ANDQ", imm(-64), end)
	accs := 4
	if jaccard {
		accs = 8
	}
	counts := func(i int, row string) {
		t := z(10 + i)
		if !jaccard {
			f.op("VPXORQ", row, z(8), t)
			f.op("VPOPCNTQ", t, t)
			f.op("VPADDQ", t, z(i), z(i))
			return
		}
		f.op("VPANDQ", row, z(8), t)
		f.op("VPORQ", row, z(8), z(15))
		f.op("VPOPCNTQ", t, t)
		f.op("VPOPCNTQ", z(15), z(15))
		f.op("VPADDQ", t, z(i), z(i))
		f.op("VPADDQ", z(15), z(4+i), z(4+i))
	}
	f.rows(rowsKernel{
		accs: accs, step: 64,
		chunk: func(first, last int) {
			f.op("VMOVDQU64", memAt(query, off, 1, 0), z(8))
			for i := first; i < last; i++ {
				counts(i, memAt(rows4[i], off, 1, 0))
			}
		},
		finish: func() {
			f.load("n", r12)
			f.op("SUBQ", off, r12)
			f.op("JZ", "whole")
			f.op("MOVQ", imm(-1), r13)
			f.op("BZHIQ", r12, r13, r13)
			f.op("KMOVQ", r13, "K1")
			f.op("VMOVDQU8.Z", memAt(query, off, 1, 0), "K1", z(8))
			for i, row := range rows4 {
				f.op("VMOVDQU8.Z", memAt(row, off, 1, 0), "K1", z(9))
				counts(i, string(z(9)))
			}
			f.mark("whole")
			f.addCounts(0)
			if !jaccard {
				f.op("VCVTDQ2PS", x(0), x(0))
				return
			}
			f.addCounts(4)
			f.op("VPSUBD", x(0), x(4), x(0))
			f.op("VCVTDQ2PS", x(0), x(0))
			f.op("VCVTDQ2PS", x(4), x(5))
			f.op("VDIVPS", x(5), x(0), x(0))
			// If no bit is set in either, the distance is 1, not 0/0.
			f.op("VPXOR", x(6), x(6), x(6))
			f.op("VPCMPEQD", x(6), x(4), x(6))
			f.op("MOVL", "$0x3f800000", r12)
			f.op("VMOVD", r12, x(7))
			f.op("VPBROADCASTD", x(7), x(7))
			f.op("VBLENDVPS", x(6), x(7), x(0), x(0))
		},
	})
}

// addCounts adds the eight lanes of each of four registers from first on, and leaves the sums as int32 in the
// lanes of the first.
func (f *file) addCounts(first int) {
	for i := first; i < first+4; i++ {
		f.op("VEXTRACTI64X4", imm(1), z(i), y(10))
		f.op("VPADDQ", y(10), y(i), y(i))
		f.op("VEXTRACTI128", imm(1), y(i), x(10))
		f.op("VPADDQ", x(10), x(i), x(i))
	}
	for i := first; i < first+4; i += 2 {
		f.op("VPUNPCKHQDQ", x(i+1), x(i), x(10))
		f.op("VPUNPCKLQDQ", x(i+1), x(i), x(i))
		f.op("VPADDQ", x(10), x(i), x(i))
	}
	f.op("VSHUFPS", "$0x88", x(first+2), x(first), x(first))
}

// codesAVX2 writes the kernel of sums of products of a query with rows of codes, for graphs. The n bytes of a
// row, a multiple of 64, are contiguous. Each 64 elements of a query take 128 bytes: 16 bits per element, or
// with AVX-512 an upper plane followed by a lower plane. Results are int32, although out is declared as
// *float32.
func (f *file) codesAVX2() {
	f.function("codesAVX2", rowsParams, 0)
	f.load("n", end)
	f.rows(rowsKernel{
		accs: 4, step: 64, byID: true,
		chunk: func(first, last int) {
			for disp := 0; disp < 64; disp += 16 {
				f.op("VMOVDQU", memAt(query, off, 2, 2*disp), y(8))
				for i := first; i < last; i++ {
					f.op("VPMOVZXBW", memAt(rows4[i], off, 1, disp), y(10+i))
					f.op("VPMADDWD", y(8), y(10+i), y(10+i))
					f.op("VPADDD", y(10+i), y(i), y(i))
				}
			}
		},
		finish: f.addInts,
	})
}

// codesAVX512 writes the same kernel with VPDPBUSD, which adds the products of unsigned and signed bytes, four
// to a lane.
func (f *file) codesAVX512() {
	f.function("codesAVX512", rowsParams, 0)
	f.load("n", end)
	f.rows(rowsKernel{
		accs: 8, step: 64, byID: true,
		chunk: func(first, last int) {
			f.op("VMOVDQU64", memAt(query, off, 2, 0), z(8))
			f.op("VMOVDQU64", memAt(query, off, 2, 64), z(9))
			for i := first; i < last; i++ {
				f.op("VMOVDQU64", memAt(rows4[i], off, 1, 0), z(10+i))
				f.op("VPDPBUSD", z(8), z(10+i), z(i))
				f.op("VPDPBUSD", z(9), z(10+i), z(4+i))
			}
		},
		finish: func() {
			for i := range 4 {
				f.op("VPSLLD", imm(8), z(i), z(i))
				f.op("VPADDD", z(4+i), z(i), z(i))
				f.op("VEXTRACTI64X4", imm(1), z(i), y(10))
				f.op("VPADDD", y(10), y(i), y(i))
			}
			f.addInts()
		},
	})
}
