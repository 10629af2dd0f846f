package prefilter

import (
	"math"

	"kitescope/engine/dist"
)

// Panel holds queries that are compared with codes four at a time. It must not be used by several goroutines at
// once.
type Panel struct {
	loader
	states []queryState
	loaded []bool
	cuts   []dist.Cut
	packed []byte
}

// NewPanel returns a panel of size empty queries, a multiple of four. Queries have 8 bits if there are kernels
// for them.
func (c *Codes) NewPanel(size int) *Panel {
	return &Panel{
		loader: c.loader(c.sieve.Blocks()), states: make([]queryState, size), loaded: make([]bool, size),
		cuts:   make([]dist.Cut, size),
		packed: dist.Aligned(size * c.sieve.QueryBytes()),
	}
}

// Coarse reports whether queries have 8 bits instead of 16. Queries of 8 bits take half the time and let more
// rows pass.
func (p *Panel) Coarse() bool { return p.coarse }

// SetCoarse sets whether queries that are loaded from now on have 8 bits.
func (p *Panel) SetCoarse(coarse bool) { p.coarse = coarse }

// Load loads query i. All rows pass until SetThreshold is called, and always if the query cannot be compared with
// codes.
func (p *Panel) Load(i int, row []float32) {
	size := p.codes.sieve.QueryBytes()
	p.states[i], p.loaded[i] = p.load(row, p.packed[i*size:(i+1)*size])
	p.cuts[i] = dist.Cut{K: float32(math.Inf(-1))}
}

// SetThreshold sets the threshold of query i from now on (see Query.Cut).
func (p *Panel) SetThreshold(i int, threshold float64, norms bool) {
	if p.loaded[i] {
		p.cuts[i] = p.states[i].cutAt(p.codes, threshold, norms)
	}
}

// Sieve is like Query.Sieve for the four queries from i on, a multiple of four. out holds the words of the four
// queries one after the other, the same number for each.
func (p *Panel) Sieve(i, first int, out []uint64) {
	c := p.codes
	c.sieve.Block(p.packed[i*c.sieve.QueryBytes():], p.coarse, c.group(first), c.a[first:], c.b[first:],
		(*[4]dist.Cut)(p.cuts[i:]), out)
}
