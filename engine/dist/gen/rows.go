package main

import (
	"fmt"
	"strconv"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scanMin is from how many rows on a scan takes them to come from memory.
const scanMin = 64

// blockAhead is how many bytes before their use the rows of a block are prefetched.
const blockAhead = 2048

// addr is a parameter's place on the stack.
func (p *program) addr(name string) operand.Mem {
	c, err := p.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}

// Registers of a rows kernel: ids is the address of the next id, or without ids of the next
// row.
var (
	query = reg.RSI
	ids   = reg.RDI
	count = reg.RCX
	dst   = reg.RDX
)

// rows writes the kernel of one query against rows by id, or one after the other if there are
// no ids.
func (p *program) rows(k recipe) {
	p.beginRows(k, "Rows")
	p.TESTQ(ids, ids)
	p.JNZ(operand.LabelRef("group"))
	p.MOVQ(p.addr("base"), ids)

	p.beginGroup(k)
	p.CMPQ(p.addr("ids"), operand.U8(0))
	p.JEQ(operand.LabelRef("scan"))
	p.gatherHead()
	p.mainLoop(k, "next", 0, 4, true)
	p.Label("scan")
	p.scanHead()
	// Rows that follow each other come from memory faster one by one: four at a time, even with
	// prefetches, at half the rate. Rows by id do not: HNSW searches in 100,000 x 768 took 1.12 to 1.22 times
	// the time with rows one by one, 1.05 in pairs, and 1.05 with prefetches of every second line only.
	for i := range rows4 {
		p.XORQ(off, off)
		p.mainLoop(k, fmt.Sprintf("row%d", i), i, i+1, false)
	}
	p.JMP(operand.LabelRef("finish"))
	p.Label("single")
	p.mainLoop(k, "single", 0, 1, false)
	p.JMP(operand.LabelRef("finish"))
	p.Label("plain")
	p.CMPQ(count, operand.U8(1))
	p.JEQ(operand.LabelRef("single"))
	p.mainLoop(k, "four", 0, 4, false)
	p.endRows(k)
}

// ahead writes the kernel of one query against rows by id that prefetches, while it computes the
// last of them, the rows of the four ids behind.
func (p *program) ahead(k recipe) {
	p.beginRows(k, "Ahead")
	p.beginGroup(k)
	p.load(rows4, 4, "rows")
	p.CMPQ(count, operand.U8(4))
	p.JGE(operand.LabelRef("whole"))
	p.LEAQ(operand.Mem{Base: ids, Index: count, Scale: 4}, ids)
	p.JMP(operand.LabelRef("behind"))
	p.Label("whole")
	p.ADDQ(operand.U8(16), ids)
	p.Label("behind")
	for i, r := range next4 {
		p.MOVL(operand.Mem{Base: ids, Disp: 4 * i}, r.As32())
	}
	p.places(next4)
	p.mainLoop(k, "next", 0, 4, true)
	p.endRows(k)
}

// beginRows begins a kernel of one query: registers, and what to do without rows.
func (p *program) beginRows(k recipe, form string) {
	p.function(k.name(form), nil,
		param{"q", pointer}, param{"base", pointer}, param{"stride", word}, param{"ids", uint32s},
		param{"out", float32s}, param{"count", number}, param{"n", number})
	p.MOVQ(p.addr("q"), query)
	p.MOVQ(p.addr("ids"), ids)
	p.MOVQ(p.addr("out"), dst)
	p.MOVQ(p.addr("count"), count)
	p.mainEnd()
	p.TESTQ(count, count)
	p.JLE(operand.LabelRef("done"))
}

// beginGroup begins four rows.
func (p *program) beginGroup(k recipe) {
	p.Label("group")
	accs := 4
	if k.lanes() == 16 && k.isa == avx2 {
		accs = 8
	}
	p.zero(0, accs, false)
	p.XORQ(off, off)
}

// endRows ends four rows, and after the last of them the kernel.
func (p *program) endRows(k recipe) {
	p.Label("finish")
	p.finish(tail{recipe: k, query: query, left: reg.R12, mark: "t"})
	p.CMPQ(count, operand.U8(4))
	p.JLT(operand.LabelRef("few"))
	p.VMOVUPS(x(0), operand.Mem{Base: dst})
	p.ADDQ(operand.U8(16), dst)
	p.SUBQ(operand.U8(4), count)
	p.JNZ(operand.LabelRef("group"))
	p.JMP(operand.LabelRef("done"))
	p.Label("few")
	p.storeFew(x(0), dst, "done")
	p.Label("done")
	p.VZEROUPPER()
	p.RET()
}

// mainEnd sets end to the bytes that the main loop covers.
func (p *program) mainEnd() {
	p.MOVQ(p.addr("n"), end)
	p.SHRQ(operand.U8(4), end)
	p.SHLQ(operand.U8(6), end)
}

// storeFew stores the first count results, one to three, and goes to done.
func (p *program) storeFew(from reg.VecPhysical, to reg.Register, done string) {
	p.VMOVSS(from, operand.Mem{Base: to})
	for i := 1; i < 3; i++ {
		p.CMPQ(count, operand.U8(uint8(i)))
		p.JEQ(operand.LabelRef(done))
		p.VEXTRACTPS(operand.U8(uint8(i)), from, operand.Mem{Base: to, Disp: 4 * i})
	}
}

// load loads up to four ids: all if at least enough rows are left, else the last again for
// those that are not there.
func (p *program) load(to [4]reg.GPPhysical, enough int, mark string) {
	id := func(i int) operand.Mem { return operand.Mem{Base: ids, Disp: 4 * i} }
	some, have := "some_"+mark, "have_"+mark
	p.CMPQ(count, operand.U8(uint8(enough)))
	p.JLT(operand.LabelRef(some))
	for i, r := range to {
		p.MOVL(id(i), r.As32())
	}
	p.JMP(operand.LabelRef(have))
	p.Label(some)
	p.MOVL(id(0), to[0].As32())
	for _, r := range to[1:] {
		p.MOVL(to[0].As32(), r.As32())
	}
	for i := 1; i < 3; i++ {
		p.CMPQ(count, operand.U8(uint8(enough-4+i)))
		p.JEQ(operand.LabelRef(have))
		p.MOVL(id(i), to[i].As32())
	}
	p.Label(have)
	p.places(to)
}

// places makes ids the addresses of their rows.
func (p *program) places(of [4]reg.GPPhysical) {
	for _, r := range of {
		p.IMULQ(p.addr("stride"), r)
		p.ADDQ(p.addr("base"), r)
	}
}

// gatherHead sets the addresses of the next four rows and of those after them; where there
// are none it goes to plain.
func (p *program) gatherHead() {
	p.load(rows4, 4, "rows")
	p.ADDQ(operand.U8(16), ids)
	p.CMPQ(count, operand.U8(4))
	p.JLE(operand.LabelRef("plain"))
	p.load(next4, 8, "next")
}

// scanHead sets the addresses of the next four rows; where they are likely in a cache it goes
// to plain.
func (p *program) scanHead() {
	stride := next4[0]
	p.MOVQ(p.addr("stride"), stride)
	p.MOVQ(ids, rows4[0])
	p.advance(stride, "scan")
	p.LEAQ(operand.Mem{Base: ids, Index: stride, Scale: 4}, ids)
	p.CMPQ(p.addr("count"), operand.U32(scanMin))
	p.JLT(operand.LabelRef("plain"))
}

// advance sets the second to fourth row, the last again for those that are not there.
func (p *program) advance(stride reg.Register, mark string) {
	few, have := "few_"+mark, "have_"+mark
	p.CMPQ(count, operand.U8(4))
	p.JLT(operand.LabelRef(few))
	for i := 1; i < 4; i++ {
		p.LEAQ(operand.Mem{Base: rows4[i-1], Index: stride, Scale: 1}, rows4[i])
	}
	p.JMP(operand.LabelRef(have))
	p.Label(few)
	for i := 1; i < 4; i++ {
		p.MOVQ(rows4[0], rows4[i])
	}
	for i := 1; i < 3; i++ {
		p.CMPQ(count, operand.U8(uint8(i)))
		p.JEQ(operand.LabelRef(have))
		p.LEAQ(operand.Mem{Base: rows4[i-1], Index: stride, Scale: 1}, rows4[i])
	}
	p.Label(have)
}

// mainLoop goes over the rows from first to before last up to end, 16 elements at a time. If
// ahead it prefetches the next four rows and goes to finish.
func (p *program) mainLoop(k recipe, mark string, first, last int, ahead bool) {
	loop := "loop_" + mark
	p.CMPQ(off, end)
	p.JEQ(operand.LabelRef("finish"))
	p.Label(loop)
	if ahead {
		for _, row := range next4 {
			p.PREFETCHT1(at(row, 0))
		}
	}
	p.chunk(k, query, first, last)
	p.ADDQ(operand.U8(64), off)
	p.CMPQ(off, end)
	p.JLT(operand.LabelRef(loop))
	if ahead {
		p.JMP(operand.LabelRef("finish"))
	}
}

// queries4 are the addresses of the queries of a block.
var queries4 = [4]reg.GPPhysical{reg.R12, reg.R13, reg.R14, reg.R15}

// block writes the kernel of four queries against rows one after the other. The accumulator
// of query j and row i is Z16+4j+i.
func (p *program) block(k recipe) {
	p.function(k.name("Block"), nil,
		param{"q", pointer}, param{"qStride", word}, param{"x", pointer}, param{"stride", word},
		param{"out", float32s}, param{"outStride", number}, param{"rows", number}, param{"n", number})
	p.MOVQ(p.addr("q"), queries4[0])
	p.MOVQ(p.addr("qStride"), off)
	for j := 1; j < 4; j++ {
		p.LEAQ(operand.Mem{Base: queries4[j-1], Index: off, Scale: 1}, queries4[j])
	}
	p.MOVQ(p.addr("x"), ids)
	p.MOVQ(p.addr("out"), dst)
	p.MOVQ(p.addr("rows"), count)
	p.mainEnd()
	p.TESTQ(count, count)
	p.JLE(operand.LabelRef("done"))

	p.Label("group")
	p.zero(16, 16, true)
	p.MOVQ(p.addr("stride"), reg.RSI)
	p.MOVQ(ids, rows4[0])
	p.advance(reg.RSI, "rows")
	p.LEAQ(operand.Mem{Base: ids, Index: reg.RSI, Scale: 4}, ids)
	p.XORQ(off, off)
	p.CMPQ(off, end)
	p.JEQ(operand.LabelRef("finish"))
	p.Label("loop")
	for i, row := range rows4 {
		p.VMOVUPS(at(row, 0), z(i))
		p.PREFETCHT0(at(row, blockAhead))
	}
	for j, q := range queries4 {
		p.VMOVUPS(at(q, 0), z(4+j))
		for i := range rows4 {
			p.step(k, true, z(4+j), z(i), z(8+i+4*(j%2)), z(16+4*j+i))
		}
	}
	p.ADDQ(operand.U8(64), off)
	p.CMPQ(off, end)
	p.JLT(operand.LabelRef("loop"))

	p.Label("finish")
	for j, q := range queries4 {
		for i := range rows4 {
			p.VMOVAPS(z(16+4*j+i), z(i))
		}
		p.MOVQ(end, off)
		p.finish(tail{recipe: k, query: q, left: reg.RSI, mark: strconv.Itoa(j)})
		if j < 3 {
			p.VMOVAPS(x(0), x(16+4*j))
		}
	}
	p.VMOVAPS(x(0), x(28))
	p.storeBlock()
	p.Label("done")
	p.VZEROUPPER()
	p.RET()
}

// storeBlock stores the results of four queries, which are in X16, X20, X24 and X28.
func (p *program) storeBlock() {
	p.MOVQ(p.addr("outStride"), off)
	p.MOVQ(dst, reg.RSI)
	p.CMPQ(count, operand.U8(4))
	p.JLT(operand.LabelRef("few"))
	for j := range 4 {
		p.VMOVUPS(x(16+4*j), operand.Mem{Base: reg.RSI})
		p.LEAQ(operand.Mem{Base: reg.RSI, Index: off, Scale: 4}, reg.RSI)
	}
	p.ADDQ(operand.U8(16), dst)
	p.SUBQ(operand.U8(4), count)
	p.JNZ(operand.LabelRef("group"))
	p.JMP(operand.LabelRef("done"))
	p.Label("few")
	for j := range 4 {
		stored := "stored_" + strconv.Itoa(j)
		p.VMOVAPS(x(16+4*j), x(0))
		p.storeFew(x(0), reg.RSI, stored)
		p.Label(stored)
		p.LEAQ(operand.Mem{Base: reg.RSI, Index: off, Scale: 4}, reg.RSI)
	}
}
