package main

// writeSQ8 writes the kernels of distances to rows of 8-bit codes with a range for each dimension (SQ8 of
// package dist). The dimension n is a multiple of 16. q points to n values of the query, n widths and n lower
// bounds of the ranges, and the factor and the summand of a code.
func writeSQ8(f *file) {
	for _, wide := range []bool{false, true} {
		f.sq8("sq8L2Scan", true, wide)
		f.sq8("sq8IPScan", false, wide)
	}
}

// linearAhead is the distance in bytes after the current rows at which a scan prefetches.
const linearAhead = 4096

func (f *file) sq8(name string, l2, wide bool) {
	lanes, isa := 8, "AVX2"
	if wide {
		lanes, isa = 16, "AVX512"
	}
	spans, lows, rows := r12, r13, r14
	r := vec(lanes)
	f.function(name+isa, scanParams, 0)
	f.load("q", query)
	f.load("x", next)
	f.load("out", dst)
	f.load("rows", count)
	f.load("n", end)
	f.op("LEAQ", memAt(query, end, 4, 0), spans)
	f.op("LEAQ", memAt(query, end, 8, 0), lows)
	f.op("LEAQ", memAt(lows, end, 4, 0), rows)
	f.op("VBROADCASTSS", mem(rows, 0), r(15))
	f.op("VBROADCASTSS", mem(rows, 4), r(14))
	f.op("TESTQ", count, count)
	f.op("JLE", "done")
	f.mark("group")
	f.zero(0, 8)
	f.load("stride", r15)
	f.op("MOVQ", next, rows4[0])
	f.advance(r15)
	f.op("LEAQ", memAt(next, r15, 4, 0), next)
	f.op("XORQ", off, off)
	f.mark("loop")
	f.op("PREFETCHT0", memAt(next, off, 4, linearAhead))
	for part := range 16 / lanes {
		f.op("VMOVUPS", memAt(query, off, 4, 4*lanes*part), r(8))
		f.op("VMOVUPS", memAt(spans, off, 4, 4*lanes*part), r(9))
		f.op("VMOVUPS", memAt(lows, off, 4, 4*lanes*part), r(10))
		for i, row := range rows4 {
			t, acc := r(11+i%3), r(i+4*part)
			f.op("VPMOVZXBD", memAt(row, off, 1, lanes*part), t)
			f.op("VCVTDQ2PS", t, t)
			f.op("VFMADD213PS", r(14), r(15), t)
			f.op("VFMADD213PS", r(10), r(9), t)
			if l2 {
				f.op("VSUBPS", t, r(8), t)
				f.op("VFMADD231PS", t, t, acc)
			} else {
				f.op("VFMADD231PS", t, r(8), acc)
			}
		}
	}
	f.op("ADDQ", imm(16), off)
	f.op("CMPQ", off, end)
	f.op("JLT", "loop")
	for i := range 4 {
		if wide {
			f.op("VEXTRACTF64X4", imm(1), z(i), y(4+i))
		}
		f.op("VADDPS", y(4+i), y(i), y(i))
		f.op("VEXTRACTF128", imm(1), y(i), x(4+i))
		f.op("VADDPS", x(4+i), x(i), x(i))
	}
	f.pairsOfHalves()
	f.storeGroup()
}
