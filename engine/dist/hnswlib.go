package dist

// fused reports whether the loops of hnswlib with less than 16 lanes round once for a product and a sum in this order.
func (s summation) fused() bool {
	return s.order == orderHNSW16Fused || s.order == orderHNSW8Fused || s.order == orderHNSW4Fused
}

// hnsw16 adds up the lanes of orderHNSW16 and orderHNSW16Fused.
func (s summation) hnsw16(acc *[16]float32) float32 {
	if s.l2 {
		return inTurn(acc[:])
	}
	fold(acc[:])
	fold(acc[:8])
	return (acc[0] + acc[2]) + (acc[1] + acc[3])
}

// hnsw8 is sum in orderHNSW8 and orderHNSW8Fused, with eight lanes.
func (s summation) hnsw8(acc, q, x []float32) float32 {
	main := len(q) &^ 15
	s.lanes(s.fused(), acc, q[:main], x[:main])
	return s.residue(inTurn(acc), q[main:], x[main:])
}

// hnsw4 is sum in orderHNSW4 and orderHNSW4Fused.
func (s summation) hnsw4(acc *[16]float32, q, x []float32) float32 {
	if !s.l2 {
		main := len(q) &^ 15
		s.lanes(s.fused(), acc[:8], q[:main], x[:main])
		fold(acc[:8])
		q, x = q[main:], x[main:]
	}
	q, x = s.lanes(s.fused(), acc[:4], q, x)
	return s.residue(inTurn(acc[:4]), q, x)
}

// plain is sum in orderPlain4 and orderPlain16, with four lanes.
func (s summation) plain(acc, q, x []float32) float32 {
	main := len(q) &^ 3
	if s.order == orderPlain16 {
		main = len(q) &^ 15
	}
	s.lanes(false, acc, q[:main], x[:main])
	return inTurn(acc) + s.turn(false, 0, q[main:], x[main:])
}

// residue adds to sum that of the elements that are left, if there are any. The compiler of hnswlib makes products of
// eight at once in L2, and of four where it prefers vectors of 256 bits: those are rounded.
func (s summation) residue(sum float32, q, x []float32) float32 {
	if len(q) == 0 {
		return sum
	}
	if !s.l2 {
		return sum + s.turn(s.fused(), 0, q, x)
	}
	once := 0
	for _, width := range s.products() {
		if len(q)-once >= width {
			once += width
		}
	}
	return sum + s.turn(true, s.turn(false, 0, q[:once], x[:once]), q[once:], x[once:])
}

// products are how many products of L2 are made at once of what is left, which are less than 16 elements.
func (s summation) products() []int {
	if s.order == orderHNSW16 {
		return []int{8}
	}
	return []int{8, 4}
}

// hnswNorm2 is the plain sum of hnswlib's normalize_vector, of which the compiler fuses only the last products: up to
// seven where it prefers vectors of 512 bits, up to three where of 256, none without FMA.
func hnswNorm2(p Profile, x []float32) float32 {
	s, main := summation{}, len(x)
	switch p {
	case HNSWLib:
		main &^= 7
	case HNSWLibSSE:
	default:
		main &^= 3
	}
	return s.turn(true, s.turn(false, 0, x[:main], x[:main]), x[main:], x[main:])
}
