package code

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// PRQ codes each part of a vector by several centroids whose sum stands for it, each of what those before leave: a product of residual
// quantisers. It is immutable.
type PRQ struct {
	dim, parts, steps, bits int
	// centroids are those of a step of a part, one after the other, 1<<bits of them.
	centroids []float32
	norms     bool // codes end in the squared length of what they stand for, as float32: L2 needs it
}

// maxPRQBits bounds the bits of a centroid: of more, the table of a query would be larger than any index.
const maxPRQBits = 16

// NewPRQ returns the codec of so many parts with as many steps and bits each; an error says how they do not fit together.
func NewPRQ(dim, parts, steps, bits int, centroids []float32, norms bool) (*PRQ, error) {
	if parts <= 0 || steps <= 0 || dim%parts != 0 || bits < 1 || bits > maxPRQBits || len(centroids)>>bits != dim*steps || len(centroids)&(1<<bits-1) != 0 {
		return nil, fmt.Errorf("%d dimensions in %d parts of %d steps of %d bits: %d values of centroids", dim, parts, steps, bits, len(centroids))
	}
	return &PRQ{dim: dim, parts: parts, steps: steps, bits: bits, centroids: centroids, norms: norms}, nil
}

// Name is the type of such codes in Milvus's words.
func (c *PRQ) Name() string { return "PRQ" }

func (c *PRQ) String() string {
	s := fmt.Sprintf("%d bits for each of %d steps of %d parts", c.bits, c.steps, c.parts)
	if c.norms {
		s += ", and a length"
	}
	return s
}

// Dim is the dimension of the vectors.
func (c *PRQ) Dim() int { return c.dim }

// Bytes is the size of a code.
func (c *PRQ) Bytes() int {
	bits := c.parts * c.steps * c.bits
	if c.norms {
		bits += 32
	}
	return (bits + 7) / 8
}

// Facts are m, nrq and nbits.
func (c *PRQ) Facts() []Fact {
	return []Fact{{"parts (m)", "prq_m", c.parts}, {"steps of a part (nrq)", "nrq", c.steps}, {"bits of a step (nbits)", "nbits", c.bits}}
}

// bitsAt are so many bits of a code, at most 32, from a place on (BitstringReader, faiss/utils/hamming.h).
func bitsAt(code []byte, at, n int) uint32 {
	var window [8]byte
	copy(window[:], code[at>>3:])
	return uint32(binary.LittleEndian.Uint64(window[:]) >> (at & 7) & (1<<n - 1))
}

// centroid is that of a step, of all steps of all parts, with the number v.
func (c *PRQ) centroid(step int, v uint32) []float32 {
	width := c.dim / c.parts
	at := (step<<c.bits + int(v)) * width
	return c.centroids[at : at+width]
}

// Gives returns what reports whether x may have this code, for one goroutine: what it stands for is not farther from x than what taking the
// nearest centroid at each step leads to. knowhere looks at several at each step, and finds what is nearer.
func (c *PRQ) Gives() func(code []byte, x []float32) bool {
	width := c.dim / c.parts
	left, other := make([]float32, width), make([]float32, width)
	return func(code []byte, x []float32) bool {
		own, nearest := 0.0, 0.0
		for p := range c.parts {
			part := x[p*width:][:width]
			copy(left, part)
			copy(other, part)
			for s := range c.steps {
				step := p*c.steps + s
				less(left, c.centroid(step, bitsAt(code, step*c.bits, c.bits)))
				less(other, c.centroid(step, c.nearest(step, other)))
			}
			own, nearest = own+square(left), nearest+square(other)
		}
		return own <= nearest*(1+beamSlack)+1e-12
	}
}

// beamSlack is by how much the best of several at each step may be farther than the nearest at each step.
const beamSlack = 0.02

func less(x, y []float32) {
	for i, v := range y {
		x[i] -= v
	}
}

func square(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// nearest is the centroid of a step that is nearest to x.
func (c *PRQ) nearest(step int, x []float32) (best uint32) {
	least := math.Inf(1)
	for v := range uint32(1) << c.bits {
		sum := 0.0
		for i, y := range c.centroid(step, v) {
			d := float64(x[i] - y)
			sum += d * d
		}
		if sum < least {
			least, best = sum, v
		}
	}
	return best
}

// NewDecoder returns what computes distances as AQDistanceComputerLUT does (faiss/IndexAdditiveQuantizer.cpp, knowhere v2.5.6): sums of a table of
// the query's products with all centroids, which BLAS makes. OpenBLAS adds up one dimension after the other with FMA, in its functions for Haswell
// and for SkylakeX; where it does not know the CPU, it takes older functions, and last bits differ.
func (c *PRQ) NewDecoder(m engine.Metric, p dist.Profile) (Decoder, error) {
	if m != dist.L2 && m != dist.InnerProduct || m == dist.L2 && !c.norms {
		return nil, fmt.Errorf("no metric %s for such codes in steps", m)
	}
	norm, err := dist.New(m, dist.Float32, p, c.dim)
	if err != nil {
		return nil, err
	}
	return &steps{codec: c, l2: m == dist.L2, norm: norm, table: make([]float32, c.parts*c.steps<<c.bits)}, nil
}

type steps struct {
	codec *PRQ
	l2    bool
	norm  *dist.Kernel
	bias  float32
	table []float32
}

func (d *steps) Load(q []float32) {
	c := d.codec
	width := c.dim / c.parts
	own := c.steps << c.bits // entries of a part
	for p := range c.parts {
		dist.Products(q[p*width:][:width], c.centroids[p*own*width:], d.table[p*own:][:own])
	}
	d.bias = 0
	if d.l2 {
		d.bias = d.norm.SquaredNorm(unsafe.Pointer(unsafe.SliceData(q)))
	}
}

func (d *steps) Gather(base unsafe.Pointer, stride uintptr, ids []uint32, out []float32, _ int) {
	c := d.codec
	size, n := c.Bytes(), c.parts*c.steps
	for i, id := range ids {
		code := at(base, stride, id, size)
		var sum float32
		if c.bits == 8 {
			for s, v := range code[:n] {
				sum += d.table[s<<8|int(v)]
			}
		} else {
			for s := range n {
				sum += d.table[s<<c.bits|int(bitsAt(code, s*c.bits, c.bits))]
			}
		}
		if d.l2 {
			length := math.Float32frombits(bitsAt(code, n*c.bits, 32))
			sum = d.bias + (length - 2*sum)
		}
		out[i] = sum
	}
}
