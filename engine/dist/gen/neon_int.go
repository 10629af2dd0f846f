package main

// neonInt is a kernel of int8 elements or of bits, 16 bytes at a time: a sum of int32 in one
// vector a row, V16 and up, and for Jaccard a second one, V24 and up.
type neonInt struct {
	*neonFile
	terms  func(r int) // of V0 and V4, row r
	finish func(r int) // to F8+r
}

// writeNEONInt writes the kernels of int8 and of bits.
func writeNEONInt(f *neonFile) {
	for _, k := range []struct {
		name   string
		terms  func(r int)
		finish func(r int)
	}{
		{"int8L2", f.int8L2, f.oneSum},
		{"int8IP", f.int8IP, f.oneSum},
		{"hamming", f.hamming, f.oneSum},
		{"jaccard", f.jaccard, f.jaccardShare},
	} {
		n := neonInt{neonFile: f, terms: k.terms, finish: k.finish}
		f.rowsFunc(k.name+"RowsNEON", 32, 4, n.sum)
	}
}

// sum computes the distances of w rows.
func (n neonInt) sum(w int) {
	for r := range w {
		n.zero(16 + r)
		n.zero(24 + r)
	}
	n.op("LSR $4, R6, R12")
	n.repeat(func() {
		n.op("VLD1.P 16(R7), [V0.B16]")
		for r := range w {
			n.op("VLD1.P 16(R%d), [V4.B16]", 8+r)
			n.terms(r)
		}
	})
	done := n.label("done")
	n.op("AND $15, R6, R13")
	n.op("CBZ R13, %s", done)
	n.buffer(7, 0)
	for r := range w {
		n.buffer(8+r, 4)
		n.terms(r)
	}
	n.mark(done)
	for r := range w {
		n.finish(r)
	}
}

// buffer loads the last R13 bytes at register p into vector v, zeros behind them, by way of
// the stack.
func (n neonInt) buffer(p, v int) {
	n.zero(v)
	n.op("MOVD $bytes-32(SP), R14")
	n.op("VST1 [V%d.B16], (R14)", v)
	n.op("MOVD R13, R12")
	n.op("MOVD R14, R15")
	n.repeat(func() {
		n.op("MOVBU.P 1(R%d), R16", p)
		n.op("MOVB.P R16, 1(R15)")
	})
	n.op("VLD1 (R14), [V%d.B16]", v)
}

// int8L2: differences fit int16, their squares go to int32.
func (f *neonFile) int8L2(r int) {
	f.word(0x0e202000, "SSUBL V%d.8H, V%d.8B, V%d.8B", 4, 0, 5)
	f.word(0x4e202000, "SSUBL2 V%d.8H, V%d.16B, V%d.16B", 4, 0, 6)
	for _, v := range []int{5, 6} {
		f.word(0x0e608000, "SMLAL V%d.4S, V%d.4H, V%d.4H", v, v, 16+r)
		f.word(0x4e608000, "SMLAL2 V%d.4S, V%d.8H, V%d.8H", v, v, 16+r)
	}
}

// int8IP: products fit int16, pairs of them go to int32.
func (f *neonFile) int8IP(r int) {
	f.word(0x0e20c000, "SMULL V%d.8H, V%d.8B, V%d.8B", 4, 0, 5)
	f.word(0x4e20c000, "SMULL2 V%d.8H, V%d.16B, V%d.16B", 4, 0, 6)
	for _, v := range []int{5, 6} {
		f.word(0x4e606800, "SADALP V%[1]d.4S, V%[2]d.8H", 0, v, 16+r)
	}
}

func (f *neonFile) hamming(r int) {
	f.op("VEOR V0.B16, V4.B16, V5.B16")
	f.count(5, 16+r)
}

func (f *neonFile) jaccard(r int) {
	f.op("VAND V0.B16, V4.B16, V5.B16")
	f.count(5, 16+r)
	f.op("VORR V0.B16, V4.B16, V6.B16")
	f.count(6, 24+r)
}

// count adds the number of bits of vector v to the four sums of acc.
func (f *neonFile) count(v, acc int) {
	f.op("VCNT V%[1]d.B16, V%[1]d.B16", v)
	f.word(0x6e202800, "UADDLP V%[1]d.8H, V%[2]d.16B", 0, v, v)
	f.word(0x6e606800, "UADALP V%[1]d.4S, V%[2]d.8H", 0, v, acc)
}

func (f *neonFile) oneSum(r int) {
	f.op("VADDV V%d.S4, V5", 16+r)
	f.op("FMOVS F5, R12")
	f.op("SCVTFWS R12, F%d", 8+r)
}

// jaccardShare is 1 where no bit is set in either, not 0/0.
func (f *neonFile) jaccardShare(r int) {
	some := f.label("some")
	f.op("VADDV V%d.S4, V5", 16+r)
	f.op("VADDV V%d.S4, V6", 24+r)
	f.op("FMOVS F5, R12")
	f.op("FMOVS F6, R13")
	f.op("SUB R12, R13, R14")
	f.op("SCVTFWS R14, F%d", 8+r)
	f.op("SCVTFWS R13, F6")
	f.op("FDIVS F6, F%[1]d, F%[1]d", 8+r)
	f.op("CBNZW R13, %s", some)
	f.op("FMOVS $1.0, F%d", 8+r)
	f.mark(some)
}
