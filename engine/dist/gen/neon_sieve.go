package main

// writeNEONSieve writes the kernels of Sieve, which use SDOT (FEAT_DotProd), and of Codes.
func writeNEONSieve(file *file) {
	f := neon{file}
	f.sieve()
	f.function("codesNEON", rowsParams, 0)
	f.rows(f.codes)
}

// codes writes the sums of four rows with a query of 16 bits per element. The results are int32.
func (f neon) codes() {
	for r := range 4 {
		f.zero(16 + r)
	}
	f.op("LSR $4, R6, R12")
	f.repeat(func() {
		f.op("VLD1.P 32(R7), [V0.H8, V1.H8]")
		for r := range 4 {
			f.op("VLD1.P 16(R%d), [V4.B16]", 8+r)
			f.op("VUXTL V4.B8, V5.H8")
			f.op("VUXTL2 V4.B16, V6.H8")
			for half, v := range []int{5, 6} {
				f.word(0x0e608000, "SMLAL V%d.4S, V%d.4H, V%d.4H", half, v, 16+r)
				f.word(0x4e608000, "SMLAL2 V%d.4S, V%d.8H, V%d.8H", half, v, 16+r)
			}
		}
	})
	for r := range 4 {
		f.op("VADDV V%d.S4, V%d", 16+r, 8+r)
	}
}

// sieve writes the kernel for one query of two planes. It makes codes signed, so there is no offset to
// subtract. Registers: R0 query, R1 codes, R2 and R3 numbers, R4 cut, R5 out, R6 words, R7 quads; R8 the bits
// of a word, R9 their number; V16 to V19 and V20 to V23 the sums of 16 rows with the upper and lower plane, V24
// to V27 F, K, A and B, V28 one bit per lane.
func (f neon) sieve() {
	f.function("sieveNEON", sieveParams, 0)
	for _, p := range []struct {
		name     string
		at, into int
	}{
		{"q", 0, 0},
		{"x", 16, 1},
		{"a", 24, 2},
		{"b", 32, 3},
		{"cut", 40, 4},
		{"out", 48, 5},
		{"words", 64, 6},
		{"quads", 72, 7},
	} {
		f.op("MOVD %s+%d(FP), R%d", p.name, p.at, p.into)
	}
	for i := range 4 {
		f.op("ADD $%d, R4, R13", 4*i)
		f.op("VLD1R (R13), [V%d.S4]", 24+i)
	}
	f.op("MOVD $0x8080808080808080, R13")
	f.op("VDUP R13, V2.D2")
	f.op("MOVD $0x0000000200000001, R13")
	f.op("VMOV R13, V28.D[0]")
	f.op("MOVD $0x0000000800000004, R13")
	f.op("VMOV R13, V28.D[1]")
	f.op("CBZ R6, end")
	f.mark("word")
	f.op("MOVD ZR, R8")
	f.op("MOVD ZR, R9")
	f.mark("group")
	for v := range 8 {
		f.zero(16 + v)
	}
	f.op("MOVD R0, R10")
	f.op("ADD R7<<2, R0, R11")
	f.op("MOVD R7, R12")
	f.repeat(func() {
		f.op("VLD1R.P 4(R10), [V0.S4]")
		f.op("VLD1R.P 4(R11), [V1.S4]")
		f.op("VLD1.P 64(R1), %s", vectors(4, 4, "B16"))
		for r := range 4 {
			f.op("VEOR V2.B16, V%[1]d.B16, V%[1]d.B16", 4+r)
			f.word(0x4e809400, "SDOT V%d.4S, V%d.16B, V%d.16B", 0, 4+r, 16+r)
			f.word(0x4e809400, "SDOT V%d.4S, V%d.16B, V%d.16B", 1, 4+r, 20+r)
		}
	})
	for r := range 4 {
		f.sieveCut(16 + r)
	}
	f.op("CMP $64, R9")
	f.op("BLT group")
	f.op("MOVD.P R8, 8(R5)")
	f.op("SUBS $1, R6, R6")
	f.op("BNE word")
	f.mark("end")
	f.op("RET")
}

// sieveCut compares four rows with the cut and puts their bits into R8. Their sums with the upper plane are in
// vector v.
func (f neon) sieveCut(v int) {
	f.op("VSHL $8, V%[1]d.S4, V%[1]d.S4", v)
	f.op("VADD V%d.S4, V%[2]d.S4, V%[2]d.S4", v+4, v)
	f.word(0x4e21d800, "SCVTF V%[1]d.4S, V%[2]d.4S", 0, v, v)
	f.fmul(24, v, v)
	f.op("VLD1.P 16(R2), [V5.S4]")
	f.op("VLD1.P 16(R3), [V6.S4]")
	f.op("VMOV V25.B16, V4.B16")
	f.op("VFMLA V26.S4, V5.S4, V4.S4")
	f.op("VFMLA V27.S4, V6.S4, V4.S4")
	f.word(0x6e20e400, "FCMGE V%d.4S, V%d.4S, V%d.4S", v, 4, 5)
	f.word(0x4e601c00, "BIC V%d.16B, V%d.16B, V%d.16B", 5, 28, 5)
	f.op("VADDV V5.S4, V5")
	f.op("FMOVS F5, R13")
	f.op("LSL R9, R13, R13")
	f.op("ORR R13, R8, R8")
	f.op("ADD $4, R9, R9")
}
