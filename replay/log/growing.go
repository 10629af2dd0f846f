package log

import (
	"kitescope/engine"
	"kitescope/engine/dist"
)

// growing is rows of which nobody knows how many there will be.
type growing struct {
	element dist.Element
	dim     int
	rows    int
	dense   []byte   // the rows, one after the other
	sparse  [][]byte // those of sparse vectors, each of its own size
	bytes   int      // of sparse rows together
}

// add takes a row of a sparse vector, which has a size of its own.
func (g *growing) add(row []byte) {
	g.sparse = append(g.sparse, row)
	g.rows++
	g.bytes += len(row)
}

// next is a zeroed row at the end.
func (g *growing) next() []byte {
	size := g.element.Bytes(g.dim)
	g.dense = append(g.dense, make([]byte, size)...)
	g.rows++
	return g.dense[len(g.dense)-size:]
}

// rowBytes is what one row takes, 0 while nothing is known of any.
func (g *growing) rowBytes() int {
	if g.element == dist.Sparse && g.rows > 0 {
		const header = 24 // of a slice
		return g.bytes/g.rows + header
	}
	if g.dim == 0 {
		return 0
	}
	return g.element.Bytes(g.dim)
}

// drop takes back the last n rows.
func (g *growing) drop(n int) {
	g.rows -= n
	if g.element != dist.Sparse {
		g.dense = g.dense[:g.rows*g.rowBytes()]
		return
	}
	for _, row := range g.sparse[g.rows:] {
		g.bytes -= len(row)
	}
	g.sparse = g.sparse[:g.rows]
}

// release gives everything back.
func (g *growing) release() { *g = growing{element: g.element, dim: g.dim} }

// joined is all rows in one place; nil if there are none. g is empty afterwards.
func (g *growing) joined() (*engine.Vectors, error) {
	defer g.release()
	if g.rows == 0 {
		return nil, nil
	}
	if g.element == dist.Sparse {
		return engine.JoinSparse(g.sparse)
	}
	all, err := engine.NewVectors(g.element, g.dim, g.rows)
	if err != nil {
		return nil, err
	}
	size := g.rowBytes()
	for i := range all.Rows {
		copy(all.Row(i), g.dense[i*size:])
	}
	return all, nil
}
