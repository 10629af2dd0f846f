package main

// writeNEONInt writes the kernels of int8. Each row has a vector of int32 sums, from V16 on.
func writeNEONInt(file *file) {
	f := neon{file}
	f.int8("int8L2RowsNEON", f.int8L2)
	f.int8("int8IPRowsNEON", f.int8IP)
}

// int8 writes a kernel. terms writes the instructions that add the terms of the 16 elements in V0 and V4 to the
// accumulator of row r.
func (f neon) int8(name string, terms func(r int)) {
	f.function(name, rowsParams, 32)
	f.rows(func() {
		for r := range 4 {
			f.zero(16 + r)
		}
		f.op("LSR $4, R6, R12")
		f.repeat(func() {
			f.op("VLD1.P 16(R7), [V0.B16]")
			for r := range 4 {
				f.op("VLD1.P 16(R%d), [V4.B16]", 8+r)
				terms(r)
			}
		})
		f.op("AND $15, R6, R13")
		f.op("CBZ R13, whole")
		f.buffer(7, 0)
		for r := range 4 {
			f.buffer(8+r, 4)
			terms(r)
		}
		f.mark("whole")
		for r := range 4 {
			f.op("VADDV V%d.S4, V5", 16+r)
			f.op("FMOVS F5, R12")
			f.op("SCVTFWS R12, F%d", 8+r)
		}
	})
}

// buffer loads the last R13 bytes at register p into vector v by way of the stack, padded with zeros.
func (f neon) buffer(p, v int) {
	f.zero(v)
	f.op("MOVD $bytes-32(SP), R14")
	f.op("VST1 [V%d.B16], (R14)", v)
	f.op("MOVD R13, R12")
	f.op("MOVD R14, R15")
	f.repeat(func() {
		f.op("MOVBU.P 1(R%d), R16", p)
		f.op("MOVB.P R16, 1(R15)")
	})
	f.op("VLD1 (R14), [V%d.B16]", v)
}

// int8L2 adds squared differences: the differences fit in int16 and their squares are added to int32.
func (f neon) int8L2(r int) {
	f.word(0x0e202000, "SSUBL V%d.8H, V%d.8B, V%d.8B", 4, 0, 5)
	f.word(0x4e202000, "SSUBL2 V%d.8H, V%d.16B, V%d.16B", 4, 0, 6)
	for _, v := range []int{5, 6} {
		f.word(0x0e608000, "SMLAL V%d.4S, V%d.4H, V%d.4H", v, v, 16+r)
		f.word(0x4e608000, "SMLAL2 V%d.4S, V%d.8H, V%d.8H", v, v, 16+r)
	}
}

// int8IP adds products: they fit in int16 and are added to int32 in pairs.
func (f neon) int8IP(r int) {
	f.word(0x0e20c000, "SMULL V%d.8H, V%d.8B, V%d.8B", 4, 0, 5)
	f.word(0x4e20c000, "SMULL2 V%d.8H, V%d.16B, V%d.16B", 4, 0, 6)
	for _, v := range []int{5, 6} {
		f.word(0x4e606800, "SADALP V%[1]d.4S, V%[2]d.8H", 0, v, 16+r)
	}
}
