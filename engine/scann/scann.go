// Package scann answers nearest-neighbour queries over Milvus's SCANN, faiss's IVFPQFastScan as knowhere wraps it: rows in lists, one for each
// centroid, coded in 4 bits for each two dimensions, and, if the index keeps them, the vectors by which the best of them are compared again.
//
// In: centroids, lists and codes as a file has them (engine/index), queries. Out: hits, best first, with the ids, the distance bits and
// the order among equal distances of knowhere 2.2 and 2.3. Steps: the centroids, a flat index, name the lists to read; a table of the
// query's distances to the 16 centroids of each part is rounded to bytes; the sum of its entries, an integer, is what a row is ranked by;
// of the ReorderK best the distance to the vector is computed, and the K best of these are the answer.
package scann

import (
	"errors"
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// Index is rows in lists, one for each centroid. It is immutable and may be shared.
type Index struct {
	Metric    engine.Metric   // L2, inner product or cosine
	Centroids *engine.Vectors // row i is the centroid of Lists[i]
	Lists     []List
	NProbe    int // of the file; a search names its own
	Parts     *Parts
	// Rows are the vectors by id, and Norms their lengths under cosine; nil where the index has codes alone. Inverse are 1 by the lengths, which
	// files have in their place from knowhere 2.5.10 on.
	Rows           *engine.Vectors
	Norms, Inverse []float32
}

// List is the rows that are nearest to one centroid, in the order in which they were added.
type List struct {
	IDs []int64
	// Blocks are the codes of 32 rows each, the last with zeros where there are fewer (Code).
	Blocks []byte
}

// values is how many centroids a part has: 4 bits.
const values = 16

// blockRows is how many rows a block has.
const blockRows = 32

// Parts are the centroids of the parts that vectors are taken apart into. It is immutable.
type Parts struct {
	count, width int
	centroids    []byte // float32, 16 rows of width for each part
	l2, ip       *dist.Kernel
}

// NewParts returns so many parts of one width; centroids are copied. An error says how they do not fit.
func NewParts(count, width int, centroids []float32) (*Parts, error) {
	if count <= 0 || width <= 0 || len(centroids)/values/width != count || len(centroids)%(values*width) != 0 {
		return nil, fmt.Errorf("%d values of centroids for %d parts of %d dimensions", len(centroids), count, width)
	}
	p := &Parts{count: count, width: width, centroids: dist.Aligned(4 * len(centroids))}
	copy(dist.Floats(p.centroids), centroids)
	var err error
	p.l2, p.ip, err = dist.PartKernels(dist.KnowhereSSE, width)
	return p, err
}

// as returns the same with the tables of a library.
func (p *Parts) as(l engine.Library) (*Parts, error) {
	if l < engine.Knowhere25 {
		return p, nil
	}
	own := *p
	var err error
	own.l2, own.ip, err = dist.PartKernels(dist.Knowhere25, p.width)
	return &own, err
}

// Count is how many parts there are.
func (p *Parts) Count() int { return p.count }

// Dim is the dimension of the vectors.
func (p *Parts) Dim() int { return p.count * p.width }

// BlockBytes is the size of the codes of a block: parts are stored in pairs.
func (p *Parts) BlockBytes() int { return p.pairs() * blockRows }

func (p *Parts) pairs() int { return (p.count + 1) / 2 }

// Code is the code that a row of a list has in a part. A pair of parts has 32 bytes, 16 for each of the two; the byte j has the row
// place[j] of the block in its lower and the row 16 after it in its upper half (pq4_pack_codes, faiss/impl/pq4_fast_scan.cpp).
func (p *Parts) Code(l *List, row, part int) byte {
	in := row % blockRows
	at := row/blockRows*p.BlockBytes() + part/2*blockRows + part%2*16
	for j, r := range place() {
		switch {
		case int(r) == in:
			return l.Blocks[at+j] & 15
		case int(r)+16 == in:
			return l.Blocks[at+j] >> 4
		}
	}
	return 0
}

// place is the row that each of the 16 bytes of a part has in its lower half.
func place() [16]uint8 { return [16]uint8{0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15} }

// givesSlack is by how much of the squares of the lengths a centroid may be farther than the nearest: knowhere may find the nearest in
// another order of adding up.
const givesSlack = 1e-5

// Gives returns what reports whether v, as it is coded (normalised under cosine), has the code of a row of a list, for one goroutine: each of
// its parts is as near to the part's centroid as to any.
func (x *Index) Gives() func(list, row int, v []float32) bool {
	p := x.Parts
	table := make([]float32, values*p.count)
	return func(list, row int, v []float32) bool {
		p.table(dist.L2, v, table)
		for i := range p.count {
			if !p.nearest(i, p.Code(&x.Lists[list], row, i), v[i*p.width:][:p.width], table[i*values:][:values]) {
				return false
			}
		}
		return true
	}
}

// nearest reports whether the centroid c of a part is the nearest to v, by the distances of all.
func (p *Parts) nearest(part int, c byte, v, distances []float32) bool {
	lengths := float32(0)
	for j, y := range dist.Floats(p.centroids)[(part*values+int(c))*p.width:][:p.width] {
		lengths += y*y + v[j]*v[j]
	}
	for _, d := range distances {
		if distances[c] > d+givesSlack*lengths {
			return false
		}
	}
	return true
}

// Len is how many rows there are in all lists.
func (x *Index) Len() int {
	n := 0
	for i := range x.Lists {
		n += len(x.Lists[i].IDs)
	}
	return n
}

// SetNorms takes the norms of a file, which are 1 by the lengths of the rows from knowhere 2.5.10 on: what they are nearer to says which, and where
// all lengths are 1 it makes no difference.
func (x *Index) SetNorms(norms []float32) {
	var off, offInverse float64
	row := dist.Aligned(4 * x.Rows.Dim)
	for i := range min(len(norms), x.Rows.Rows) {
		sum := 0.0
		copy(row, x.Rows.Row(i)) // which may lie anywhere
		for _, v := range dist.Floats(row) {
			sum += float64(v) * float64(v)
		}
		if sum == 0 || math.IsInf(sum, 0) || math.IsNaN(sum) {
			continue
		}
		length := math.Sqrt(sum)
		off += math.Abs(math.Log(math.Abs(float64(norms[i])) / length))
		offInverse += math.Abs(math.Log(math.Abs(float64(norms[i])) * length))
	}
	if x.Norms = norms; offInverse < off {
		x.Norms, x.Inverse = nil, norms
	}
}

// check tells what does not fit together.
func (x *Index) check() error {
	switch {
	case x.Centroids == nil || x.Centroids.Rows == 0 || x.Centroids.Element != dist.Float32:
		return errors.New("an inverted file without centroids of float32")
	case x.Parts == nil || x.Parts.Dim() != x.Centroids.Dim:
		return fmt.Errorf("codes of other vectors than those of %d dimensions", x.Centroids.Dim)
	case x.Metric != dist.L2 && x.Metric != dist.InnerProduct && x.Metric != dist.Cosine:
		return fmt.Errorf("SCANN has no metric %s", x.Metric)
	case x.Centroids.Rows != len(x.Lists):
		return fmt.Errorf("%d lists for %d centroids", len(x.Lists), x.Centroids.Rows)
	}
	rows := x.Len()
	if v := x.Rows; v != nil && (v.Dim != x.Centroids.Dim || v.Element != dist.Float32 || v.Rows != rows) {
		return fmt.Errorf("%d vectors of %d dimensions for %d rows of %d", v.Rows, v.Dim, rows, x.Centroids.Dim)
	}
	if n := max(len(x.Norms), len(x.Inverse)); x.Rows != nil && x.Metric == dist.Cosine && n != rows {
		return fmt.Errorf("%d norms for %d rows", n, rows)
	}
	for i := range x.Lists {
		l := &x.Lists[i]
		if blocks := (len(l.IDs) + blockRows - 1) / blockRows; len(l.Blocks) != blocks*x.Parts.BlockBytes() {
			return fmt.Errorf("list %d has %d ids and %d bytes of codes", i, len(l.IDs), len(l.Blocks))
		}
		for _, id := range l.IDs {
			if id < 0 || id >= int64(rows) {
				return fmt.Errorf("list %d: id %d is not one of %d rows", i, id, rows)
			}
		}
	}
	return nil
}
