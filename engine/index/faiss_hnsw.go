package index

import (
	"fmt"
	"math"
	"strconv"

	"kitescope/engine"
	"kitescope/engine/hnsw"
)

// faissGraph is faiss's HNSW struct as stored in the file. The links of node i on level l are
// neighbors[offsets[i]+cum[l]:offsets[i]+cum[l+1]], up to the first -1.
// Source: faiss 1.15, faiss/impl/index_write.cpp, write_HNSW, and faiss/impl/HNSW.h.
type faissGraph struct {
	n, m, m0  int
	levels    []byte // i32, counted from 1
	levelsAt  int
	offsets   []byte // u64, one for each node and the end
	offsetsAt int
	neighbors []byte // i32
	at        int    // offset of neighbors in the file
}

// hnsw reads an HNSW index of vectors: faiss's, or knowhere's for cosine, whose storage holds the norms. The file
// does not contain is_similarity: a graph of inner products was built on the negated product.
func (r *faissReader) hnsw(at int, code string) faissHeader {
	h := r.header(at, code)
	ix := &hnsw.Index{Metric: h.metric, Faiss: true}
	g := r.graph(&h)
	entryAt := r.at
	ix.Entry = r.u32("entry_point")
	maxLevel := r.i32("max_level")
	ix.MaxLevel = int(maxLevel)
	ix.EFConstruction = r.parameter("efConstruction")
	ix.EFSearch = r.parameter("efSearch")
	r.u32("upper_beam")
	r.file.part("header", at, r.at-entryAt)
	if r.err != nil {
		return h
	}
	if r.err = g.copyLinks(r.cursor, ix); r.err != nil {
		return h
	}
	if r.err = checkEntry(&ix.Graph, entryAt, entryAt+4); r.err != nil {
		return h
	}
	r.storage(&h, ix)
	r.file.Searchable = FromGraph(ix)
	return h
}

// parameter reads an i32 parameter of the search or the build.
func (r *faissReader) parameter(what string) int {
	v := r.i32(what)
	r.expect(v >= 0, 4, what, "%d", v)
	return int(v)
}

// normBytes returns the size in bytes of the norms after the rows of a flat index.
func normBytes(norms []float32) int {
	if norms == nil {
		return 0
	}
	return 8 + 4*len(norms)
}

// realign copies rows, which are at offset at in the file, into aligned memory.
func (r *faissReader) realign(from *engine.Vectors, at int) (*engine.Vectors, error) {
	to, err := engine.NewVectors(from.Element, from.Dim, from.Rows)
	if err != nil {
		return nil, err
	}
	_ = parallel(from.Rows, max(1, chunk/from.Stride), func(first, end int) error {
		for i := first; i < end; i++ {
			copy(to.Row(i), from.Row(i))
		}
		if r.discard != nil {
			r.discard(at+first*from.Stride, at+end*from.Stride)
		}
		return nil
	})
	return to, nil
}

// graph reads the struct up to its neighbors, and checks counts and offsets against each other.
func (r *faissReader) graph(h *faissHeader) faissGraph {
	start := r.at
	r.vector(8, "assign_probas")
	cumAt := r.at + 8
	cum := r.vector(4, "cum_nneighbor_per_level")
	g := faissGraph{n: h.rows}
	g.levelsAt = r.at + 8
	g.levels = r.vector(4, "levels")
	r.expect(len(g.levels)/4 == h.rows, len(g.levels)+8, fmt.Sprintf("the levels of %d nodes", h.rows), "%d",
		len(g.levels)/4)
	r.expect(h.rows <= maxNodes, len(g.levels)+8, fmt.Sprintf("at most %d nodes", maxNodes), "%d", h.rows)
	g.offsetsAt = r.at + 8
	g.offsets = r.vector(8, "offsets")
	r.expect(len(g.offsets)/8-1 == h.rows, len(g.offsets)+8, fmt.Sprintf("%d offsets and the end", h.rows), "%d",
		len(g.offsets)/8)
	g.at = r.at + 8
	g.neighbors = r.vector(4, "neighbors")
	if r.err != nil {
		return g
	}
	r.file.part("levels", start, g.at-start)
	r.file.part("links", g.at, len(g.neighbors))
	if g.m, g.m0, r.err = linksPerLevel(cum, cumAt); r.err == nil {
		r.err = g.check(len(cum)/4 - 1)
	}
	return g
}

// linksPerLevel derives M and M0 from faiss's sums of links per level: 0, M0, M0+M, M0+2M, ...
func linksPerLevel(cum []byte, at int) (m, m0 int, err error) {
	wrong := func(i int, expected string) error {
		found := "the end"
		if i < len(cum)/4 {
			found = strconv.Itoa(int(int32(le32(cum, i))))
		}
		return notFound(at+4*i, expected, found)
	}
	if len(cum) < 8 || le32(cum, 0) != 0 {
		return 0, 0, wrong(0, "sums of links per level from 0 on")
	}
	m0 = int(int32(le32(cum, 1)))
	if m0 <= 0 || m0 > maxM {
		return 0, 0, wrong(1, "a number of links on level 0")
	}
	m = (m0 + 1) / 2
	if len(cum) > 8 {
		m = int(int32(le32(cum, 2))) - m0
	}
	if m <= 0 || m > maxM {
		return 0, 0, wrong(2, "a number of links above level 0")
	}
	for i := 3; i < len(cum)/4; i++ {
		if int64(int32(le32(cum, i)))-int64(int32(le32(cum, i-1))) != int64(m) {
			return 0, 0, wrong(i, fmt.Sprintf("%d links more than on the level below", m))
		}
	}
	return m, m0, nil
}

// check checks levels, offsets and the number of neighbors against each other. If it returns nil, the links of
// every node are within neighbors.
func (g *faissGraph) check(levels int) error {
	sum := uint64(0)
	for i := range g.n {
		level := int(int32(le32(g.levels, i)))
		if level < 1 || level > min(levels, math.MaxUint8+1) {
			return notFound(g.levelsAt+4*i, fmt.Sprintf("1 to %d levels of node %d", min(levels, math.MaxUint8+1), i),
				level)
		}
		if at := le64(g.offsets, i); at != sum {
			return notFound(g.offsetsAt+8*i, fmt.Sprintf("the links of node %d from %d on", i, sum), at)
		}
		sum += uint64(g.m0 + (level-1)*g.m)
	}
	if at := le64(g.offsets, g.n); at != sum || sum != uint64(len(g.neighbors)/4) {
		return notFound(g.offsetsAt+8*g.n, fmt.Sprintf("the end of the links at %d", sum),
			fmt.Sprintf("%d of %d", at, len(g.neighbors)/4))
	}
	return nil
}

// copyLinks copies the links, in parallel, and checks each against the nodes and their levels. The file's -1 is kept,
// because it has the bit hnsw.End.
func (g *faissGraph) copyLinks(c *cursor, ix *hnsw.Index) error {
	ix.M, ix.M0 = g.m, g.m0
	ix.Levels = make([]uint8, g.n)
	ix.UpperAt = make([]uint32, g.n)
	blocks := 0
	for i := range g.n {
		ix.Levels[i] = uint8(le32(g.levels, i) - 1)
		if ix.Levels[i] > 0 {
			ix.UpperAt[i] = uint32(blocks)
			blocks += int(ix.Levels[i])
		}
	}
	ix.Base = engine.Uint32s(g.n * g.m0)
	ix.Upper = make([]uint32, blocks*g.m)
	return parallel(g.n, max(1, chunk/(4*g.m0)), func(from, to int) error {
		for i := from; i < to; i++ {
			at := int(le64(g.offsets, i))
			if err := g.links(ix, i, 0, at, ix.Base[i*g.m0:(i+1)*g.m0]); err != nil {
				return err
			}
			at += g.m0
			for l := range int(ix.Levels[i]) {
				up := (int(ix.UpperAt[i]) + l) * g.m
				if err := g.links(ix, i, l+1, at+l*g.m, ix.Upper[up:up+g.m]); err != nil {
					return err
				}
			}
		}
		if c.discard != nil {
			c.discard(g.at+4*int(le64(g.offsets, from)), g.at+4*int(le64(g.offsets, to)))
		}
		return nil
	})
}

// links copies the links of node i on one level, which begin at neighbors[at].
func (g *faissGraph) links(ix *hnsw.Index, i, level, at int, slots []uint32) error {
	ended := false
	for j := range slots {
		v := le32(g.neighbors, at+j)
		slots[j] = v
		ended = ended || v&hnsw.End != 0
		if !ended && (int(v) >= g.n || int(ix.Levels[v]) < level) {
			return notFound(g.at+4*(at+j),
				fmt.Sprintf("a link of node %d to one of %d nodes, on level %d", i, g.n, level), v)
		}
	}
	return nil
}
