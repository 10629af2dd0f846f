package dist

import "unsafe"

// Sieve tells which rows of 8-bit codes pass a cut, 64 of them to a word. What comes out is the same on every back end.
//
// A row has codes, unsigned bytes of which 128 stands for 0, and two numbers, a and b. Codes lie in groups of SieveGroup rows: four
// elements of each row by turns, dimensions filled up with 128 to a multiple of four (Codes). A query has whole numbers v (Pack). A
// row passes unless F*<v,u> <= K + A*a + B*b in float32, each product but the first added in one rounding; a NaN passes. The sum
// <v,u> is exact as long as it fits in an int32, and is rounded once.
type Sieve struct {
	quads int // groups of four elements
	forms sieveForms
}

// SieveGroup is how many rows of codes lie together.
const SieveGroup = 16

// SieveWord is how many rows a word of bits stands for.
const SieveWord = 64

// FineLimit and CoarseLimit are the greatest numbers of a packed query, in two planes of 8 bits and in one.
const (
	FineLimit   = 127*256 - 1
	CoarseLimit = 127
)

// Cut is what rows have to pass.
type Cut struct {
	F, K, A, B float32
	// Offset is 128 times the sum of the query's numbers, modulo 2^32: what the zeros of codes add.
	Offset int32
	_      [3]int32 // kernels step over 32 bytes
}

type (
	// sieveFunc writes, for as many queries as the form has, qStride bytes apart, with as many cuts, words of bits to out,
	// outStride words apart.
	sieveFunc func(q unsafe.Pointer, qStride uintptr, x unsafe.Pointer, a, b *float32, cut, out unsafe.Pointer, outStride, words, quads int)
	// sieveForms are the kernels of a back end. fine and coarse take one query and blockFine and blockCoarse two and four of them,
	// in two planes and in one; the latter three may be nil. wide says that a query is one plane of 16 bits in either case.
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

// sieves are the forms that this CPU has, the specification first, the best last.
func sieves() []sieveForms {
	return append([]sieveForms{{fine: sieveGeneric, wide: true}}, sieveNative()...)
}

// CodesBytes is what the codes of so many rows take, to the end of their last group.
func (s *Sieve) CodesBytes(rows int) int {
	return (rows + SieveGroup - 1) / SieveGroup * s.GroupBytes()
}

// GroupBytes is what one group takes.
func (s *Sieve) GroupBytes() int { return s.quads * 4 * SieveGroup }

// Blocks reports whether there is a kernel of coarse queries, several at once; else these take the time of fine ones.
func (s *Sieve) Blocks() bool { return s.forms.blockCoarse != nil }

// QueryBytes is what a packed query takes.
func (s *Sieve) QueryBytes() int { return 8 * s.quads }

// Pack writes a query to dst (QueryBytes long) and returns the offset of its cut; coarse if it goes through Block as such, with no
// number beyond CoarseLimit.
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

// One writes to out which of the rows at x pass the cut: it reads the codes and numbers of all rows that out has bits for.
func (s *Sieve) One(q []byte, x unsafe.Pointer, a, b []float32, cut *Cut, out []uint64) {
	if len(out) == 0 {
		return
	}
	_, _ = a[SieveWord*len(out)-1], b[SieveWord*len(out)-1]
	s.forms.fine(unsafe.Pointer(&q[0]), 0, x, keep(&a[0]), keep(&b[0]), pointerTo(cut), pointerTo(&out[0]), 0, len(out), s.quads)
}

// Block is One of four queries, QueryBytes apart, with as many words for each, one after the other in out.
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

// pointerTo is keep for a pointer to anything.
func pointerTo[T any](p *T) unsafe.Pointer { return unsafe.Pointer(keep(p)) }

// sieveGeneric is the specification, of one query.
func sieveGeneric(q unsafe.Pointer, _ uintptr, x unsafe.Pointer, a, b *float32, cut, out unsafe.Pointer, _, words, quads int) {
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

// Pass reports whether a row with this sum and these numbers passes.
func (c *Cut) Pass(sum int32, a, b float32) bool {
	return !(float32(sum)*c.F <= fusedAdd(c.B, b, fusedAdd(c.A, a, c.K)))
}
