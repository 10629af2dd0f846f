package prefilter

import (
	"math"
	"unsafe"

	"kitescope/engine/dist"
)

// Query is one that is held against codes, as often as the distance to beat changes. It is for one goroutine.
type Query struct {
	loader
	place
	loaded place // before At
	packed []byte
	sums   []int32 // of Pick
}

// loader makes place and packed bytes of queries, one after the other.
type loader struct {
	codes   *Codes
	coarse  bool // numbers of 8 bits, for four queries at once
	numbers []int16
	weights []float64
}

// place is where a query lies, as far as cuts need to know.
type place struct {
	cut    dist.Cut // F and Offset
	square float64  // L2: of the norm of the query less the centre
	norm   float64
	centre float64 // the inner product with the centre
	rough  float64 // at most what rounding the query loses of an inner product
	away   float64 // L2: at most how far float64 puts the query from where it is
	apart  float64 // with the centre of what is left (rest): the inner product
	loose  float64 // L2: what else may be wrong in the square of a distance
	add    float64 // inner product: what is added to that of what is left
}

// NewQuery returns a query without numbers.
func (c *Codes) NewQuery() *Query {
	return &Query{loader: c.loader(false), packed: dist.Aligned(c.QueryBytes())}
}

// QueryBytes is what a query takes while rows go by.
func (c *Codes) QueryBytes() int {
	if c.rows != nil {
		return c.rows.QueryBytes()
	}
	return c.sieve.QueryBytes()
}

func (c *Codes) loader(coarse bool) loader {
	dim := c.scale.dim()
	return loader{codes: c, coarse: coarse, numbers: make([]int16, dim), weights: make([]float64, dim)}
}

// Load takes a query, and reports whether it can be held against codes: not if it is not finite, or large.
func (q *Query) Load(row []float32) (ok bool) {
	q.place, ok = q.load(row, q.packed)
	q.loaded = q.place
	return ok
}

// At moves the query to a part whose centre was taken off its rows, of which the library says that it is at this distance. It reports
// whether the query can be held against the codes there.
func (q *Query) At(part int, coarse float32) bool {
	r, d := q.codes.rest, float64(coarse)
	if r == nil {
		return true
	}
	q.place = q.loaded
	if q.codes.metric != dist.L2 {
		q.add = d
		return math.Abs(d) <= math.MaxFloat32
	}
	p := &r.parts[part]
	if !(p.norm < largest && d < largest*largest) {
		return false
	}
	// The query less the part's centre, as the library rounds it, less what code 0 stands for.
	gamma := q.codes.gamma()
	far := (d + lost) / (1 - gamma)
	square := max(0, d-lost)/(1+gamma) - 2*(q.apart-p.product) + r.square
	q.square = max(0, square-exact*(q.norm*r.norm+p.norm*r.norm+r.square))
	q.away = (1 + exact) * 0x1p-24 * math.Sqrt(far)
	q.loose = slack*q.loaded.square + 2*q.loaded.away*r.reach
	return true
}

// load packs a query.
func (l *loader) load(row []float32, packed []byte) (q place, ok bool) {
	if q.norm, ok = normOf(row); !ok {
		return q, false
	}
	s := l.codes.scale
	off := 0.0 // L2: differences to the centre are weighed
	if l.codes.metric == dist.L2 {
		off = 1
	}
	var centre, square, size, greatest float64
	weights, centres, steps := l.weights[:len(row)], s.centre[:len(row)], s.step[:len(row)]
	for j, x := range row {
		c := centres[j]
		d := float64(x) - off*c
		w := d * steps[j]
		weights[j] = w
		centre += float64(x) * c
		square += d * d
		size += w * w
		if a := math.Abs(w); a > greatest {
			greatest = a
		}
	}
	q.centre, q.square = centre, square
	if r := l.codes.rest; r != nil {
		for j, c := range r.centre {
			q.apart += float64(row[j]) * c
		}
	}
	q.away = exact * 0x1p-10 * (q.norm + s.norm)
	l.round(&q, math.Sqrt(size), greatest)
	if l.codes.rows != nil {
		q.cut.Offset = l.codes.rows.Pack(l.numbers, packed)
	} else {
		q.cut.Offset = l.codes.sieve.Pack(l.numbers, l.coarse, packed)
	}
	return q, true
}

// round makes whole numbers of the weights, whose norm is size: multiples of a unit so large that no sum overflows.
func (l *loader) round(q *place, size, greatest float64) {
	limit := float64(dist.FineLimit)
	if l.coarse {
		limit = dist.CoarseLimit
	}
	longest := max(l.codes.longest, 1)
	room := 0x1p31/(longest*(1+exact)) - math.Sqrt(float64(len(l.weights))) - 1
	unit := max(greatest/limit, size*(1+exact)/room, 0x1p-100)
	if room <= 0 {
		unit = math.Inf(1) // codes of very many dimensions: nothing can be said
	}
	step := float64(up(unit))
	if q.cut.F = float32(step); l.codes.metric == dist.L2 {
		q.cut.F *= 2
	}
	inverse := 1 / step
	gone := 0.0
	most, numbers := int32(limit), l.numbers[:len(l.weights)]
	for j, w := range l.weights {
		n := int32(nearest(w * inverse))
		if uint32(n+most) > uint32(2*most) { // by a rounding
			n = most
			if w < 0 {
				n = -most
			}
		}
		numbers[j] = int16(n)
		d := w - float64(n)*step
		gone += d * d
	}
	q.rough = math.Sqrt(gone) * l.codes.longest * (1 + exact)
}

// Cut is what rows have to pass of which the library says less than beat, under L2, and else more than that: of an inner product, or
// with norms of what it divides by the row's norm.
func (q *Query) Cut(beat float64, norms bool) dist.Cut { return q.place.cutAt(q.codes, beat, norms) }

func (q *place) cutAt(c *Codes, beat float64, norms bool) dist.Cut {
	cut := q.cut
	if c.metric == dist.L2 {
		r := math.Sqrt(max(0, beat+lost)/(1-c.gamma())) + q.away
		if math.IsNaN(beat) {
			r = beat
		}
		cut.K = down(q.square - r*r - 2*q.rough - lost - q.loose - slack*(q.square+r*r+2*q.rough))
		cut.A, cut.B = 1, -up(2*r)
		return cut
	}
	k := -q.centre - q.rough - lost - slack*(math.Abs(q.centre)+q.rough) - exact*q.norm*c.scale.norm
	if q.add != 0 {
		// Added to the library's sum, and rounded, which puts none beyond the other.
		k -= q.add + slack*(math.Abs(q.add)+math.Abs(beat))
	}
	if norms {
		// The library's norm is not that of the codes: it may be wrong as sums may be.
		cut.A = down(beat - (c.gamma()+slack)*math.Abs(beat))
	} else {
		k += beat - slack*math.Abs(beat)
	}
	cut.K, cut.B = down(k), -up(q.norm*(1+exact))
	return cut
}

// Sieve writes to out a bit for each place from first on, a multiple of dist.SieveGroup, whose row may beat the cut: a word for 64 of
// them. Bits of places without a row mean nothing.
func (q *Query) Sieve(first int, cut *dist.Cut, out []uint64) {
	c := q.codes
	c.sieve.One(q.packed, c.group(first), c.a[first:], c.b[first:], cut, out)
}

// SieveRows is Sieve of rows places, which reads no more than their groups, if these fill a word.
func (q *Query) SieveRows(first, rows int, cut *dist.Cut, out []uint64) {
	whole := rows / dist.SieveWord
	rest := (rows%dist.SieveWord + dist.SieveGroup - 1) / dist.SieveGroup * dist.SieveGroup
	if whole == 0 || rest == 0 || rest == dist.SieveWord {
		q.Sieve(first, cut, out)
		return
	}
	q.Sieve(first, cut, out[:whole])
	// The last word again, as far on as there are rows.
	last := out[whole : whole+1]
	q.Sieve(first+rows-rows%dist.SieveWord+rest-dist.SieveWord, cut, last)
	last[0] >>= dist.SieveWord - rest
}

// group is the address of the group at a place.
func (c *Codes) group(place int) unsafe.Pointer {
	return unsafe.Add(c.codes.Base(), place/dist.SieveGroup*c.codes.Stride)
}

// Pick leaves in ids, in their order, the rows that may beat the cut, and returns how many they are. Rows lie by themselves.
func (q *Query) Pick(cut *dist.Cut, ids []uint32) int {
	c := q.codes
	if len(q.sums) < len(ids) {
		q.sums = make([]int32, len(ids))
	}
	c.rows.Gather(q.packed, c.codes.Base(), uintptr(c.codes.Stride), ids, q.sums)
	n := 0
	for i, id := range ids {
		sum := q.sums[i]
		ids[n], q.sums[n] = id, sum
		if q.Passes(cut, id, sum) {
			n++
		}
	}
	return n
}

// Sums are those of the rows that Pick left last, until it is called again.
func (q *Query) Sums() []int32 { return q.sums }

// Passes reports whether a row with this sum may beat a cut.
func (q *Query) Passes(cut *dist.Cut, id uint32, sum int32) bool {
	pair := q.codes.pair(id)
	return !(float32(sum-cut.Offset)*cut.F <= cut.K+cut.A*pair[0]+cut.B*pair[1])
}

// Base and Stride are where codes of rows by themselves lie, for those who fetch them ahead.
func (c *Codes) Base() unsafe.Pointer { return c.codes.Base() }

// RowBytes is the bytes of a row by itself, numbers included.
func (c *Codes) RowBytes() int { return c.codes.Size() }

// Stride is the bytes from one row's codes to the next.
func (c *Codes) Stride() uintptr { return uintptr(c.codes.Stride) }
