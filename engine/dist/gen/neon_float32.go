package main

// neonSum is a sum of float32 terms over w rows: what package dist calls an order, with the
// lanes of one row in perRow accumulators from V16 on.
type neonSum struct {
	*neonFile
	l2     bool
	w      int
	perRow int
}

// writeNEONFloat32 writes the float32 kernels, one for every order.
func writeNEONFloat32(f *neonFile) {
	for _, l2 := range []bool{true, false} {
		metric := "ip"
		if l2 {
			metric = "l2"
		}
		for _, o := range []struct {
			name string
			sum  func(neonSum)
		}{
			{"Pyramid16", func(s neonSum) { s.pyramid(4, true) }},
			{"Pyramid8", func(s neonSum) { s.pyramid(2, true) }},
			{"Pyramid4", func(s neonSum) { s.pyramid(1, false) }},
			{"HNSW16", neonSum.hnsw16},
			{"HNSW4", neonSum.hnsw4},
			{"Faiss", neonSum.faiss},
		} {
			f.rowsFunc(metric+o.name+"RowsNEON", 0, 4, func(w int) { o.sum(neonSum{neonFile: f, l2: l2, w: w, perRow: 4}) })
		}
	}
}

// acc is accumulator j of row r.
func (s neonSum) acc(r, j int) int { return 16 + s.perRow*r + j }

// clear zeroes the first count accumulators of each row.
func (s neonSum) clear(count int) {
	for r := range s.w {
		for j := range count {
			s.zero(s.acc(r, j))
		}
	}
}

// block adds the next 4*count terms to the first count accumulators.
func (s neonSum) block(count int, fused bool) {
	s.op("VLD1.P %d(R7), %s", 16*count, vectors(0, count, "S4"))
	for r := range s.w {
		s.op("VLD1.P %d(R%d), %s", 16*count, 8+r, vectors(4, count, "S4"))
		s.terms(r, 0, count, fused)
	}
}

// terms adds the terms of V0 and up and V4 and up to accumulators of row r from first on.
func (s neonSum) terms(r, first, count int, fused bool) {
	for j := range count {
		a, b, acc := j, 4+j, s.acc(r, first+j)
		if s.l2 {
			s.fsub(b, a, b)
			a = b
		}
		if fused {
			s.op("VFMLA V%d.S4, V%d.S4, V%d.S4", b, a, acc)
			continue
		}
		s.fmul(b, a, 4+j)
		s.fadd(4+j, acc, acc)
	}
}

// blocks adds the terms of the elements that n has above shift bits, 4*count at a time.
func (s neonSum) blocks(shift, count int, fused bool) {
	s.op("LSR $%d, R6, R12", shift)
	s.repeat(func() { s.block(count, fused) })
}

// ifBit adds 4*count terms if n has the bit.
func (s neonSum) ifBit(count int, fused bool) {
	skip := s.label("skip")
	s.op("AND $%d, R6, R12", 4*count)
	s.op("CBZ R12, %s", skip)
	s.block(count, fused)
	s.mark(skip)
}

// fold adds the upper half of the accumulators to the lower.
func (s neonSum) fold(count int) {
	for r := range s.w {
		for j := range count / 2 {
			s.fadd(s.acc(r, j+count/2), s.acc(r, j), s.acc(r, j))
		}
	}
}

// pyramid is the order of knowhere with 4*count lanes.
func (s neonSum) pyramid(count int, fused bool) {
	s.clear(count)
	s.blocks(map[int]int{4: 4, 2: 3, 1: 2}[count], count, fused)
	for count > 1 {
		s.fold(count)
		count /= 2
		s.ifBit(count, fused)
	}
	s.padded(fused)
	for r := range s.w {
		a := s.acc(r, 0)
		s.faddp(a, a, a)
		s.faddp(a, a, 8+r)
	}
}

// padded adds the last one to three terms, filled up with zeros to four.
func (s neonSum) padded(fused bool) {
	done := s.label("done")
	s.op("AND $3, R6, R12")
	s.op("CBZ R12, %s", done)
	for n := 1; n <= 3; n++ {
		other := s.label("not")
		s.op("CMP $%d, R12", n)
		s.op("BNE %s", other)
		s.few(n, 7, 0)
		for r := range s.w {
			s.few(n, 8+r, 4)
			s.terms(r, 0, 1, fused)
		}
		s.op("B %s", done)
		s.mark(other)
	}
	s.mark(done)
}

// few loads one to three elements at register p into vector v, zeros behind them.
func (s neonSum) few(n, p, v int) {
	if n == 1 {
		s.op("FMOVS (R%d), F%d", p, v)
		return
	}
	s.op("FMOVD (R%d), F%d", p, v)
	if n == 3 {
		s.op("ADD $8, R%d, R14", p)
		s.op("VLD1 (R14), V%d.S[2]", v)
	}
}

// halves adds up four lanes as (0+2)+(1+3).
func (s neonSum) halves() {
	for r := range s.w {
		a := s.acc(r, 0)
		s.op("VEXT $8, V%[1]d.B16, V%[1]d.B16, V7.B16", a)
		s.fadd(7, a, a)
		s.faddp(a, a, 8+r)
	}
}

// inTurn adds up 4*count lanes one after the other.
func (s neonSum) inTurn(count int) {
	for r := range s.w {
		s.op("FMOVS F%d, F%d", s.acc(r, 0), 8+r)
		for i := 1; i < 4*count; i++ {
			s.op("VMOV V%d.S[%d], V7.S[0]", s.acc(r, i/4), i%4)
			s.op("FADDS F7, F%[1]d, F%[1]d", 8+r)
		}
	}
}

// turn adds R12 terms one after the other to the scalars from to on, one for each row.
func (s neonSum) turn(fused bool, to int) {
	s.repeat(func() {
		s.op("FMOVS.P 4(R7), F0")
		for r := range s.w {
			s.op("FMOVS.P 4(R%d), F4", 8+r)
			a := 0
			if s.l2 {
				s.op("FSUBS F4, F0, F4")
				a = 4
			}
			if fused {
				s.op("FMADDS F4, F%[1]d, F%[2]d, F%[1]d", to+r, a)
				continue
			}
			s.op("FMULS F4, F%d, F4", a)
			s.op("FADDS F4, F%[1]d, F%[1]d", to+r)
		}
	})
}

// residue adds to each sum that of the last elements, n modulo mask+1.
func (s neonSum) residue(mask int) {
	few, sum, done := s.label("few"), s.label("sum"), s.label("done")
	s.op("AND $%d, R6, R12", mask)
	s.op("CBZ R12, %s", done)
	for r := range s.w {
		s.op("FMOVS ZR, F%d", 12+r)
	}
	if mask >= 8 {
		s.op("CMP $8, R12")
		s.op("BLT %s", few)
		s.op("SUB $8, R12, R13")
		s.op("MOVD $8, R12")
		s.turn(false, 12)
		s.op("MOVD R13, R12")
		s.op("CBZ R12, %s", sum)
		s.mark(few)
	}
	s.turn(s.l2, 12)
	if mask >= 8 {
		s.mark(sum)
	}
	for r := range s.w {
		s.op("FADDS F%d, F%[2]d, F%[2]d", 12+r, 8+r)
	}
	s.mark(done)
}

func (s neonSum) hnsw16() {
	s.clear(4)
	s.blocks(4, 4, true)
	if s.l2 {
		s.inTurn(4)
	} else {
		s.fold(4)
		s.fold(2)
		s.halves()
	}
	s.residue(15)
}

func (s neonSum) hnsw4() {
	if s.l2 {
		s.clear(1)
		s.blocks(2, 1, false)
	} else {
		s.clear(2)
		s.op("LSR $4, R6, R12")
		s.op("LSL $1, R12, R12")
		s.repeat(func() { s.block(2, false) })
		s.fold(2)
		s.op("AND $15, R6, R12")
		s.op("LSR $2, R12, R12")
		s.repeat(func() { s.block(1, false) })
	}
	s.inTurn(1)
	s.residue(3)
}

func (s neonSum) faiss() {
	s.clear(4)
	s.blocks(4, 4, true)
	s.fold(4)
	s.ifBit(2, true)
	s.fold(2)
	s.halves()
	s.op("AND $7, R6, R12")
	s.turn(true, 8)
}
