package main

import "fmt"

// kind is a metric (L2 or inner product) of an element type.
type kind struct {
	element string // float32, float16 or bfloat16
	l2      bool
}

// name returns the prefix of the function names of this kind.
func (k kind) name() string {
	if k.l2 {
		return k.element + "L2"
	}
	return k.element + "IP"
}

// kinds returns all kinds.
func kinds() (all []kind) {
	for _, element := range []string{"float32", "float16", "bfloat16"} {
		all = append(all, kind{element, true}, kind{element, false})
	}
	return all
}

// size returns the bytes of an element in a row. In a query, every element has 4 bytes.
func (k kind) size() int {
	if k.element == "float32" {
		return 4
	}
	return 2
}

// finisher returns the name of the routine that finishes four rows in an order.
func (k kind) finisher(o order) string { return k.name() + o.name + "Finish" }

// order is an order of additions. If lazy is set, the main loop does nothing and the routine that finishes four
// rows adds all elements.
type order struct {
	name string // as in package dist
	lazy bool
}

// orders returns the orders of an element type. Two-byte elements are added in faiss's order in every profile.
func (k kind) orders() []order {
	if k.element == "float32" {
		return []order{{"Knowhere", false}, {"HNSW16", false}, {"HNSW4", true}, {"Faiss", false}}
	}
	return []order{{"", false}}
}

// floats writes the kernels of a kind for AVX-512 or AVX2. Registers 0 to 3 each accumulate 16 lanes of a row;
// with AVX2, registers 4 to 7 hold the upper eight lanes.
type floats struct {
	*file
	kind
	wide bool // AVX-512
}

// body returns the name of the routine that the kernels of a form share.
func (k floats) body(form string) string { return k.name() + form + k.isa() + "Body" }

func (k floats) isa() string {
	if k.wide {
		return "AVX512"
	}
	return "AVX2"
}

// writeFloat writes the kernels of float32, float16 and bfloat16.
func writeFloat(f *file) {
	f.text.WriteString("\nDATA iota<>+0(SB)/4, $0\nDATA iota<>+4(SB)/4, $1\nDATA iota<>+8(SB)/4, $2\nDATA " +
		"iota<>+12(SB)/4, $3\n")
	f.text.WriteString("GLOBL iota<>(SB), RODATA|NOPTR, $16\n")
	for _, kind := range kinds() {
		k := floats{file: f, kind: kind}
		for _, o := range k.orders() {
			k.finish(o)
		}
		for _, k.wide = range []bool{false, true} {
			k.entries("Rows", rowsParams)
			k.rowsBody()
		}
		k.entries("Block", blockParams)
		k.blockBody()
	}
}

// entries writes a function for each order. It sets R13 to the routine that finishes four rows and the end of
// the main loop, and jumps to the body that all orders share.
func (k floats) entries(form, params string) {
	for _, o := range k.orders() {
		name := k.name() + o.name + form + k.isa()
		k.function(name, params, 0)
		if o.lazy {
			k.op("XORQ", end, end)
		} else {
			k.load("n", end)
			k.op("SHRQ", imm(4), end)
			k.op("IMUL3Q", imm(16*k.size()), end, end)
		}
		k.op("LEAQ", k.finisher(o)+"<>(SB)", r13)
		k.op("JMP", k.body(form)+"<>(SB)")
	}
}

// at returns the operand for the element disp places after the current one in a row; atQuery does so for the
// query.
func (k floats) at(row reg, disp int) string { return memAt(row, off, 1, k.size()*disp) }

func (k floats) atQuery(q reg, disp int) string {
	return memAt(q, off, 4/k.size(), 4*disp)
}

// vec returns the function that names vector registers with the given number of lanes.
func vec(lanes int) func(int) reg {
	return map[int]func(int) reg{4: x, 8: y, 16: z}[lanes]
}

// term adds to acc the terms of the query elements in a register and as many row elements in memory. It
// overwrites t.
func (k floats) term(query reg, row string, t, acc reg) {
	if k.element == "float32" {
		k.add(query, row, t, acc, true)
		return
	}
	k.widen(row, t)
	k.add(query, string(t), t, acc, true)
}

// widen loads two-byte elements as float32.
func (k floats) widen(row string, to reg) {
	if k.element == "float16" {
		k.op("VCVTPH2PS", row, to)
		return
	}
	k.op("VPMOVZXWD", row, to)
	k.op("VPSLLD", imm(16), to, to)
}

// add is like term for floats in memory or a register. If fused is set, each product and sum is rounded once.
func (k floats) add(query reg, row string, t, acc reg, fused bool) {
	switch {
	case k.l2:
		k.op("VSUBPS", row, query, t)
		if fused {
			k.op("VFMADD231PS", t, t, acc)
			return
		}
		k.op("VMULPS", t, t, t)
	case fused:
		k.op("VFMADD231PS", row, query, acc)
		return
	default:
		k.op("VMULPS", row, query, t)
	}
	k.op("VADDPS", t, acc, acc)
}

// rowsBody writes the loop over rows that all kernels for one query share.
func (k floats) rowsBody() {
	k.routine(k.body("Rows"), "goes over the rows for the functions before it.", rowsParams, 24)
	k.keep()
	lanes, accs := 8, 8
	if k.wide {
		lanes, accs = 16, 4
	}
	r := vec(lanes)
	k.rows(rowsKernel{
		accs: accs, step: 16 * k.size(),
		chunk: func(first, last int) {
			for part := range 16 / lanes {
				q := r(8 + part)
				k.op("VMOVUPS", k.atQuery(query, lanes*part), q)
				for i := first; i < last; i++ {
					k.term(q, k.at(rows4[i], lanes*part), r(10+i), r(i+4*part))
				}
			}
		},
		finish: func() {
			if k.wide {
				for i := range 4 {
					k.op("VEXTRACTF64X4", imm(1), z(i), y(4+i))
				}
			}
			k.callFinish()
		},
	})
}

// keep stores the values that finish needs: the routine, and the end of the main loop, whose register finish
// overwrites.
func (k floats) keep() {
	k.op("MOVQ", r13, "finish-8(SP)")
	k.op("MOVQ", end, "end-16(SP)")
}

// callFinish calls the routine that finishes four rows, with their lanes in Y0 to Y3 and Y4 to Y7 and the
// number of remaining elements in left.
func (k floats) callFinish() {
	k.load("n", left)
	k.op("SHLQ", imm(k.size()/2), left)
	k.op("SUBQ", off, left)
	k.op("SHRQ", imm(k.size()/2), left)
	k.op("MOVQ", next, "next-24(SP)")
	k.op("MOVQ", "finish-8(SP)", next)
	k.op("CALL", next)
	k.op("MOVQ", "next-24(SP)", next)
	k.op("MOVQ", "end-16(SP)", end)
}

// blockAhead is the distance in bytes at which the rows of a block are prefetched.
const blockAhead = 2048

// blockBody writes the loop that all kernels for four queries against consecutive rows share. Z16+4j+i is the
// accumulator of query j and row i.
func (k floats) blockBody() {
	k.routine(k.body("Block"), "goes over the rows for the functions before it.", blockParams, 24)
	k.keep()
	k.load("x", next)
	k.load("out", dst)
	k.load("rows", count)
	k.op("TESTQ", count, count)
	k.op("JLE", "done")
	k.mark("group")
	k.load("qStride", off)
	k.load("q", next4[0])
	for j := 1; j < 4; j++ {
		k.op("LEAQ", memAt(next4[j-1], off, 1, 0), next4[j])
	}
	for i := 16; i < 32; i++ {
		k.op("VPXORD", z(i), z(i), z(i))
	}
	k.load("stride", query)
	k.op("MOVQ", next, rows4[0])
	k.advance(query)
	k.op("LEAQ", memAt(next, query, 4, 0), next)
	k.op("XORQ", off, off)
	k.op("CMPQ", off, end)
	k.op("JEQ", "finish")
	k.mark("loop")
	for i, row := range rows4 {
		if k.size() == 4 {
			k.op("VMOVUPS", k.at(row, 0), z(i))
		} else {
			k.widen(k.at(row, 0), z(i))
		}
		k.op("PREFETCHT0", memAt(row, off, 1, blockAhead))
	}
	for j, q := range next4 {
		k.op("VMOVUPS", k.atQuery(q, 0), z(4+j))
		for i := range rows4 {
			k.add(z(4+j), string(z(i)), z(8+i+4*(j%2)), z(16+4*j+i), true)
		}
	}
	k.op("ADDQ", imm(16*k.size()), off)
	k.op("CMPQ", off, end)
	k.op("JLT", "loop")

	k.mark("finish")
	// K1 masks the existing rows.
	k.op("MOVL", imm(15), r14)
	k.op("CMPQ", count, imm(4))
	k.op("JGE", "whole")
	k.op("BZHIL", count, r14, r14)
	k.mark("whole")
	k.op("KMOVW", r14, "K1")
	k.load("q", query)
	k.op("MOVQ", dst, r14)
	k.load("outStride", r15)
	for j := range 4 {
		for i := range rows4 {
			k.op("VMOVAPS", z(16+4*j+i), z(i))
			k.op("VEXTRACTF64X4", imm(1), z(i), y(4+i))
		}
		k.op("MOVQ", end, off)
		k.callFinish()
		k.op("VMOVUPS", x(0), "K1", mem(r14, 0))
		if j < 3 {
			k.op("LEAQ", memAt(r14, r15, 4, 0), r14)
			k.op("ADDQ", k.arg("qStride"), query)
		}
	}
	k.op("ADDQ", imm(16), dst)
	k.op("SUBQ", imm(4), count)
	k.op("JGT", "group")
	k.mark("done")
	k.op("VZEROUPPER")
	k.op("RET")
}

// finish writes the routine of an order that adds the lanes of four rows and the remaining elements, and leaves
// the sums in X0. The upper eight lanes are in Y4 to Y7. The routine overwrites the vector registers below 16,
// left and off.
func (k floats) finish(o order) {
	k.routine(k.finisher(o), "adds up the lanes of four rows and the elements that are left.", "", 0)
	switch o.name {
	case "Knowhere":
		k.foldInto(4, 0)
		k.take(8)
		k.fold8()
		k.take(4)
		k.masked()
		k.op("VHADDPS", x(1), x(0), x(0))
		k.op("VHADDPS", x(3), x(2), x(2))
		k.op("VHADDPS", x(2), x(0), x(0))
	case "HNSW16":
		if k.l2 {
			k.lanesInTurn()
		} else {
			k.foldInto(4, 0)
			k.fold8()
			k.pairsOfHalves()
		}
		k.residue(k.l2)
	case "HNSW4":
		k.hnsw4()
		k.residue(false)
	default:
		k.foldInto(4, 0)
		k.take(8)
		k.fold8()
		k.pairsOfHalves()
		k.rest(x(0), true)
	}
	k.op("RET")
}

// foldInto adds the four registers from first on to the four registers from to on.
func (k floats) foldInto(first, to int) {
	for i := range 4 {
		k.op("VADDPS", y(first+i), y(to+i), y(to+i))
	}
}

// fold8 adds the upper four of eight lanes to the lower four.
func (k floats) fold8() {
	for i := range 4 {
		k.op("VEXTRACTF128", imm(1), y(i), x(10+i))
		k.op("VADDPS", x(10+i), x(i), x(i))
	}
}

// take adds the next eight or four elements to accumulators with the same number of lanes, if that many
// elements remain.
func (k floats) take(elements int) {
	skip := fmt.Sprintf("no%d", elements)
	k.op("TESTQ", imm(elements), left)
	k.op("JZ", skip)
	k.next(elements, true)
	k.mark(skip)
}

// next adds the next elements to accumulators with the same number of lanes.
func (k floats) next(elements int, fused bool) {
	r := vec(elements)
	k.op("VMOVUPS", k.atQuery(query, 0), r(8))
	for i, row := range rows4 {
		if fused {
			k.term(r(8), k.at(row, 0), r(10+i), r(i))
		} else {
			k.add(r(8), k.at(row, 0), r(10+i), r(i), false)
		}
	}
	k.op("ADDQ", imm(k.size()*elements), off)
}

// masked adds the last one to three elements, padded with zeros to four.
func (k floats) masked() {
	k.op("ANDQ", imm(3), left)
	k.op("JZ", "none")
	k.op("VMOVD", left, x(9))
	k.op("VPBROADCASTD", x(9), x(9))
	k.op("VPCMPGTD", "iota<>(SB)", x(9), x(9))
	k.op("VMASKMOVPS", k.atQuery(query, 0), x(9), x(8))
	for i, row := range rows4 {
		k.op("VMASKMOVPS", k.at(row, 0), x(9), x(10+i))
		k.add(x(8), string(x(10+i)), x(10+i), x(i), true)
	}
	k.mark("none")
}

// pairsOfHalves adds four lanes as (0+2)+(1+3).
func (f *file) pairsOfHalves() {
	for i := 0; i < 4; i += 2 {
		f.op("VUNPCKLPS", x(i+1), x(i), x(10+i))
		f.op("VUNPCKHPS", x(i+1), x(i), x(11+i))
		f.op("VADDPS", x(11+i), x(10+i), x(10+i))
	}
	f.op("VMOVLHPS", x(12), x(10), x(0))
	f.op("VMOVHLPS", x(10), x(12), x(1))
	f.op("VADDPS", x(1), x(0), x(0))
}

// transpose transposes the registers from to from+3, which hold one row each. In every 128 bits, register to+j
// receives lane j of the four rows. It overwrites registers 10 to 13.
func (k floats) transpose(r func(int) reg, from, to int) {
	k.op("VUNPCKLPS", r(from+1), r(from), r(10))
	k.op("VUNPCKHPS", r(from+1), r(from), r(11))
	k.op("VUNPCKLPS", r(from+3), r(from+2), r(12))
	k.op("VUNPCKHPS", r(from+3), r(from+2), r(13))
	k.op("VUNPCKLPD", r(12), r(10), r(to))
	k.op("VUNPCKHPD", r(12), r(10), r(to+1))
	k.op("VUNPCKLPD", r(13), r(11), r(to+2))
	k.op("VUNPCKHPD", r(13), r(11), r(to+3))
}

// lanesInTurn adds 16 lanes one after the other.
func (k floats) lanesInTurn() {
	for half := range 2 {
		k.transpose(y, 4*half, 0)
		if half == 0 {
			k.op("VMOVAPS", x(0), x(14))
		} else {
			k.op("VADDPS", x(0), x(14), x(14))
		}
		for i := 1; i < 4; i++ {
			k.op("VADDPS", x(i), x(14), x(14))
		}
		for i := range 4 {
			k.op("VEXTRACTF128", imm(1), y(i), x(10+i))
			k.op("VADDPS", x(10+i), x(14), x(14))
		}
	}
	k.op("VMOVAPS", x(14), x(0))
}

// hnsw4 adds all elements except the last one to three. L2 uses four lanes. The inner product uses eight lanes
// for each block of 16 elements, and four lanes for the remaining elements. Products are rounded, and the lanes
// are added one after the other. If rows are read by id, it prefetches the next four rows.
func (k floats) hnsw4() {
	k.zero(0, 4)
	k.op("SUBQ", imm(16), left)
	k.op("JLT", "sixteens")
	k.mark("sixteen")
	for _, row := range next4 {
		k.op("PREFETCHT1", memAt(row, off, 1, 0))
	}
	for range 16 / k.lanes4() {
		k.next(k.lanes4(), false)
	}
	k.op("SUBQ", imm(16), left)
	k.op("JGE", "sixteen")
	k.mark("sixteens")
	k.op("ADDQ", imm(16), left)
	if !k.l2 {
		k.fold8()
	}
	k.mark("fours")
	k.op("CMPQ", left, imm(4))
	k.op("JLT", "lanes")
	k.next(4, false)
	k.op("SUBQ", imm(4), left)
	k.op("JMP", "fours")
	k.mark("lanes")
	k.transpose(x, 0, 4)
	for i := 5; i < 8; i++ {
		k.op("VADDPS", x(i), x(4), x(4))
	}
	k.op("VMOVAPS", x(4), x(0))
}

// lanes4 returns the number of lanes that hnsw4 uses for blocks of 16 elements.
func (k floats) lanes4() int {
	if k.l2 {
		return 4
	}
	return 8
}

// one adds the next element of each row to the lanes of acc.
func (k floats) one(acc reg, fused bool) {
	switch {
	case k.size() == 4:
		k.op("VMOVSS", k.at(r8, 0), x(10))
		for i := 1; i < 4; i++ {
			k.op("VINSERTPS", imm(16*i), k.at(rows4[i], 0), x(10), x(10))
		}
	default:
		for i, row := range rows4 {
			k.op("VPINSRW", imm(i), k.at(row, 0), x(10), x(10))
		}
		k.widen(string(x(10)), x(10))
	}
	k.op("VBROADCASTSS", k.atQuery(query, 0), x(11))
	k.add(x(11), string(x(10)), x(12), acc, fused)
	k.op("ADDQ", imm(k.size()), off)
}

// rest adds the last elements, at most seven, to acc, one after the other.
func (k floats) rest(acc reg, fused bool) {
	k.op("ANDQ", imm(7), left)
	k.op("JZ", "ones")
	k.mark("one")
	k.one(acc, fused)
	k.op("DECQ", left)
	k.op("JNZ", "one")
	k.mark("ones")
}

// residue adds the remaining elements one after the other, and adds their sum to X0. If eight is set, the
// products of the first eight elements are rounded, as the compiler of hnswlib does for L2.
func (k floats) residue(eight bool) {
	k.op("TESTQ", left, left)
	k.op("JZ", "residue")
	k.op("VXORPS", x(1), x(1), x(1))
	if eight {
		k.op("TESTQ", imm(8), left)
		k.op("JZ", "less")
		k.mark("product")
		k.one(x(1), false)
		k.op("TESTQ", imm(32), off)
		k.op("JZ", "product")
		k.mark("less")
		k.rest(x(1), k.l2)
	} else {
		k.mark("last")
		k.one(x(1), k.l2)
		k.op("DECQ", left)
		k.op("JNZ", "last")
	}
	k.op("VADDPS", x(1), x(0), x(0))
	k.mark("residue")
}
