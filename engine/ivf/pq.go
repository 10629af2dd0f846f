package ivf

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// PQ codes a vector in 4 to 8 bits for each of its parts: faiss's product quantizer, Milvus's IVF_PQ. It is immutable.
type PQ struct {
	// Residual: codes are of what is left of vectors when the centroid of their list is taken off.
	Residual bool
	// Parts is how many parts a vector has, Bits the bits of a part in a code, one directly after the other, the lowest first.
	Parts, Bits int
	// Centroids are the values of those of all parts, in a row: 1<<Bits of each part.
	Centroids []float32

	dim int
	l2  *dist.Kernel // of a part
}

// The bits that a part may have.
const (
	MinBits = 4
	MaxBits = 8
)

// maxTables is the memory beyond which faiss does without tables of lists (precomputed_table_max_bytes, faiss/IndexIVFPQ.cpp).
const maxTables = 1 << 31

// NewPQ returns the codec of parts of so many bits, whose centroids are in a row; an error says how they do not fit together.
func NewPQ(dim, parts, bits int, centroids []float32, residual bool) (*PQ, error) {
	if parts <= 0 || dim%parts != 0 || bits < MinBits || bits > MaxBits || len(centroids) != dim<<bits {
		return nil, fmt.Errorf("%d dimensions in %d parts of %d bits: %d values of centroids", dim, parts, bits, len(centroids))
	}
	k, err := dist.New(dist.L2, dist.Float32, dist.Faiss, dim/parts)
	return &PQ{Residual: residual, Parts: parts, Bits: bits, Centroids: centroids, dim: dim, l2: k}, err
}

// Kind is the type of such an index in Milvus's words.
func (c *PQ) Kind() string { return "IVF_PQ" }

func (c *PQ) String() string {
	s := fmt.Sprintf("%d bits for each of %d parts", c.Bits, c.Parts)
	if c.Residual {
		s += ", of what the centroid leaves"
	}
	return s
}

// Dim is the dimension of the vectors.
func (c *PQ) Dim() int { return c.dim }

// Bytes is the size of a code.
func (c *PQ) Bytes() int { return (c.Parts*c.Bits + 7) / 8 }

// unpack writes to parts, one byte each, what the bits of a code say (PQDecoderGeneric, faiss/impl/ProductQuantizer-inl.h).
func (c *PQ) unpack(code, parts []byte) {
	if c.Bits == MaxBits {
		copy(parts, code)
		return
	}
	at, mask := 0, 1<<c.Bits-1
	for i := range parts {
		v := int(code[at>>3]) >> (at & 7)
		if next := at>>3 + 1; next < len(code) {
			v |= int(code[next]) << (8 - at&7)
		}
		parts[i] = byte(v & mask)
		at += c.Bits
	}
}

// table writes to out, for each part of x, what the kernel says of it and each of the part's centroids. query is scratch for a part.
func (c *PQ) table(k *dist.Kernel, x []float32, query []byte, out []float32) {
	width, values := c.dim/c.Parts, 1<<c.Bits
	for p := range c.Parts {
		copy(dist.Floats(query), x[p*width:(p+1)*width])
		centroids := unsafe.Pointer(&c.Centroids[p*values*width])
		k.Scan(unsafe.Pointer(unsafe.SliceData(query)), centroids, uintptr(4*width), out[p*values:(p+1)*values])
	}
}

// norms are the squares of the lengths of all centroids.
func (c *PQ) norms() []float32 {
	width := c.dim / c.Parts
	norms := make([]float32, c.Parts<<c.Bits)
	for i := range norms {
		for _, v := range c.Centroids[i*width : (i+1)*width] {
			norms[i] += v * v
		}
	}
	return norms
}

// givesSlack is by how much of the squares of the lengths a centroid may be farther than the nearest: faiss finds the nearest by a
// product of matrices where there are many rows, which rounds otherwise.
const givesSlack = 1e-5

// Gives returns a function that reports whether x, in the list of a centroid, has this code, for one goroutine: each part of x is as near to the
// part's centroid as to any.
func (c *PQ) Gives() func(code []byte, centroid, x []float32) bool {
	width, values := c.dim/c.Parts, 1<<c.Bits
	parts, left, query := make([]byte, c.Parts), make([]float32, c.dim), dist.Aligned(4*width)
	norms, table := c.norms(), make([]float32, c.Parts*values)
	return func(code []byte, centroid, x []float32) bool {
		if c.Residual {
			x = difference(left, x, centroid)
		}
		c.unpack(code, parts)
		c.table(c.l2, x, query, table)
		for p, v := range parts {
			own := table[p*values:][:values]
			lengths := norms[p*values+int(v)]
			for _, y := range x[p*width : (p+1)*width] {
				lengths += y * y
			}
			for _, d := range own {
				if own[v] > d+givesSlack*lengths {
					return false
				}
			}
		}
		return true
	}
}

func (c *PQ) decoder(x *Index) (decoder, error) {
	d := &pqDecoder{index: x, codec: c}
	for _, k := range []struct {
		to     **dist.Kernel
		metric engine.Metric
		dim    int
	}{{&d.whole, dist.InnerProduct, c.dim}, {&d.l2, dist.L2, c.dim / c.Parts}, {&d.ip, dist.InnerProduct, c.dim / c.Parts}} {
		var err error
		if *k.to, err = dist.New(k.metric, dist.Float32, dist.Faiss, k.dim); err != nil {
			return nil, err
		}
	}
	if c.Residual && x.Metric == dist.L2 && len(x.Lists) <= maxTables/4/(c.Parts<<c.Bits) {
		d.norms, d.tables = c.norms(), make([]atomic.Pointer[[]float32], len(x.Lists))
	}
	return d.clone(), nil
}

// pqDecoder computes distances as IVFPQScanner does (faiss/impl/pq_code_distance/IVFPQ_QueryTables.cpp): sums of entries of a table of the query,
// of its residual in a list, or of both. Under L2, what a list's centroid and the residuals have in common is in a table of the list, unless
// those would be beyond maxTables.
type pqDecoder struct {
	index  *Index
	codec  *PQ
	l2, ip *dist.Kernel // of a part
	whole  *dist.Kernel // of inner products with centroids
	norms  []float32    // of the centroids of parts, where lists have tables
	// tables are those of lists, made when a list is first read: nil where there are none.
	tables []atomic.Pointer[[]float32]

	q                  []float32
	table, other       []float32 // of the list; of the query where lists have tables
	residual, centroid []float32
	part, parts        []byte // scratch: a part of a query, a code
	add                float32
}

func (d *pqDecoder) clone() decoder {
	c := *d
	c.table, c.other = make([]float32, d.codec.Parts<<d.codec.Bits), make([]float32, d.codec.Parts<<d.codec.Bits)
	c.residual, c.centroid = make([]float32, d.codec.dim), dist.Floats(dist.Aligned(4*d.codec.dim))
	c.part, c.parts = dist.Aligned(4*d.codec.dim/d.codec.Parts), make([]byte, d.codec.Parts)
	return &c
}

func (d *pqDecoder) query(q []float32) {
	d.q, d.add = q, 0
	switch {
	case d.tables != nil:
		d.codec.table(d.ip, q, d.part, d.other)
	case d.index.coarse() == dist.InnerProduct:
		d.codec.table(d.ip, q, d.part, d.table)
	case !d.codec.Residual:
		d.codec.table(d.l2, q, d.part, d.table)
	}
}

func (d *pqDecoder) list(i int, coarse float32) {
	if !d.codec.Residual || len(d.index.Lists[i].IDs) == 0 {
		return
	}
	copy(bytesOf(d.centroid), d.index.Centroids.Row(i))
	switch {
	case d.index.Metric != dist.L2:
		d.add = d.whole.One(unsafe.Pointer(unsafe.SliceData(d.q)), unsafe.Pointer(unsafe.SliceData(d.centroid)))
	case d.tables != nil:
		d.add = coarse
		for j, v := range d.of(i) {
			d.table[j] = v - 2*d.other[j]
		}
	default:
		d.codec.table(d.l2, difference(d.residual, d.q, d.centroid), d.part, d.table)
	}
}

// of is the table of list i: of each centroid of a part its squared length, and twice its product with the list's centroid.
func (d *pqDecoder) of(i int) []float32 {
	if t := d.tables[i].Load(); t != nil {
		return *t
	}
	t := make([]float32, len(d.table))
	d.codec.table(d.ip, d.centroid, d.part, t)
	for j, v := range t {
		t[j] = d.norms[j] + 2*v
	}
	d.tables[i].Store(&t)
	return t
}

func (d *pqDecoder) scan(codes *engine.Vectors, first int, out []float32) {
	bits := d.codec.Bits
	for i := range out {
		d.codec.unpack(codes.Row(first+i), d.parts)
		sum := d.add
		for p, v := range d.parts {
			sum += d.table[p<<bits|int(v)]
		}
		out[i] = sum
	}
}
