package prefilter

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// chunk is the number of groups that a goroutine encodes at a time.
const chunk = 64

// Encode returns the codes of rows in parts, such as the lists of an inverted file. Each part starts a new
// group. Encode uses at most threads goroutines (0: one per CPU). All parts must have the same dimension and
// satisfy Fits.
func Encode(parts []*engine.Vectors, dim int, m engine.Metric, threads int) (*Codes, error) {
	for _, p := range parts {
		if err := Fits(p, m); err != nil {
			return nil, err
		}
	}
	c := &Codes{metric: m, scale: newScale(parts, dim)}
	if err := c.allocGroups(parts, dim); err != nil {
		return nil, err
	}
	c.encodeAll(parts, threads, func() func(part, row, at int) float64 {
		return func(part, row, at int) float64 { return c.encode(parts[part].Float32(row), at) }
	})
	return c, nil
}

// allocGroups allocates the memory for parts in groups.
func (c *Codes) allocGroups(parts []*engine.Vectors, dim int) (err error) {
	c.sieve, c.Starts = dist.NewSieve(dim), make([]int, len(parts)+1)
	for i, p := range parts {
		c.Starts[i+1] = c.Starts[i] + (p.Rows+dist.SieveGroup-1)/dist.SieveGroup*dist.SieveGroup
	}
	// Kernels read whole words, wherever a part ends.
	places := c.Starts[len(parts)] + dist.SieveWord - dist.SieveGroup
	c.a, c.b = make([]float32, places), make([]float32, places)
	c.codes, err = engine.NewVectors(dist.Int8, c.sieve.GroupBytes(), places/dist.SieveGroup)
	return err
}

// EncodeRows returns the codes of rows that are stored separately, to be read by id (see Query.Pick).
func EncodeRows(v *engine.Vectors, m engine.Metric, threads int) (*Codes, error) {
	if err := Fits(v, m); err != nil {
		return nil, err
	}
	parts := []*engine.Vectors{v}
	c := &Codes{metric: m, scale: newScale(parts, v.Dim), rows: dist.NewCodes(v.Dim), Starts: []int{0, v.Rows}}
	var err error
	if c.codes, err = engine.NewVectors(dist.Int8, rowBytes(v.Dim), v.Rows); err != nil {
		return nil, err
	}
	c.encodeAll(parts, threads, func() func(part, row, at int) float64 {
		return func(_, row, at int) float64 { return c.encode(v.Float32(row), at) }
	})
	return c, nil
}

// encodeAll encodes all rows. encoder returns a function for one goroutine. That function writes the codes and
// numbers of a row of a part to a place, and returns the squared norm of the codes.
func (c *Codes) encodeAll(parts []*engine.Vectors, threads int, encoder func() func(part, row, at int) float64) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	longest := make([]float64, threads)
	for w := range threads {
		workers.Go(func() {
			encode := encoder()
			for {
				first := int(next.Add(1)-1) * chunk * dist.SieveGroup
				if first >= c.Starts[len(parts)] {
					return
				}
				longest[w] = max(longest[w], c.encodePlaces(parts, first, first+chunk*dist.SieveGroup, encode))
			}
		})
	}
	workers.Wait()
	for _, l := range longest {
		c.longest = max(c.longest, l)
	}
	c.longest = math.Sqrt(c.longest)
}

// encodePlaces encodes the rows at the places from first to end-1, and returns the greatest squared norm of
// their codes.
func (c *Codes) encodePlaces(
	parts []*engine.Vectors, first, end int, encode func(part, row, at int) float64,
) (longest float64) {
	i, found := slices.BinarySearch(c.Starts, first)
	if !found {
		i--
	}
	for ; i < len(parts) && c.Starts[i] < end; i++ {
		from, to := max(first, c.Starts[i]), min(end, c.Starts[i]+parts[i].Rows)
		for at := from; at < to; at++ {
			longest = max(longest, encode(i, at-c.Starts[i], at))
		}
	}
	return longest
}

// encode writes the codes and numbers of the row at a place, and returns the squared norm of the codes.
func (c *Codes) encode(row []float32, at int) float64 {
	to, pitch := c.place(at)
	a, b, codes := c.encodeInto(row, to, pitch)
	if c.rows != nil {
		*c.pair(uint32(at)) = [2]float32{a, b}
	} else {
		c.a[at], c.b[at] = a, b
	}
	return codes
}

// place returns the start of the codes of a place, and the distance from four codes to the next four, in units
// of four bytes.
func (c *Codes) place(at int) (to []byte, pitch int) {
	if c.rows != nil {
		return c.codes.Row(at), 1
	}
	return c.codes.Row(at / dist.SieveGroup)[at%dist.SieveGroup*4:], dist.SieveGroup
}

// encodeInto writes the codes of a row, and returns its numbers and the squared norm of the codes.
func (c *Codes) encodeInto(row []float32, to []byte, pitch int) (a, b float32, codes float64) {
	var sum sums
	whole, quads := len(row)&^3, c.scale.quads
	sum.add(row[:whole], quads[:whole/4], to, pitch)
	if whole < len(row) {
		var last [4]float32
		copy(last[:], row[whole:])
		sum.add(last[:], quads[whole/4:], to[whole*pitch:], pitch)
	}
	norm := math.Sqrt(sum.square)
	if !(norm < maxNorm) || norm < minNorm && c.metric != dist.L2 {
		for at := 0; at < len(row); at += 4 {
			binary.LittleEndian.PutUint32(to[at*pitch:], 0x80808080)
		}
		return 0, float32(math.Inf(1)), 0
	}
	e := math.Sqrt(sum.discarded)*(1+sumError) + sumError*0x1p-10*(norm+c.scale.norm)
	codes = float64(sum.codes)
	if c.metric == dist.L2 {
		return down(sum.retained*(1-slack) - e*e*(1+slack)), up(e), codes
	}
	return float32(norm), up(e + c.gamma()*norm + slack*math.Sqrt(sum.retained)), codes
}

// sums holds sums of squares: of a row, of the parts that its codes keep and lose, and of the codes.
type sums struct {
	square, retained, discarded float64
	codes                       int64
}

// add writes the codes of len(quads) groups of four elements, pitch words apart, and adds to the sums.
func (s *sums) add(row []float32, quads []quad, to []byte, pitch int) {
	var square0, square1, kept0, kept1, gone0, gone1 float64
	codes := int64(0)
	for i := range quads {
		q, r := &quads[i], (*[4]float32)(row[4*i:])
		x0, x1, x2, x3 := float64(r[0]), float64(r[1]), float64(r[2]), float64(r[3])
		d0, d1, d2, d3 := x0-q.centre[0], x1-q.centre[1], x2-q.centre[2], x3-q.centre[3]
		n0, n1, n2, n3 := code(d0*q.inverse[0]), code(d1*q.inverse[1]), code(d2*q.inverse[2]), code(d3*q.inverse[3])
		binary.LittleEndian.PutUint32(to[4*i*pitch:], uint32(n0+n1<<8+n2<<16+n3<<24)+0x80808080)
		k0, k1, k2, k3 := float64(n0)*q.step[0], float64(n1)*q.step[1], float64(n2)*q.step[2], float64(n3)*q.step[3]
		d0, d1, d2, d3 = d0-k0, d1-k1, d2-k2, d3-k3
		square0, square1 = square0+(x0*x0+x1*x1), square1+(x2*x2+x3*x3)
		kept0, kept1 = kept0+(k0*k0+k1*k1), kept1+(k2*k2+k3*k3)
		gone0, gone1 = gone0+(d0*d0+d1*d1), gone1+(d2*d2+d3*d3)
		codes += int64(n0*n0 + n1*n1 + n2*n2 + n3*n3)
	}
	s.square += square0 + square1
	s.retained += kept0 + kept1
	s.discarded += gone0 + gone1
	s.codes += codes
}

// code returns the code nearest to x, limited to the range of codes. Any other code would be as correct, but
// lose more.
func code(x float64) int32 {
	n := int32(nearest(x))
	if uint32(n+steps) > 2*steps {
		n = steps
		if !(x > 0) {
			n = -steps
		}
	}
	return n
}

// nearest returns the integer nearest to x, which is at most 2^51. Adding a number that leaves no bits for a
// fraction rounds x.
func nearest(x float64) float64 {
	const whole = 3 << 51
	return x + whole - whole
}

// SupportsNorms reports whether the codes hold for a library that divides inner products by these norms, one per row of
// a part. They do if each norm is a computed norm of its row, up to rounding. A file can have other norms.
func (c *Codes) SupportsNorms(part int, norms []float32) bool {
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

// pair returns the numbers of a row that is stored separately.
func (c *Codes) pair(id uint32) *[2]float32 {
	return (*[2]float32)(unsafe.Add(c.codes.Base(), int(id)*c.codes.Stride+pairAt(c.scale.dim())))
}

// numbers returns the numbers of a place.
func (c *Codes) numbers(at int) (a, b float32) {
	if c.rows != nil {
		p := c.pair(uint32(at))
		return p[0], p[1]
	}
	return c.a[at], c.b[at]
}

// Matches reports whether the codes are for this metric, dimension and number of places.
func (c *Codes) Matches(m engine.Metric, dim, places int) bool {
	return (m == dist.L2) == (c.metric == dist.L2) && m <= dist.Cosine && dim == c.scale.dim() &&
		places == c.Starts[len(c.Starts)-1]
}
