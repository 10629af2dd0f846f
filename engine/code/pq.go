package code

import (
	"fmt"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// PQ codes a vector in 4 to 8 bits for each of its parts: a product quantiser. It is immutable.
type PQ struct {
	parts *dist.PQ
	dim   int
	bits  int // of a part, one directly after the other, the lowest first
}

// The bits that a part may have. With fewer, most of a table would be empty.
const (
	MinBits = 4
	MaxBits = 8
)

// NewPQ returns the codec of parts of so many bits, whose centroids are in a row; an error says how they do not fit together.
func NewPQ(dim, parts, bits int, centroids []float32) (*PQ, error) {
	if parts <= 0 || dim%parts != 0 || bits < MinBits || bits > MaxBits {
		return nil, fmt.Errorf("%d dimensions in %d parts of %d bits", dim, parts, bits)
	}
	if own := dim << bits / parts; len(centroids) == own*parts && bits < MaxBits { // the kernels have tables for 8 bits
		all := make([]float32, dist.PQValues*dim)
		for p := range parts {
			copy(all[p*dist.PQValues*dim/parts:], centroids[p*own:(p+1)*own])
		}
		centroids = all
	}
	k, err := dist.NewPQ(parts, dim/parts, centroids)
	if err != nil {
		return nil, err
	}
	return &PQ{parts: k, dim: dim, bits: bits}, nil
}

// Name is the type of such codes in Milvus's words.
func (c *PQ) Name() string { return "PQ" }

func (c *PQ) String() string { return fmt.Sprintf("%d bits for each of %d parts", c.bits, c.Parts()) }

// Dim is the dimension of the vectors.
func (c *PQ) Dim() int { return c.dim }

// Bytes is the size of a code.
func (c *PQ) Bytes() int { return (c.Parts()*c.bits + 7) / 8 }

// Facts are m and nbits.
func (c *PQ) Facts() []Fact {
	return []Fact{{"parts (m)", "pq_m", c.Parts()}, {"bits of a part (nbits)", "nbits", c.bits}}
}

// Bits are those of a part.
func (c *PQ) Bits() int { return c.bits }

// Parts is how many there are.
func (c *PQ) Parts() int { return c.parts.Parts() }

// Kernels are those of the tables and sums.
func (c *PQ) Kernels() *dist.PQ { return c.parts }

// Centroids are the values of those of all parts, in a row: as many of each as its bits tell apart.
func (c *PQ) Centroids() []float32 {
	all := c.parts.Centroids()
	if c.bits == MaxBits {
		return all
	}
	var own []float32
	for p := range c.Parts() {
		first := p * dist.PQValues * c.dim / c.Parts()
		own = append(own, all[first:first+c.dim<<c.bits/c.Parts()]...)
	}
	return own
}

// Unpack writes to parts, one byte each, what the bits of a code say (PQDecoderGeneric, faiss/impl/ProductQuantizer-inl.h).
func (c *PQ) Unpack(code, parts []byte) {
	at, mask := 0, 1<<c.bits-1
	for i := range parts {
		v := int(code[at>>3]) >> (at & 7)
		if next := at>>3 + 1; next < len(code) {
			v |= int(code[next]) << (8 - at&7)
		}
		parts[i] = byte(v & mask)
		at += c.bits
	}
}

// givesSlack is by how much of the squares of the lengths a centroid may be farther than the nearest: faiss finds the nearest by a
// product of matrices where there are many rows, which rounds otherwise.
const givesSlack = 1e-5

// Gives returns what reports whether x has this code, for one goroutine: each part of x is as near to the part's centroid as to any.
func (c *PQ) Gives() func(code []byte, x []float32) bool {
	parts := make([]byte, c.Parts())
	table := make([]float32, len(parts)*dist.PQValues)
	return func(code []byte, x []float32) bool {
		c.Unpack(code, parts)
		c.parts.Table(dist.L2, x, table)
		return c.nearest(parts, x, table)
	}
}

// nearest reports whether the centroids of parts are the nearest to those of x, by the table of their distances.
func (c *PQ) nearest(parts []byte, x, table []float32) bool {
	width := c.dim / len(parts)
	for p, v := range parts {
		own := table[p*dist.PQValues:][:1<<c.bits]
		lengths := float32(0)
		for i, y := range c.parts.Centroid(p, v) {
			lengths += y*y + x[p*width+i]*x[p*width+i]
		}
		for _, d := range own {
			if own[v] > d+givesSlack*lengths {
				return false
			}
		}
	}
	return true
}

// NewDecoder returns what computes distances as PQDistanceComputer does (faiss/impl/pq_code_distance/PQDistanceComputer_impl.h): sums of a table
// of the query.
func (c *PQ) NewDecoder(m engine.Metric, p dist.Profile) (Decoder, error) {
	if m != dist.L2 && m != dist.InnerProduct {
		return nil, fmt.Errorf("no metric %s for vectors in parts", m)
	}
	k, err := c.parts.As(p)
	if err != nil {
		return nil, err
	}
	return &sums{codec: c, metric: m, kernels: k, table: make([]float32, c.Parts()*dist.PQValues), unpacked: make([]byte, c.Parts())}, nil
}

type sums struct {
	codec    *PQ
	metric   engine.Metric
	kernels  *dist.PQ
	table    []float32
	unpacked []byte
}

func (d *sums) Load(q []float32) { d.kernels.Table(d.metric, q, d.table) }

func (d *sums) Gather(base unsafe.Pointer, stride uintptr, ids []uint32, out []float32, _ int) {
	if d.codec.bits == MaxBits {
		d.kernels.Gather(d.table, base, stride, ids, out)
		return
	}
	for i, id := range ids {
		d.codec.Unpack(at(base, stride, id, d.codec.Bytes()), d.unpacked)
		d.kernels.SumInTurn(0, d.table, unsafe.Pointer(unsafe.SliceData(d.unpacked)), 0, out[i:i+1])
	}
}
