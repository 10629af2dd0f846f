package dist

import "unsafe"

// Sieve selects the rows of 8-bit codes that pass a cut, as one bit per row, 64 rows to a word. The bits are
// the same on every back end.
//
// A row has codes, which are unsigned bytes where 128 represents 0, and two numbers, a and b. Codes are stored
// in groups of SieveGroup rows: four elements of each row in turn, with dimensions padded with 128 to a
// multiple of four. A query v has integers (see Pack). A row u passes unless F*<v,u> <= K + A*a + B*b in
// float32, where each product except the first is added with a single rounding. A NaN passes. The sum <v,u> is
// exact if it fits in an int32, and is rounded once.
type Sieve struct {
	quads int // groups of four elements
	forms sieveForms
}

// SieveGroup is the number of rows in a group of codes.
const SieveGroup = 16

// SieveWord is the number of rows per word of bits.
const SieveWord = 64

// FineLimit and CoarseLimit are the greatest magnitudes in a packed query: FineLimit in two planes of 8 bits,
// CoarseLimit in one plane.
const (
	FineLimit   = 127*256 - 1
	CoarseLimit = 127
)

// Cut is the threshold that rows have to pass. See Sieve for the formula.
type Cut struct {
	F, K, A, B float32
	// Offset is 128 times the sum of the query's numbers, modulo 2^32. Codes that represent 0 as 128 add this
	// amount to each sum.
	Offset int32
	_      [3]int32 // pads Cut to 32 bytes, the step of the kernels
}

type (
	// sieveFunc writes words of bits to out for as many queries as the form takes. Queries are qStride bytes
	// apart, each has a cut, and their words are outStride words apart.
	sieveFunc func(
		q unsafe.Pointer, qStride uintptr, x unsafe.Pointer, a, b *float32, cut, out unsafe.Pointer,
		outStride, words, quads int,
	)
	// sieveForms holds the kernels of a back end. fine takes one query, blockFine two and blockCoarse four.
	// fine and blockFine take two planes, blockCoarse takes one. blockFine and blockCoarse may be nil. If wide
	// is set, a query is a single plane of 16 bits in all forms.
	sieveForms struct {
		fine, blockFine, blockCoarse sieveFunc
		wide                         bool
	}
)

// NewSieve returns the sieve for dim dimensions on the best back end of this CPU.
func NewSieve(dim int) *Sieve {
	all := sieves()
	return &Sieve{quads: (dim + 3) / 4, forms: all[len(all)-1]}
}

// sieves returns the kernels that this CPU supports: the specification first, the fastest last.
func sieves() []sieveForms {
	return append([]sieveForms{{fine: sieveGeneric, wide: true}}, sieveNative()...)
}

// CodesBytes returns the size in bytes of the codes of the given number of rows, up to the end of their last
// group.
func (s *Sieve) CodesBytes(rows int) int {
	return (rows + SieveGroup - 1) / SieveGroup * s.GroupBytes()
}

// GroupBytes returns the size of a group in bytes.
func (s *Sieve) GroupBytes() int { return s.quads * 4 * SieveGroup }

// Blocks reports whether there is a kernel for several coarse queries at once. Without it, coarse queries take
// as long as fine ones.
func (s *Sieve) Blocks() bool { return s.forms.blockCoarse != nil }

// QueryBytes returns the size of a packed query in bytes.
func (s *Sieve) QueryBytes() int { return 8 * s.quads }

// Pack writes a query to dst, which has QueryBytes bytes, and returns the Offset of its cut. coarse must be set
// if the query is passed to Block as coarse; no number may then exceed CoarseLimit in magnitude.
func (s *Sieve) Pack(v []int16, coarse bool, dst []byte) (offset int32) {
	clear(dst)
	coarse = coarse && s.forms.blockCoarse != nil
	for i, x := range v {
		offset += 128 * int32(x)
		low := byte(x)
		switch {
		case s.forms.wide:
			dst[2*i], dst[2*i+1] = low, byte(x>>8)
		case coarse:
			dst[i] = low
		default:
			dst[i], dst[4*s.quads+i] = byte((x-int16(int8(low)))>>8), low
		}
	}
	return offset
}

// One writes to out a bit for each row at x, set if the row passes the cut. It reads the codes and numbers of
// all rows that out has bits for.
func (s *Sieve) One(q []byte, x unsafe.Pointer, a, b []float32, cut *Cut, out []uint64) {
	if len(out) == 0 {
		return
	}
	_, _ = a[SieveWord*len(out)-1], b[SieveWord*len(out)-1]
	s.forms.fine(unsafe.Pointer(&q[0]), 0, x, keep(&a[0]), keep(&b[0]), pointerTo(cut), pointerTo(&out[0]), 0, len(out),
		s.quads)
}

// Block is like One for four queries, QueryBytes apart. out holds the words of the four queries one after the
// other, the same number for each.
func (s *Sieve) Block(q []byte, coarse bool, x unsafe.Pointer, a, b []float32, cuts *[4]Cut, out []uint64) {
	words := len(out) / 4
	if words == 0 {
		return
	}
	_, _ = a[SieveWord*words-1], b[SieveWord*words-1]
	f, width := s.forms.blockFine, 2
	switch {
	case coarse && s.forms.blockCoarse != nil:
		f, width = s.forms.blockCoarse, 4
	case f == nil:
		f, width = s.forms.fine, 1
	}
	for j := 0; j < 4; j += width {
		f(unsafe.Pointer(&q[j*s.QueryBytes()]), uintptr(s.QueryBytes()), x, keep(&a[0]), keep(&b[0]),
			pointerTo(&cuts[j]), pointerTo(&out[j*words]), words, words, s.quads)
	}
}

// pointerTo is like keep, and returns an unsafe.Pointer.
func pointerTo[T any](p *T) unsafe.Pointer { return unsafe.Pointer(keep(p)) }

// sieveGeneric is the specification of the kernels, for one query.
func sieveGeneric(
	q unsafe.Pointer, _ uintptr, x unsafe.Pointer, a, b *float32, cut, out unsafe.Pointer, _, words, quads int,
) {
	v, c := unsafe.Slice((*int16)(q), 4*quads), (*Cut)(cut)
	ofA, ofB := unsafe.Slice(a, SieveWord*words), unsafe.Slice(b, SieveWord*words)
	to := unsafe.Slice((*uint64)(out), words)
	clear(to)
	for row := range ofA {
		group := unsafe.Slice((*byte)(unsafe.Add(x, row/SieveGroup*quads*4*SieveGroup)), quads*4*SieveGroup)
		sum := -c.Offset
		for i, n := range v {
			sum += int32(n) * int32(group[i/4*4*SieveGroup+row%SieveGroup*4+i%4])
		}
		if c.Pass(sum, ofA[row], ofB[row]) {
			to[row/SieveWord] |= 1 << (row % SieveWord)
		}
	}
}

// Pass reports whether a row with this sum and the numbers a and b passes.
func (c *Cut) Pass(sum int32, a, b float32) bool {
	return !(float32(sum)*c.F <= fusedAdd(c.B, b, fusedAdd(c.A, a, c.K)))
}
