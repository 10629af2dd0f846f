package prefilter

import (
	"math"
	"unsafe"

	"kitescope/engine/dist"
)

// Query is a query that is compared with codes, for any number of thresholds. It must not be used by
// several goroutines at once.
type Query struct {
	loader
	queryState
	loaded queryState // the place before SetPart
	packed []byte
	sums   []int32 // sums of the last Pick
}

// loader computes the places and the packed bytes of queries, one after the other.
type loader struct {
	codes   *Codes
	coarse  bool // numbers of 8 bits, for four queries at once
	numbers []int16
	weights []float64
}

// queryState holds the properties of a query that its cuts depend on.
type queryState struct {
	cut           dist.Cut // F and Offset
	square        float64  // L2: squared norm of the query minus the centre
	norm          float64
	centre        float64 // inner product with the centre
	roundingError float64 // bound on the error of an inner product from rounding the query
	queryError    float64 // L2: bound on the distance between the query in float64 and the exact query
	centerProduct float64 // inner product with the centre of residuals (see residuals)
	distanceError float64 // L2: bound on the other errors of a squared distance
	add           float64 // inner product: the amount added to the product with a residual
}

// NewQuery returns an empty query.
func (c *Codes) NewQuery() *Query {
	return &Query{loader: c.loader(false), packed: dist.Aligned(c.QueryBytes())}
}

// QueryBytes returns the size in bytes of a packed query, which is read while rows are scanned.
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

// Load loads a query and reports whether it can be compared with codes. It cannot if it is not finite, or too
// large.
func (q *Query) Load(row []float32) (ok bool) {
	q.queryState, ok = q.load(row, q.packed)
	q.loaded = q.queryState
	return ok
}

// SetPart moves the query to a part whose centre was subtracted from its rows. coarse is the library's distance from
// the query to that centre. SetPart reports whether the query can be compared with the codes of the part.
func (q *Query) SetPart(part int, coarse float32) bool {
	r, d := q.codes.residuals, float64(coarse)
	if r == nil {
		return true
	}
	q.queryState = q.loaded
	if q.codes.metric != dist.L2 {
		q.add = d
		return math.Abs(d) <= math.MaxFloat32
	}
	p := &r.parts[part]
	if !(p.norm < maxNorm && d < maxNorm*maxNorm) {
		return false
	}
	// The square of: the query minus the part's centre, as the library rounds it, minus the value of code 0.
	gamma := q.codes.gamma()
	far := (d + underflowError) / (1 - gamma)
	square := max(0, d-underflowError)/(1+gamma) - 2*(q.centerProduct-p.product) + r.square
	q.square = max(0, square-sumError*(q.norm*r.norm+p.norm*r.norm+r.square))
	q.queryError = (1 + sumError) * 0x1p-24 * math.Sqrt(far)
	q.distanceError = slack*q.loaded.square + 2*q.loaded.queryError*r.radius
	return true
}

// load packs a query.
func (l *loader) load(row []float32, packed []byte) (q queryState, ok bool) {
	if q.norm, ok = normOf(row); !ok {
		return q, false
	}
	s := l.codes.scale
	off := 0.0 // 1 under L2, where differences from the centre are weighted
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
	if r := l.codes.residuals; r != nil {
		for j, c := range r.centre {
			q.centerProduct += float64(row[j]) * c
		}
	}
	q.queryError = sumError * 0x1p-10 * (q.norm + s.norm)
	l.round(&q, math.Sqrt(size), greatest)
	if l.codes.rows != nil {
		q.cut.Offset = l.codes.rows.Pack(l.numbers, packed)
	} else {
		q.cut.Offset = l.codes.sieve.Pack(l.numbers, l.coarse, packed)
	}
	return q, true
}

// round rounds the weights, whose norm is size, to integers: multiples of a unit that is large enough for no
// sum to overflow.
func (l *loader) round(q *queryState, size, greatest float64) {
	limit := float64(dist.FineLimit)
	if l.coarse {
		limit = dist.CoarseLimit
	}
	longest := max(l.codes.longest, 1)
	room := 0x1p31/(longest*(1+sumError)) - math.Sqrt(float64(len(l.weights))) - 1
	unit := max(greatest/limit, size*(1+sumError)/room, 0x1p-100)
	if room <= 0 {
		unit = math.Inf(1) // codes of very many dimensions: no bound holds
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
		if uint32(n+most) > uint32(2*most) { // exceeded by a rounding error
			n = most
			if w < 0 {
				n = -most
			}
		}
		numbers[j] = int16(n)
		d := w - float64(n)*step
		gone += d * d
	}
	q.roundingError = math.Sqrt(gone) * l.codes.longest * (1 + sumError)
}

// Cut returns the cut for a threshold. A row passes if the library's value may be less than threshold under
// L2, or greater than threshold under the other metrics. The value is the inner product or, if norms is set, the
// inner product divided by the norm of the row.
func (q *Query) Cut(threshold float64, norms bool) dist.Cut {
	return q.queryState.cutAt(q.codes, threshold, norms)
}

func (q *queryState) cutAt(c *Codes, threshold float64, norms bool) dist.Cut {
	cut := q.cut
	if c.metric == dist.L2 {
		r := math.Sqrt(max(0, threshold+underflowError)/(1-c.gamma())) + q.queryError
		if math.IsNaN(threshold) {
			r = threshold
		}
		cut.K = down(q.square - r*r - 2*q.roundingError - underflowError - q.distanceError - slack*(q.square+r*r+
			2*q.roundingError))
		cut.A, cut.B = 1, -up(2*r)
		return cut
	}
	k := -q.centre - q.roundingError - underflowError - slack*(math.Abs(q.centre)+q.roundingError) - sumError*q.norm*
		c.scale.norm
	if q.add != 0 {
		// The library adds this to its sum and rounds. Rounding never reverses the order of two values.
		k -= q.add + slack*(math.Abs(q.add)+math.Abs(threshold))
	}
	if norms {
		// The library's norm differs from that of the codes: it may have the error of a sum.
		cut.A = down(threshold - (c.gamma()+slack)*math.Abs(threshold))
	} else {
		k += threshold - slack*math.Abs(threshold)
	}
	cut.K, cut.B = down(k), -up(q.norm*(1+sumError))
	return cut
}

// Sieve writes to out a bit for each place from first on, set if its row may beat the cut. first is a multiple
// of dist.SieveGroup, and a word holds 64 places. Bits of places without a row are undefined.
func (q *Query) Sieve(first int, cut *dist.Cut, out []uint64) {
	c := q.codes
	c.sieve.One(q.packed, c.group(first), c.a[first:], c.b[first:], cut, out)
}

// SieveRows is like Sieve for the given number of places. It reads no more than their groups, provided that
// they fill a word.
func (q *Query) SieveRows(first, rows int, cut *dist.Cut, out []uint64) {
	whole := rows / dist.SieveWord
	rest := (rows%dist.SieveWord + dist.SieveGroup - 1) / dist.SieveGroup * dist.SieveGroup
	if whole == 0 || rest == 0 || rest == dist.SieveWord {
		q.Sieve(first, cut, out)
		return
	}
	q.Sieve(first, cut, out[:whole])
	// Compute the last word from the 64 places that end with the last group.
	last := out[whole : whole+1]
	q.Sieve(first+rows-rows%dist.SieveWord+rest-dist.SieveWord, cut, last)
	last[0] >>= dist.SieveWord - rest
}

// group returns the address of the group at a place.
func (c *Codes) group(place int) unsafe.Pointer {
	return unsafe.Add(c.codes.Base(), place/dist.SieveGroup*c.codes.Stride)
}

// Pick keeps in ids, in order, the rows that may beat the cut, and returns their number. The rows must be
// stored separately (see EncodeRows).
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

// Sums returns the sums of the rows that the last Pick kept. They are valid until the next call of Pick.
func (q *Query) Sums() []int32 { return q.sums }

// Passes reports whether a row with this sum may beat a cut.
func (q *Query) Passes(cut *dist.Cut, id uint32, sum int32) bool {
	pair := q.codes.pair(id)
	return !(float32(sum-cut.Offset)*cut.F <= cut.K+cut.A*pair[0]+cut.B*pair[1])
}

// Base returns the address of the codes of rows that are stored separately. Callers use it with Stride to
// prefetch rows.
func (c *Codes) Base() unsafe.Pointer { return c.codes.Base() }

// RowBytes returns the bytes of a row that is stored separately, including its numbers.
func (c *Codes) RowBytes() int { return c.codes.Size() }

// Stride returns the distance in bytes from one row's codes to the next.
func (c *Codes) Stride() uintptr { return uintptr(c.codes.Stride) }
