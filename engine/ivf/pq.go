package ivf

import (
	"sync/atomic"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/code"
	"kitescope/engine/dist"
)

// PQ codes a vector in 4 to 8 bits for each of its parts: faiss's product quantiser, Milvus's IVF_PQ. It is immutable.
type PQ struct {
	*code.PQ
	// Residual: codes are of what is left of vectors when the centroid of their list is taken off.
	Residual bool
	// Precomputed: under L2, what a list's centroid and the residuals have in common is in a table of the list, and each distance is
	// the sum of three terms, as faiss does where it has read an index and the tables are not beyond maxTables. Else each list has a
	// table of the distances of the query's own residual. Bits differ.
	Precomputed bool
}

// maxTables is the memory beyond which faiss does without tables of lists (precomputed_table_max_bytes, faiss/IndexIVFPQ.cpp).
const maxTables = 1 << 31

// NewPQ returns the codec of parts of so many bits, whose centroids are in a row; an error says how they do not fit together.
func NewPQ(dim, parts, bits int, centroids []float32, residual bool) (*PQ, error) {
	c, err := code.NewPQ(dim, parts, bits, centroids)
	return &PQ{c, residual, true}, err
}

// Kind is the type of such an index in Milvus's words.
func (c *PQ) Kind() string { return "IVF_PQ" }

func (c *PQ) String() string {
	s := c.PQ.String()
	if c.Residual {
		s += ", of what the centroid leaves"
	}
	return s
}

// Gives returns what reports whether x, in the list of a centroid, has this code, for one goroutine: each part of x is as near to the part's
// centroid as to any.
func (c *PQ) Gives() func(code []byte, centroid, x []float32) bool {
	gives, left := c.PQ.Gives(), make([]float32, c.Dim())
	return func(code []byte, centroid, x []float32) bool {
		if c.Residual {
			x = difference(left, x, centroid)
		}
		return gives(code, x)
	}
}

func (c *PQ) decoder(x *Index, p dist.Profile) (decoder, error) {
	whole, err := dist.New(dist.InnerProduct, dist.Float32, p, c.Dim())
	if err != nil {
		return nil, err
	}
	codes, err := c.Kernels().As(p)
	if err != nil {
		return nil, err
	}
	size := codes.Parts() * dist.PQValues
	d := &pqDecoder{index: x, codec: c, codes: codes, whole: whole}
	if c.Residual && c.Precomputed && x.Metric == dist.L2 && len(x.Lists) <= maxTables/4/size {
		d.norms, d.tables = make([]float32, size), make([]atomic.Pointer[[]float32], len(x.Lists))
		codes.Norms(d.norms)
	}
	return d.clone(), nil
}

// pqDecoder computes distances as IVFPQScanner does (faiss/impl/pq_code_distance/IVFPQ_QueryTables.cpp): by a table of the query,
// of its residual in a list, or of both.
type pqDecoder struct {
	index *Index
	codec *PQ
	codes *dist.PQ     // in the order of the profile
	whole *dist.Kernel // of inner products with centroids
	norms []float32    // of the centroids of parts, where lists have tables
	// tables are those of lists, made when a list is first read: nil where there are none.
	tables []atomic.Pointer[[]float32]

	q            []float32
	table, other []float32 // of the list; of the query where lists have tables
	residual     []float32
	centroid     []byte
	add          float32
	unpacked     []byte // of the rows of a tile; nil where a part has a byte
}

func (d *pqDecoder) clone() decoder {
	c := *d
	c.table, c.residual = make([]float32, d.codes.Parts()*dist.PQValues), make([]float32, d.codec.Dim())
	if d.codec.Bits() != code.MaxBits {
		c.unpacked = make([]byte, tileRows*d.codes.Parts())
	}
	c.centroid = dist.Aligned(4 * d.codec.Dim())
	if d.tables != nil {
		c.other = make([]float32, len(c.table))
	}
	return &c
}

func (d *pqDecoder) query(q []float32) {
	d.q, d.add = q, 0
	switch {
	case d.tables != nil:
		d.codes.Table(dist.InnerProduct, q, d.other)
	case d.index.Metric != dist.L2 || !d.codec.Residual:
		d.codes.Table(d.index.coarse(), q, d.table)
	}
}

func (d *pqDecoder) list(i int, coarse float32) {
	if !d.codec.Residual || len(d.index.Lists[i].IDs) == 0 {
		return
	}
	copy(d.centroid, d.index.Centroids.Row(i))
	switch {
	case d.index.Metric != dist.L2:
		d.add = d.whole.One(unsafe.Pointer(unsafe.SliceData(d.q)), unsafe.Pointer(unsafe.SliceData(d.centroid)))
	case d.tables != nil:
		d.add = coarse
		d.codes.Less(d.of(i), d.other, d.table)
	default:
		d.codes.Table(dist.L2, difference(d.residual, d.q, dist.Floats(d.centroid)), d.table)
	}
}

// of is the table of list i: of each centroid of a part its squared length, and twice its product with the list's centroid.
func (d *pqDecoder) of(i int) []float32 {
	if t := d.tables[i].Load(); t != nil {
		return *t
	}
	t := make([]float32, len(d.table))
	d.codes.Table(dist.InnerProduct, dist.Floats(d.centroid), t)
	for j, v := range t {
		t[j] = d.norms[j] + 2*v
	}
	d.tables[i].Store(&t)
	return t
}

func (d *pqDecoder) scan(codes *engine.Vectors, first int, out []float32) {
	if d.unpacked != nil {
		parts := d.codes.Parts()
		for i := range out {
			d.codec.Unpack(codes.Row(first+i), d.unpacked[i*parts:][:parts])
		}
		d.codes.SumInTurn(d.add, d.table, unsafe.Pointer(unsafe.SliceData(d.unpacked)), uintptr(parts), out)
		return
	}
	d.codes.Sum(d.add, d.table, unsafe.Add(codes.Base(), first*codes.Stride), uintptr(codes.Stride), out)
}
