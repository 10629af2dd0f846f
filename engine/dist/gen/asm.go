package main

import (
	"fmt"
	"strings"
)

// file holds the text of an assembly file and of the declarations of its functions.
type file struct {
	text, decls strings.Builder
	labels      int
	params      []string // parameters of the current function
}

// op writes an amd64 instruction. The destination is the last operand.
func (f *file) op(name string, operands ...any) {
	list := make([]string, len(operands))
	for i, o := range operands {
		list[i] = fmt.Sprint(o)
	}
	fmt.Fprintf(&f.text, "\t%s\n", strings.TrimSpace(name+" "+strings.Join(list, ", ")))
}

// mark writes a label.
func (f *file) mark(label string) { f.text.WriteString(label + ":\n") }

// label returns a name that is unique in this file.
func (f *file) label(stem string) string {
	f.labels++
	return fmt.Sprintf("%s_%d", stem, f.labels)
}

// The parameters of the functions that package dist calls.
const (
	rowsParams  = "q, base unsafe.Pointer, stride uintptr, ids *uint32, out *float32, count, n int"
	scanParams  = "q, x unsafe.Pointer, stride uintptr, out *float32, rows, n int"
	blockParams = "q unsafe.Pointer, qStride uintptr, x unsafe.Pointer, stride uintptr, out *float32, outStride, " +
		"rows, n int"
	sieveParams = "q unsafe.Pointer, qStride uintptr, x unsafe.Pointer, a, b *float32, cut, out unsafe.Pointer, " +
		"outStride, words, quads int"
)

// function starts a function that Go calls, with a frame of the given number of bytes. Each parameter takes
// eight bytes.
func (f *file) function(name, params string, frame int) {
	fmt.Fprintf(&f.decls, "\n//go:noescape\nfunc %s(%s)\n", name, params)
	f.use(params)
	fmt.Fprintf(&f.text, "\n// func %s(%s)\nTEXT ·%s(SB), NOSPLIT, $%d-%d\n", name, params, name, frame,
		8*len(f.params))
}

// routine starts a function that only this file uses, by jump or call. Its parameters are those of its caller.
func (f *file) routine(name, about, params string, frame int) {
	f.use(params)
	fmt.Fprintf(&f.text, "\n// %s %s\nTEXT %s<>(SB), NOSPLIT, $%d-%d\n", name, about, name, frame, 8*len(f.params))
}

func (f *file) use(params string) {
	f.params = nil
	for p := range strings.SplitSeq(params, ", ") {
		if p != "" {
			name, _, _ := strings.Cut(p, " ")
			f.params = append(f.params, name)
		}
	}
}

// arg returns the stack operand of a parameter.
func (f *file) arg(name string) string {
	for i, p := range f.params {
		if p == name {
			return fmt.Sprintf("%s+%d(FP)", name, 8*i)
		}
	}
	panic("no parameter " + name)
}

// load writes an instruction that loads a parameter.
func (f *file) load(name string, to reg) { f.op("MOVQ", f.arg(name), to) }

// reg is an amd64 register.
type reg string

// The general registers.
const (
	ax, bx, cx, dx, si, di               reg = "AX", "BX", "CX", "DX", "SI", "DI"
	r8, r9, r10, r11, r12, r13, r14, r15 reg = "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"
)

// x, y and z return the i-th vector register with 128, 256 and 512 bits.
func x(i int) reg { return reg(fmt.Sprintf("X%d", i)) }
func y(i int) reg { return reg(fmt.Sprintf("Y%d", i)) }
func z(i int) reg { return reg(fmt.Sprintf("Z%d", i)) }

// imm returns an immediate operand.
func imm(i int) string { return fmt.Sprintf("$%d", i) }

// mem returns the operand for memory at base+disp, in bytes.
func mem(base reg, disp int) string {
	if disp == 0 {
		return fmt.Sprintf("(%s)", base)
	}
	return fmt.Sprintf("%d(%s)", disp, base)
}

// memAt returns the operand for memory at base+index*scale+disp, in bytes.
func memAt(base, index reg, scale, disp int) string {
	return fmt.Sprintf("%s(%s*%d)", mem(base, disp), index, scale)
}

// zero clears count vector registers, starting with first.
func (f *file) zero(first, count int) {
	for i := first; i < first+count; i++ {
		f.op("VPXOR", x(i), x(i), x(i))
	}
}
