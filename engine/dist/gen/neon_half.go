package main

import "fmt"

// neonHalf is a sum of float16 or bfloat16 terms: see halfOrder of package dist.
type neonHalf struct {
	neonSum
	bf    bool
	lanes int
	accs  int
}

// writeNEONHalf writes the float16 and bfloat16 kernels.
func writeNEONHalf(f *neonFile) {
	for _, bf := range []bool{false, true} {
		for _, l2 := range []bool{true, false} {
			accs := 2
			if !bf && !l2 {
				accs = 1
			}
			orders := [][2]int{{16, accs}, {8, 1}}
			if bf {
				orders = append(orders, [2]int{4, 1})
			}
			for _, o := range orders {
				element, metric := "float16", "IP"
				if bf {
					element = "bfloat16"
				}
				if l2 {
					metric = "L2"
				}
				f.rowsFunc(fmt.Sprintf("%s%sRows%dx%dNEON", element, metric, o[0], o[1]), 96, 4/o[1], func(w int) {
					h := neonHalf{neonSum: neonSum{neonFile: f, l2: l2, w: w, perRow: 4 * o[1]}, bf: bf, lanes: o[0], accs: o[1]}
					h.sum()
				})
			}
		}
	}
}

// sum computes the distances of w rows.
func (h neonHalf) sum() {
	count := h.lanes / 4
	h.clear(h.perRow)
	if h.accs == 2 {
		h.op("LSR $5, R6, R12")
		h.repeat(func() {
			h.blockTo(0)
			h.blockTo(4)
		})
		for r := range h.w {
			for j := range 4 {
				h.fadd(h.acc(r, 4+j), h.acc(r, j), h.acc(r, j))
			}
		}
		skip := h.label("skip")
		h.op("AND $16, R6, R12")
		h.op("CBZ R12, %s", skip)
		h.blockTo(0)
		h.mark(skip)
	} else {
		h.op("LSR $%d, R6, R12", map[int]int{16: 4, 8: 3, 4: 2}[h.lanes])
		h.repeat(func() { h.blockTo(0) })
	}
	h.tail()
	for ; count > 1; count /= 2 {
		h.fold(count)
	}
	if h.lanes > 4 {
		h.halves()
		return
	}
	for r := range h.w {
		a := h.acc(r, 0)
		h.faddp(a, a, a)
		h.faddp(a, a, 8+r)
	}
}

// blockTo adds the next terms, one a lane, to the accumulators from first on.
func (h neonHalf) blockTo(first int) {
	count := h.lanes / 4
	h.op("VLD1.P %d(R7), %s", 16*count, vectors(0, count, "S4"))
	for r := range h.w {
		h.widen(8+r, true)
		h.terms(r, first, count, h.lanes > 4)
	}
}

// widen loads as many elements as there are lanes at register p into V4 and up, as float32.
func (h neonHalf) widen(p int, advance bool) {
	load := "VLD1"
	if advance {
		load = "VLD1.P"
	}
	switch {
	case h.lanes == 4:
		if advance {
			h.op("FMOVD.P 8(R%d), F4", p)
		} else {
			h.op("FMOVD (R%d), F4", p)
		}
		h.wide(4, false)
		return
	case h.lanes == 16 && advance:
		h.op("%s 32(R%d), [V6.H8, V7.H8]", load, p)
	case h.lanes == 16:
		h.op("%s (R%d), [V6.H8, V7.H8]", load, p)
	case advance:
		h.op("%s 16(R%d), [V4.H8]", load, p)
	default:
		h.op("%s (R%d), [V4.H8]", load, p)
	}
	if h.lanes == 16 {
		// V6 goes to V4 and V5, V7 to V6 and itself.
		h.wideTo(6, 5, true)
		h.wideTo(6, 4, false)
		h.wideTo(7, 6, false)
		h.wideTo(7, 7, true)
		return
	}
	h.wideTo(4, 5, true)
	h.wideTo(4, 4, false)
}

func (h neonHalf) wide(v int, upper bool) { h.wideTo(v, v, upper) }

// wideTo widens the lower or upper four elements of vector n to d.
func (h neonHalf) wideTo(n, d int, upper bool) {
	code, name := uint32(0x0e217800), "FCVTL V%[1]d.4S, V%[2]d.4H"
	if h.bf {
		code, name = 0x2e613800, "SHLL V%[1]d.4S, V%[2]d.4H, $16"
	}
	if upper {
		code |= 0x40000000
		name = map[bool]string{false: "FCVTL2 V%[1]d.4S, V%[2]d.8H", true: "SHLL2 V%[1]d.4S, V%[2]d.8H, $16"}[h.bf]
	}
	h.op("WORD $0x%08x // %s", code|uint32(n)<<5|uint32(d), fmt.Sprintf(name, d, n))
}

// tail adds the last terms, fewer than lanes, by way of buffers on the stack that are filled
// up with zeros: 64 bytes for the query, 32 for a row.
func (h neonHalf) tail() {
	done := h.label("done")
	h.op("AND $%d, R6, R13", h.lanes-1)
	h.op("CBZ R13, %s", done)
	h.zero(4)
	h.zero(5)
	h.zero(6)
	h.zero(7)
	h.op("MOVD $query-96(SP), R14")
	h.op("VST1 [V4.S4, V5.S4, V6.S4, V7.S4], (R14)")
	h.op("MOVD R13, R12")
	h.op("MOVD R14, R15")
	h.repeat(func() {
		h.op("MOVWU.P 4(R7), R16")
		h.op("MOVW.P R16, 4(R15)")
	})
	h.op("VLD1 (R14), %s", vectors(0, h.lanes/4, "S4"))
	h.op("ADD $64, R14, R14")
	for r := range h.w {
		h.zero(4)
		h.zero(5)
		h.op("VST1 [V4.S4, V5.S4], (R14)")
		h.op("MOVD R13, R12")
		h.op("MOVD R14, R15")
		h.repeat(func() {
			h.op("MOVHU.P 2(R%d), R16", 8+r)
			h.op("MOVH.P R16, 2(R15)")
		})
		h.widen(14, false)
		h.terms(r, 0, h.lanes/4, h.lanes > 4)
	}
	h.mark(done)
}
