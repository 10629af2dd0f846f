package prefilter

import (
	"math"

	"kitescope/engine/dist"
)

// Panel is queries that are held against codes four at a time. It is for one goroutine.
type Panel struct {
	loader
	places []place
	loaded []bool
	cuts   []dist.Cut
	packed []byte
}

// NewPanel returns a panel of size queries, a multiple of four, without numbers: of 8 bits where there are kernels of such.
func (c *Codes) NewPanel(size int) *Panel {
	return &Panel{
		loader: c.loader(c.sieve.Blocks()), places: make([]place, size), loaded: make([]bool, size), cuts: make([]dist.Cut, size),
		packed: dist.Aligned(size * c.sieve.QueryBytes()),
	}
}

// Coarse reports whether queries have 8 bits, which takes half the time and lets more rows pass, or 16.
func (p *Panel) Coarse() bool { return p.coarse }

// SetCoarse sets it for queries that are loaded from now on.
func (p *Panel) SetCoarse(coarse bool) { p.coarse = coarse }

// Load takes query i. One that cannot be held against codes lets all rows pass.
func (p *Panel) Load(i int, row []float32) {
	size := p.codes.sieve.QueryBytes()
	p.places[i], p.loaded[i] = p.load(row, p.packed[i*size:(i+1)*size])
	p.cuts[i] = dist.Cut{K: float32(math.Inf(-1))}
}

// Beat sets what rows have to beat from now on (Query.Cut).
func (p *Panel) Beat(i int, beat float64, norms bool) {
	if p.loaded[i] {
		p.cuts[i] = p.places[i].cutAt(p.codes, beat, norms)
	}
}

// Sieve is Query.Sieve of the four queries from i on, a multiple of four, with as many words for each, one after the other in out.
func (p *Panel) Sieve(i, first int, out []uint64) {
	c := p.codes
	c.sieve.Block(p.packed[i*c.sieve.QueryBytes():], p.coarse, c.group(first), c.a[first:], c.b[first:], (*[4]dist.Cut)(p.cuts[i:]), out)
}
