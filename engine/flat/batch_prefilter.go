package flat

import (
	"math"
	"unsafe"

	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

const (
	// siftBytes is how many bytes of codes are taken at a time for all queries of a panel.
	siftBytes = 128 << 10
	// coarseShare and fineShare: if more than one in so many pairs passes, queries are rounded less; or all rows are computed.
	coarseShare = 40
	fineShare   = 6
	// judged is how many pairs are looked at before that is decided.
	judged = 1 << 16
)

// shade is how a panel holds its queries against codes.
type shade struct {
	*prefilter.Panel
	rows   int       // of a block
	beaten []float64 // what the cut of each query is for; NaN before there is one
	words  []uint64

	// passed of seen pairs passed since it was last decided how to go on.
	passed, seen int
	vain         bool // codes are of no use here
}

func (s *Searcher) newShade(size int) *shade {
	rows := min(max(siftBytes/s.index.Vectors.Dim&^63, 64), blockRows)
	return &shade{
		Panel: s.codes.NewPanel(size), rows: rows, beaten: make([]float64, size), words: make([]uint64, 4*rows/64),
	}
}

// load takes query i, if there are codes.
func (h *shade) load(i int, q query) {
	if h == nil || h.vain {
		return
	}
	h.Load(i, dist.Floats(q.bytes))
	h.beaten[i] = math.NaN()
}

// ready reports whether rows from row on, a multiple of 64, are held against codes: the first ones all enter while there are fewer than
// k hits.
func (h *shade) ready(row, k int) bool {
	return h != nil && !h.vain && row >= max(2*k, sieveRows/2)
}

// sift holds n rows against the first count queries, and computes those that may enter.
func (b *panel) sift(row, n, count int, left []uint64) {
	h := b.shade
	words := (n + 63) >> 6
	out := h.words[:4*words]
	for i := 0; i < count; i += 4 {
		for j := i; j < min(i+4, count); j++ {
			if beat, ok := b.tops[j].Beat(); ok && beat != h.beaten[j] {
				h.Beat(j, beat, b.Searcher.norms != nil)
				h.beaten[j] = beat
			}
		}
		h.Sieve(i, row, out)
		for j := i; j < min(i+4, count); j++ {
			b.enter(j, row, n, out[(j-i)*words:(j-i+1)*words], left)
		}
	}
	if h.seen += n * count; h.seen >= judged {
		b.judge(count)
	}
}

// judge decides how to go on.
func (b *panel) judge(count int) {
	h := b.shade
	switch {
	case h.Coarse() && h.passed*coarseShare > h.seen:
		h.SetCoarse(false)
		for i := range count {
			h.load(i, b.query(i))
		}
	case h.passed*fineShare > h.seen:
		h.vain = true
	}
	h.passed, h.seen = 0, 0
}

// enter gives to query j the rows that have a bit.
func (b *panel) enter(j, row, n int, words, left []uint64) {
	some := uint64(0)
	for _, w := range words {
		some |= w
	}
	if some == 0 {
		return
	}
	b.chosen = passed(b.chosen, words, left, row, n)
	b.shade.passed += len(b.chosen)
	if len(b.chosen) > 0 {
		v := b.index.Vectors
		b.gather(b.query(j), unsafe.Add(v.Base(), row*v.Stride), row, b.chosen, b.tops[j])
	}
}
