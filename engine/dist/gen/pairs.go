package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// form is one of the three types of function that package dist calls.
type form []param

var (
	scanForm   = form{{"q", pointer}, {"x", pointer}, {"stride", word}, {"out", float32s}, {"rows", number}, {"n", number}}
	gatherForm = form{{"q", pointer}, {"base", pointer}, {"stride", word}, {"ids", uint32s}, {"out", float32s}, {"count", number}, {"n", number}}
	blockForm  = form{
		{"q", pointer},
		{"qStride", word},
		{"x", pointer},
		{"stride", word},
		{"out", float32s},
		{"outStride", number},
		{"rows", number},
		{"n", number},
	}
)

// The registers of these kernels, besides query. In R8 to R11 are the addresses of up to four
// rows, in R12 to R15 what to prefetch: the same place in the four rows that come next.
var (
	index  = reg.RAX // elements, or bytes of bits, done
	cursor = reg.RBX // the next row (scan) or id (gather)
	left   = reg.RCX // rows left
	limit  = reg.RDX // bound of index; scratch between rows
	out    = reg.RDI
)

// pairs writes kernels that take up to four rows at a time, whatever a row is made of.
type pairs struct {
	*program
	labels int
	linear bool // a scan is being written
}

// linearAhead is how many bytes beyond the rows in work a scan prefetches.
const linearAhead = 4096

// prefetch asks for what is used in a while, one cache line for each of n rows; size is the
// bytes that an element (or byte of bits) takes. Rows by id: the same place in the next rows.
// A scan: one line after the other, whichever row they belong to, as memory likes it best.
func (f *pairs) prefetch(n, size int) {
	for r := range n {
		switch {
		case !f.linear:
			f.PREFETCHT0(atIndex(next4[r], uint8(size), 0))
		case n > 1:
			f.PREFETCHT0(atIndex(next4[0], uint8(size*n), linearAhead+64*r))
		}
	}
}

// body computes the distances of the query to the first n of the rows and leaves them as
// float32 in the low lanes of X0. It may change limit, index, next and every vector register.
type body func(n int)

// scan writes a kernel for rows at a stride, width of them at a time.
func (f *pairs) scan(name string, width int, prologue func(), do body) {
	f.linear = true
	f.function(name, nil, scanForm...)
	f.arg("q", query)
	f.arg("x", cursor)
	f.arg("out", out)
	prologue()
	f.arg("rows", left)
	for _, w := range widths(width) {
		f.Label(fmt.Sprintf("by%d", w))
		f.CMPQ(left, operand.Imm(uint64(w)))
		f.JLT(operand.LabelRef(fmt.Sprintf("less%d", w)))
		f.arg("stride", limit)
		f.MOVQ(cursor, rows4[0])
		for r := 1; r < w; r++ {
			f.LEAQ(operand.Mem{Base: rows4[r-1], Index: limit, Scale: 1}, rows4[r])
		}
		f.LEAQ(operand.Mem{Base: rows4[w-1], Index: limit, Scale: 1}, cursor)
		f.MOVQ(cursor, next4[0])
		do(w)
		f.store(w)
		f.SUBQ(operand.Imm(uint64(w)), left)
		f.JMP(operand.LabelRef(fmt.Sprintf("by%d", w)))
		f.Label(fmt.Sprintf("less%d", w))
	}
	f.VZEROUPPER()
	f.RET()
}

// gather writes a kernel for rows named by ids, width of them at a time.
func (f *pairs) gather(name string, width int, prologue func(), do body) {
	f.linear = false
	f.function(name, nil, gatherForm...)
	f.arg("q", query)
	f.arg("ids", cursor)
	f.arg("out", out)
	prologue()
	f.arg("count", left)
	for _, w := range widths(width) {
		f.Label(fmt.Sprintf("by%d", w))
		f.CMPQ(left, operand.Imm(uint64(w)))
		f.JLT(operand.LabelRef(fmt.Sprintf("less%d", w)))
		f.addresses(rows4[:w], 0)
		if w > 1 {
			// Without w ids more these rows are prefetched again, which costs next to nothing.
			for r := range w {
				f.MOVQ(rows4[r], next4[r])
			}
			f.CMPQ(left, operand.Imm(uint64(2*w)))
			f.JLT(operand.LabelRef(fmt.Sprintf("last%d", w)))
			f.addresses(next4[:w], w)
			f.Label(fmt.Sprintf("last%d", w))
		} else {
			f.MOVQ(rows4[0], next4[0])
		}
		do(w)
		f.store(w)
		f.ADDQ(operand.Imm(uint64(4*w)), cursor)
		f.SUBQ(operand.Imm(uint64(w)), left)
		f.JMP(operand.LabelRef(fmt.Sprintf("by%d", w)))
		f.Label(fmt.Sprintf("less%d", w))
	}
	f.VZEROUPPER()
	f.RET()
}

// addresses computes where the rows of the ids from the first-th on are.
func (f *pairs) addresses(to []reg.GPPhysical, first int) {
	f.arg("stride", limit)
	f.arg("base", index)
	for r, p := range to {
		f.MOVL(operand.Mem{Base: cursor, Disp: 4 * (first + r)}, p.As32())
		f.IMULQ(limit, p)
		f.ADDQ(index, p)
	}
}

// store writes the low n lanes of X0 to out.
func (f *pairs) store(n int) {
	to := operand.Mem{Base: out}
	switch n {
	case 1:
		f.VMOVSS(reg.X0, to)
	case 2:
		f.VMOVLPS(reg.X0, to)
	case 4:
		f.VMOVUPS(reg.X0, to)
	}
	f.ADDQ(operand.Imm(uint64(4*n)), out)
}

// label makes a name that is new in this file.
func (f *pairs) label(stem string) string {
	f.labels++
	return fmt.Sprintf("%s_%d", stem, f.labels)
}

// widths are how many rows are taken at a time: width as long as there are so many, then one.
func widths(width int) []int {
	if width == 1 {
		return []int{1}
	}
	return []int{width, 1}
}

func direct(base reg.Register, disp int) operand.Mem { return operand.Mem{Base: base, Disp: disp} }

// atIndex is the operand at base+index*scale+disp.
func atIndex(base reg.Register, scale uint8, disp int) operand.Mem {
	return operand.Mem{Base: base, Index: index, Scale: scale, Disp: disp}
}

func ref(label string) operand.LabelRef { return operand.LabelRef(label) }

// The vector registers by number.
var (
	xmm = [32]reg.VecPhysical{
		reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7, reg.X8, reg.X9, reg.X10, reg.X11, reg.X12, reg.X13, reg.X14, reg.X15,
		reg.X16, reg.X17, reg.X18, reg.X19, reg.X20, reg.X21, reg.X22, reg.X23, reg.X24, reg.X25, reg.X26, reg.X27, reg.X28, reg.X29, reg.X30, reg.X31,
	}
	ymm, zmm = resized(func(x reg.VecPhysical) reg.VecPhysical { return x.AsY().(reg.VecPhysical) }),
		resized(func(x reg.VecPhysical) reg.VecPhysical { return x.AsZ().(reg.VecPhysical) })
)

func resized(as func(reg.VecPhysical) reg.VecPhysical) (to [32]reg.VecPhysical) {
	for k, x := range xmm {
		to[k] = as(x)
	}
	return to
}

// arg loads a parameter.
func (f *pairs) arg(name string, to reg.Register) { f.MOVQ(f.addr(name), to) }
