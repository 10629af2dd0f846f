package main

import (
	"fmt"
	"strings"
)

// neon writes a file of arm64 assembly. Instructions that Go's assembler does not support are written as words,
// with the mnemonic in a comment (encodings: Arm ARM, section C7.2).
//
// Registers of the kernels over rows: R0 query, R1 base or next row, R2 stride, R3 ids, R4 out, R5 count, R6 n;
// R7 position in the query, R8 to R11 positions in four rows; R12 to R17 scratch. V0 to V3 hold the query, V4
// to V7 a row, V16 to V31 accumulators, and F8 to F11 the results of the rows.
type neon struct{ *file }

// op writes an instruction.
func (f neon) op(format string, args ...any) { fmt.Fprintf(&f.text, "\t"+format+"\n", args...) }

// word writes the instruction code with the vector registers m, n and d.
func (f neon) word(code uint32, mnemonic string, m, n, d int) {
	f.op("WORD $0x%08x // %s", code|uint32(m)<<16|uint32(n)<<5|uint32(d), fmt.Sprintf(mnemonic, d, n, m))
}

// fadd writes d = n + m in four lanes of float32. fsub and fmul do the same for - and *.
func (f neon) fadd(m, n, d int) { f.word(0x4e20d400, "FADD V%d.4S, V%d.4S, V%d.4S", m, n, d) }
func (f neon) fsub(m, n, d int) { f.word(0x4ea0d400, "FSUB V%d.4S, V%d.4S, V%d.4S", m, n, d) }
func (f neon) fmul(m, n, d int) { f.word(0x6e20dc00, "FMUL V%d.4S, V%d.4S, V%d.4S", m, n, d) }

// faddp writes the pairwise sums of adjacent lanes of n and m to d.
func (f neon) faddp(m, n, d int) { f.word(0x6e20d400, "FADDP V%d.4S, V%d.4S, V%d.4S", m, n, d) }

func (f neon) zero(v int) { f.op("VEOR V%[1]d.B16, V%[1]d.B16, V%[1]d.B16", v) }

// rows writes a kernel that takes four rows at a time. Missing rows are replaced by the last one. sums leaves
// the results in F8 to F11. The kernel prefetches the rows of the next four ids.
func (f neon) rows(sums func()) {
	for i, p := range []string{"q", "base", "stride", "ids", "out", "count", "n"} {
		f.op("MOVD %s+%d(FP), R%d", p, 8*i, i)
	}
	f.op("CMP $0, R5")
	f.op("BLE done")
	f.mark("group")
	f.op("CBZ R3, rows")
	for r := range 4 {
		f.next(r, "id", func() {
			f.op("MOVWU.P 4(R3), R13")
			f.op("MADD R13, R1, R2, R%d", 8+r)
		})
	}
	for r := range 4 {
		f.op("MOVWU %d(R3), R13", 4*r)
		f.op("MADD R13, R1, R2, R14")
		f.op("PRFM (R14), PLDL1KEEP")
		f.op("PRFM 64(R14), PLDL1KEEP")
	}
	f.op("B go")
	f.mark("rows")
	for r := range 4 {
		f.next(r, "row", func() {
			f.op("MOVD R1, R%d", 8+r)
			f.op("ADD R2, R1, R1")
		})
	}
	f.mark("go")
	f.op("MOVD R0, R7")
	sums()
	for r := range 4 {
		if r > 0 {
			f.op("CMP $%d, R5", r)
			f.op("BLE done")
		}
		f.op("FMOVS.P F%d, 4(R4)", 8+r)
	}
	f.op("SUBS $4, R5, R5")
	f.op("BGT group")
	f.mark("done")
	f.op("RET")
}

// next sets the address of row r of four, or that of the row before it if row r is missing.
func (f neon) next(r int, stem string, set func()) {
	if r == 0 {
		set()
		return
	}
	have := fmt.Sprintf("%s%d", stem, r)
	f.op("MOVD R%d, R%d", 7+r, 8+r)
	f.op("CMP $%d, R5", r)
	f.op("BLE %s", have)
	set()
	f.mark(have)
}

// vectors returns a list of count registers from first on, for a load.
func vectors(first, count int, lanes string) string {
	var v []string
	for i := range count {
		v = append(v, fmt.Sprintf("V%d.%s", first+i, lanes))
	}
	return "[" + strings.Join(v, ", ") + "]"
}

// repeat writes a loop that runs body R12 times.
func (f neon) repeat(body func()) {
	loop, done := f.label("loop"), f.label("done")
	f.op("CBZ R12, %s", done)
	f.mark(loop)
	body()
	f.op("SUBS $1, R12, R12")
	f.op("BNE %s", loop)
	f.mark(done)
}
