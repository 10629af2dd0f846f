package main

// neonFloats writes kernels of floating-point rows with 16 lanes. The lanes of row r are in V(16+4r) and the next
// three registers. Between a body and the routine that finishes its rows, R20 holds the routine's address and R12
// the number of remaining elements.
type neonFloats struct {
	neon
	kind
}

// writeNEONFloat writes the kernels of float32, float16 and bfloat16.
func writeNEONFloat(f *file) {
	for _, kind := range kinds() {
		k := neonFloats{neon{f}, kind}
		for _, o := range k.orders() {
			k.finish(o)
		}
		for _, o := range k.orders() {
			k.function(k.name()+o.name+"RowsNEON", rowsParams, 0)
			k.op("MOVD n+48(FP), R21")
			k.op("LSR $4, R21, R21")
			if o.lazy {
				k.op("MOVD ZR, R21")
			}
			k.op("MOVD $%s<>(SB), R20", k.finisher(o))
			k.op("B %sBody<>(SB)", k.name())
		}
		k.routine(k.name()+"Body", "goes over the rows for the functions before it: 16 elements at a time, R21 times.",
			rowsParams, 16)
		k.rows(func() {
			for v := 16; v < 32; v++ {
				k.zero(v)
			}
			k.op("MOVD R21, R12")
			k.repeat(func() { k.block(4, true) })
			k.op("SUB R21<<4, R6, R12")
			k.op("CALL (R20)")
		})
	}
}

// acc returns the register of accumulator j of row r.
func (k neonFloats) acc(r, j int) int { return 16 + 4*r + j }

// block adds the next 4*count terms to the first count accumulators.
func (k neonFloats) block(count int, fused bool) {
	k.op("VLD1.P %d(R7), %s", 16*count, vectors(0, count, "S4"))
	for r := range 4 {
		k.row(r, count)
		for j := range count {
			a, b := j, 4+j
			if k.l2 {
				k.fsub(b, a, b)
				a = b
			}
			if fused {
				k.op("VFMLA V%d.S4, V%d.S4, V%d.S4", b, a, k.acc(r, j))
				continue
			}
			k.fmul(b, a, b)
			k.fadd(b, k.acc(r, j), k.acc(r, j))
		}
	}
}

// row loads the next elements of a row as float32, four into each of count vectors from V4 on.
func (k neonFloats) row(r, count int) {
	switch {
	case k.size() == 4:
		k.op("VLD1.P %d(R%d), %s", 16*count, 8+r, vectors(4, count, "S4"))
	case count == 4:
		k.op("VLD1.P 32(R%d), [V6.H8, V7.H8]", 8+r)
		// V6 is widened to V4 and V5, V7 to V6 and V7.
		k.widen(6, 5, true)
		k.widen(6, 4, false)
		k.widen(7, 6, false)
		k.widen(7, 7, true)
	default:
		k.op("VLD1.P 16(R%d), [V4.H8]", 8+r)
		k.widen(4, 5, true)
		k.widen(4, 4, false)
	}
}

// widen widens the lower or upper four elements of vector n to vector d.
func (k neonFloats) widen(n, d int, upper bool) {
	code, name := uint32(0x0e217800), "FCVTL V%[1]d.4S, V%[2]d.4H"
	if k.element == "bfloat16" {
		code, name = 0x2e613800, "SHLL V%[1]d.4S, V%[2]d.4H, $16"
	}
	if upper {
		code |= 0x40000000
		name = map[bool]string{
			false: "FCVTL2 V%[1]d.4S, V%[2]d.8H", true: "SHLL2 V%[1]d.4S, V%[2]d.8H, $16",
		}[k.element == "bfloat16"]
	}
	k.word(code, name, 0, n, d)
}

// finish writes the routine of an order that adds the lanes of four rows and the R12 remaining elements.
func (k neonFloats) finish(o order) {
	k.routine(k.finisher(o), "adds up the lanes of four rows and the elements that are left.", "", 0)
	switch o.name {
	case "Knowhere":
		k.fold(4)
		k.ifBit(2)
		k.fold(2)
		k.ifBit(1)
		k.padded()
		k.pairs()
	case "HNSW16":
		if k.l2 {
			k.inTurn(4)
		} else {
			k.fold(4)
			k.fold(2)
			k.halves()
		}
		k.residue(k.l2)
	case "HNSW4":
		if !k.l2 {
			k.op("MOVD R12, R13")
			k.op("LSR $4, R12, R12")
			k.repeat(func() {
				k.block(2, false)
				k.block(2, false)
			})
			k.op("AND $15, R13, R12")
			k.fold(2)
		}
		k.op("MOVD R12, R13")
		k.op("LSR $2, R12, R12")
		k.repeat(func() { k.block(1, false) })
		k.op("AND $3, R13, R12")
		k.inTurn(1)
		k.residue(false)
	default:
		k.fold(4)
		k.ifBit(2)
		k.fold(2)
		k.halves()
		k.op("AND $7, R12, R12")
		k.turn(true, 8)
	}
	k.op("RET")
}

// ifBit adds the next 4*count terms if the bit 4*count is set in the number of remaining elements.
func (k neonFloats) ifBit(count int) {
	skip := k.label("skip")
	k.op("AND $%d, R12, R13", 4*count)
	k.op("CBZ R13, %s", skip)
	k.block(count, true)
	k.mark(skip)
}

// fold adds the upper half of the accumulators to the lower half.
func (k neonFloats) fold(count int) {
	for r := range 4 {
		for j := range count / 2 {
			k.fadd(k.acc(r, j+count/2), k.acc(r, j), k.acc(r, j))
		}
	}
}

// padded adds the last one to three terms, padded with zeros to four. It loads two elements and one, or a
// single one. The first load clears the other lanes.
func (k neonFloats) padded() {
	k.op("AND $3, R12, R12")
	k.op("CBZ R12, whole")
	for p := 7; p < 12; p++ {
		v, have := 0, k.label("have")
		if p > 7 {
			v = 4
		}
		one := k.label("one")
		k.op("TBZ $1, R12, %s", one)
		k.op("FMOVD.P 8(R%d), F%d", p, v)
		k.op("TBZ $0, R12, %s", have)
		k.op("VLD1 (R%d), V%d.S[2]", p, v)
		k.op("B %s", have)
		k.mark(one)
		k.op("FMOVS (R%d), F%d", p, v)
		k.mark(have)
		if p == 7 {
			continue
		}
		a, acc := 0, k.acc(p-8, 0)
		if k.l2 {
			k.fsub(4, 0, 4)
			a = 4
		}
		k.op("VFMLA V4.S4, V%d.S4, V%d.S4", a, acc)
	}
	k.mark("whole")
}

// pairs adds four lanes as (0+1)+(2+3).
func (k neonFloats) pairs() {
	for r := range 4 {
		a := k.acc(r, 0)
		k.faddp(a, a, a)
		k.faddp(a, a, 8+r)
	}
}

// halves adds four lanes as (0+2)+(1+3).
func (k neonFloats) halves() {
	for r := range 4 {
		a := k.acc(r, 0)
		k.op("VEXT $8, V%[1]d.B16, V%[1]d.B16, V7.B16", a)
		k.fadd(7, a, a)
		k.faddp(a, a, 8+r)
	}
}

// inTurn adds 4*count lanes one after the other.
func (k neonFloats) inTurn(count int) {
	for r := range 4 {
		k.op("FMOVS F%d, F%d", k.acc(r, 0), 8+r)
		for i := 1; i < 4*count; i++ {
			k.op("VMOV V%d.S[%d], V7.S[0]", k.acc(r, i/4), i%4)
			k.op("FADDS F7, F%[1]d, F%[1]d", 8+r)
		}
	}
}

// turn adds R12 terms one after the other to four scalars, one per row, starting with F(to).
func (k neonFloats) turn(fused bool, to int) {
	k.repeat(func() {
		k.op("FMOVS.P 4(R7), F0")
		for r := range 4 {
			switch k.element {
			case "float32":
				k.op("FMOVS.P 4(R%d), F4", 8+r)
			case "float16":
				k.op("MOVHU.P 2(R%d), R13", 8+r)
				k.op("FMOVS R13, F4")
				k.op("FCVTHS F4, F4")
			default:
				k.op("MOVHU.P 2(R%d), R13", 8+r)
				k.op("LSL $16, R13, R13")
				k.op("FMOVS R13, F4")
			}
			a := 0
			if k.l2 {
				k.op("FSUBS F4, F0, F4")
				a = 4
			}
			if fused {
				k.op("FMADDS F4, F%[1]d, F%[2]d, F%[1]d", to+r, a)
				continue
			}
			k.op("FMULS F4, F%d, F4", a)
			k.op("FADDS F4, F%[1]d, F%[1]d", to+r)
		}
	})
}

// residue adds to each result the sum of the R12 remaining elements. If eight is set, the products of the first
// eight elements are rounded.
func (k neonFloats) residue(eight bool) {
	k.op("CBZ R12, whole")
	for r := range 4 {
		k.op("FMOVS ZR, F%d", 12+r)
	}
	if eight {
		k.op("MOVD R12, R14")
		k.op("AND $8, R12, R12")
		k.turn(false, 12)
		k.op("AND $7, R14, R12")
	}
	k.turn(k.l2, 12)
	for r := range 4 {
		k.op("FADDS F%d, F%[2]d, F%[2]d", 12+r, 8+r)
	}
	k.mark("whole")
}
