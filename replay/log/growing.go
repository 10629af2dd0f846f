package log

import (
	"kitescope/engine"
	"kitescope/engine/dist"
)

// Chunks of a growing set of rows: the first are small, so that a short log costs little; the largest is what a long log
// needs besides its vectors.
const (
	firstChunk = 64 << 10
	lastChunk  = 8 << 20
)

// growing is rows of which nobody knows how many there will be. They are kept in chunks; joined copies them to one place
// and gives each chunk back as soon as it is copied, so that no more than one is there twice: memory outside the heap is
// taken page by page as it is written.
type growing struct {
	element dist.Element
	dim     int
	rows    int
	chunks  []*engine.Vectors
	used    int // rows of the last chunk

	sparse [][]byte // the rows of sparse vectors, in place of chunks
	bytes  int      // of them together
}

// add takes a row of a sparse vector, which has a size of its own.
func (g *growing) add(row []byte) {
	g.sparse = append(g.sparse, row)
	g.rows++
	g.bytes += len(row)
}

// next is a zeroed row at the end.
func (g *growing) next() ([]byte, error) {
	if n := len(g.chunks); n == 0 || g.used == g.chunks[n-1].Rows {
		size := firstChunk
		if n > 0 {
			size = min(2*g.chunks[n-1].Bytes(), lastChunk)
		}
		chunk, err := engine.NewVectors(g.element, g.dim, max(1, size/max(1, g.element.Bytes(g.dim))))
		if err != nil {
			return nil, err
		}
		g.chunks, g.used = append(g.chunks, chunk), 0
	}
	row := g.chunks[len(g.chunks)-1].Row(g.used)
	g.used++
	g.rows++
	return row, nil
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

// drop takes back the last n rows, which lie in the chunks from the end.
func (g *growing) drop(n int) {
	g.rows -= n
	if g.element == dist.Sparse {
		for _, row := range g.sparse[g.rows:] {
			g.bytes -= len(row)
		}
		g.sparse = g.sparse[:g.rows]
		return
	}
	for n > 0 {
		k := min(n, g.used)
		last := g.chunks[len(g.chunks)-1]
		for i := range k {
			clear(last.Row(g.used - 1 - i))
		}
		g.used -= k
		n -= k
		if n > 0 {
			last.Release()
			g.chunks = g.chunks[:len(g.chunks)-1]
			g.used = g.chunks[len(g.chunks)-1].Rows
		}
	}
}

// release gives everything back.
func (g *growing) release() {
	for _, c := range g.chunks {
		c.Release()
	}
	g.chunks, g.rows, g.used, g.sparse, g.bytes = nil, 0, 0, nil, 0
}

// joined is all rows in one place; nil if there are none. g is empty afterwards.
func (g *growing) joined() (*engine.Vectors, error) {
	if g.rows == 0 {
		g.release()
		return nil, nil
	}
	if g.element == dist.Sparse {
		all, err := engine.JoinSparse(g.sparse)
		g.release()
		return all, err
	}
	all, err := engine.NewVectors(g.element, g.dim, g.rows)
	if err != nil {
		return nil, err
	}
	to := 0
	for _, c := range g.chunks {
		for i := 0; i < c.Rows && to < all.Rows; i, to = i+1, to+1 {
			copy(all.Row(to), c.Row(i))
		}
		c.Release()
	}
	g.chunks, g.rows, g.used = nil, 0, 0
	return all, nil
}
