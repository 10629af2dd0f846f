package shadow

import (
	"encoding/binary"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// chunk is how many groups are encoded at a time.
const chunk = 64

// Encode makes the codes of rows in parts, such as the lists of an inverted file, each of which begins with a group of its own, by at
// most threads goroutines (0: one per CPU). All parts have one dimension and fit (Fits).
func Encode(parts []*engine.Vectors, dim int, m engine.Metric, threads int) (*Codes, error) {
	c := &Codes{metric: m, scale: learn(parts, dim), sieve: dist.NewSieve(dim), Starts: make([]int, len(parts)+1)}
	for i, p := range parts {
		if err := Fits(p, m); err != nil {
			return nil, err
		}
		c.Starts[i+1] = c.Starts[i] + (p.Rows+dist.SieveGroup-1)/dist.SieveGroup*dist.SieveGroup
	}
	// Whole words are read, wherever a part ends.
	places := c.Starts[len(parts)] + dist.SieveWord - dist.SieveGroup
	var err error
	if c.codes, err = engine.NewVectors(dist.Int8, c.sieve.GroupBytes(), places/dist.SieveGroup); err != nil {
		return nil, err
	}
	c.a, c.b = make([]float32, places), make([]float32, places)
	c.encodeAll(parts, threads)
	return c, nil
}

// EncodeRows makes the codes of rows that lie by themselves, to be read by id (Query.Pick).
func EncodeRows(v *engine.Vectors, m engine.Metric, threads int) (*Codes, error) {
	if err := Fits(v, m); err != nil {
		return nil, err
	}
	parts := []*engine.Vectors{v}
	c := &Codes{metric: m, scale: learn(parts, v.Dim), rows: dist.NewCodes(v.Dim), Starts: []int{0, v.Rows}}
	var err error
	if c.codes, err = engine.NewVectors(dist.Int8, c.rows.Width(), v.Rows); err != nil {
		return nil, err
	}
	c.pairs = make([][2]float32, v.Rows)
	c.encodeAll(parts, threads)
	return c, nil
}

// encodeAll encodes all rows.
func (c *Codes) encodeAll(parts []*engine.Vectors, threads int) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	longest := make([]float64, threads)
	for w := range threads {
		workers.Go(func() {
			for {
				first := int(next.Add(1)-1) * chunk * dist.SieveGroup
				if first >= c.Starts[len(parts)] {
					return
				}
				longest[w] = max(longest[w], c.encodePlaces(parts, first, first+chunk*dist.SieveGroup))
			}
		})
	}
	workers.Wait()
	for _, l := range longest {
		c.longest = max(c.longest, l)
	}
	c.longest = math.Sqrt(c.longest)
}

// encodePlaces encodes the rows that belong to the places from first up to, not including, end, and returns the greatest square of
// their codes' norms.
func (c *Codes) encodePlaces(parts []*engine.Vectors, first, end int) (longest float64) {
	for i, p := range parts {
		from, to := max(first, c.Starts[i]), min(end, c.Starts[i]+p.Rows)
		for at := from; at < to; at++ {
			longest = max(longest, c.encode(p.Float32(at-c.Starts[i]), at))
		}
	}
	return longest
}

// encode writes the codes and numbers of the row at a place, and returns the square of the codes' norm.
func (c *Codes) encode(row []float32, at int) float64 {
	to, pitch := c.place(at)
	a, b, codes := c.encoded(row, to, pitch)
	if c.rows != nil {
		c.pairs[at] = [2]float32{a, b}
	} else {
		c.a[at], c.b[at] = a, b
	}
	return codes
}

// place is where the codes of a place begin, and how far it is, in elements, from four of them to the next.
func (c *Codes) place(at int) (to []byte, pitch int) {
	if c.rows != nil {
		return c.codes.Row(at), 1
	}
	return c.codes.Row(at / dist.SieveGroup)[at%dist.SieveGroup*4:], dist.SieveGroup
}

// encoded writes the codes of a row, and returns its numbers and the square of the codes' norm.
func (c *Codes) encoded(row []float32, to []byte, pitch int) (a, b float32, codes float64) {
	norm, ok := normOf(row)
	if !ok || norm < smallest && c.metric != dist.L2 {
		for quad := 0; quad < len(row); quad += 4 {
			binary.LittleEndian.PutUint32(to[quad*pitch:], 0x80808080)
		}
		return 0, float32(math.Inf(1)), 0
	}
	var kept, gone float64
	s := c.scale
	for quad := 0; quad < len(row); quad += 4 {
		word := uint32(0x80808080)
		n := min(4, len(row)-quad)
		values, centre, step, inverse := row[quad:quad+n], s.centre[quad:quad+n], s.step[quad:quad+n], s.inverse[quad:quad+n]
		for j, x := range values {
			d := float64(x) - centre[j]
			u := nearest(min(max(d*inverse[j], -steps), steps))
			word += uint32(int32(u)) << (8 * j)
			k := u * step[j]
			kept += k * k
			gone += (d - k) * (d - k)
			codes += u * u
		}
		binary.LittleEndian.PutUint32(to[quad*pitch:], word)
	}
	e := math.Sqrt(gone)*(1+exact) + exact*0x1p-10*(norm+s.norm)
	if c.metric == dist.L2 {
		return down(kept*(1-slack) - e*e*(1+slack)), up(e), codes
	}
	return float32(norm), up(e + c.gamma()*norm + slack*math.Sqrt(kept)), codes
}

// nearest is the whole number nearest to x, of at most 2^51: adding what leaves no place for a fraction rounds it off.
func nearest(x float64) float64 {
	const whole = 3 << 51
	return x + whole - whole
}

// Divides reports whether a library that divides inner products by these norms, one a row of a part, can be held to the codes: whether
// they are what sums of the rows' squares may come to. A file can have others.
func (c *Codes) Divides(part int, norms []float32) bool {
	if c.metric == dist.L2 || len(norms) > c.Starts[part+1]-c.Starts[part] {
		return false
	}
	for i, n := range norms {
		a, b := c.numbers(c.Starts[part] + i)
		if !math.IsInf(float64(b), 1) && !(math.Abs(float64(n)-float64(a)) <= c.gamma()*float64(a)) {
			return false
		}
	}
	return true
}

// numbers are those of a place.
func (c *Codes) numbers(at int) (a, b float32) {
	if c.rows != nil {
		return c.pairs[at][0], c.pairs[at][1]
	}
	return c.a[at], c.b[at]
}

// For reports whether the codes are of so many rows under a metric.
func (c *Codes) For(m engine.Metric, dim, places int) bool {
	return (m == dist.L2) == (c.metric == dist.L2) && m <= dist.Cosine && dim == c.scale.dim() && places == c.Starts[len(c.Starts)-1]
}
