package segment

import (
	"errors"
	"fmt"

	"kitescope/engine"
	"kitescope/engine/flat"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
	"kitescope/engine/ivf"
)

// Probe searches one segment, one query at a time: one Probe per goroutine.
type Probe struct {
	segment *Segment
	options Options
	graph   *hnsw.Searcher
	lists   *ivf.Searcher
	rows    *flat.Searcher
	out     *engine.Bitset // deleted or filtered, where that is two sets
}

// NewProbe returns a probe of a segment. It takes the segment's index if it has one that can be searched and o does not forbid
// it, and else compares with all rows.
func NewProbe(g *Segment, o Options) (*Probe, error) {
	p := &Probe{segment: g, options: o}
	var err error
	switch {
	case g.Rows == 0:
	case g.Index != nil && g.Index.Kind == index.HNSW && !o.RowsOnly:
		p.graph, err = newGraph(g, o)
	case g.Index != nil && g.Index.Kind == index.IVFFlat && !o.RowsOnly:
		p.lists, err = ivf.New(g.Index.IVF, flat.Options{Library: o.Library, Profile: o.Profile})
	default:
		// A FLAT index is the rows once more.
		p.rows, err = flat.New(&flat.Index{Vectors: g.Vectors, Metric: g.Metric}, flat.Options{Library: o.Library, Profile: o.Profile})
	}
	if err != nil {
		return nil, fmt.Errorf("search segment %d: %w", g.ID, err)
	}
	return p, nil
}

func newGraph(g *Segment, o Options) (*hnsw.Searcher, error) {
	options := hnsw.Options{Library: o.Library, Profile: &o.Profile}
	if o.Warm {
		options.Entries = hnsw.NewEntryCache()
	}
	return g.Index.HNSW.NewSearcher(options)
}

// Clone returns another probe of the same segment for another goroutine: norms of rows are shared. A warm cache of entry points
// is not: each has its own.
func (p *Probe) Clone() (*Probe, error) {
	c := &Probe{segment: p.segment, options: p.options}
	var err error
	switch {
	case p.graph != nil:
		c.graph, err = newGraph(p.segment, p.options)
	case p.lists != nil:
		c.lists = p.lists.Clone()
	case p.rows != nil:
		c.rows = p.rows.Clone()
	}
	if err != nil {
		return nil, fmt.Errorf("search segment %d: %w", p.segment.ID, err)
	}
	return c, nil
}

// Segment is what is searched.
func (p *Probe) Segment() *Segment { return p.segment }

// Indexed tells whether searches take an index.
func (p *Probe) Indexed() bool { return p.graph != nil || p.lists != nil }

// Search appends to dst the K nearest rows of the segment, nearest first, as Milvus's search of a segment returns them: ids are rows.
// Rows that are deleted or marked in filter (nil for none) are left out.
func (p *Probe) Search(query []byte, q Params, filter *engine.Bitset, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	c := Cost{Segment: p.segment.ID}
	if p.segment.Rows == 0 {
		return dst, c, nil
	}
	first := len(dst)
	dst, err := p.search(query, q, p.left(filter), dst, &c)
	if err != nil {
		return dst[:first], c, fmt.Errorf("search segment %d: %w", p.segment.ID, err)
	}
	for _, h := range dst[first:] {
		if h.ID < 0 || h.ID >= int64(p.segment.Rows) {
			return dst[:first], c, fmt.Errorf("search segment %d: row %d of %d", p.segment.ID, h.ID, p.segment.Rows)
		}
	}
	return dst, c, nil
}

// Hits appends to dst what Search found, as hits of several segments are kept.
func (p *Probe) Hits(found []engine.Hit, dst []Hit) []Hit {
	for _, h := range found {
		dst = append(dst, Hit{p.segment, int(h.ID), h.Distance})
	}
	return dst
}

// left is all rows that are left out.
func (p *Probe) left(filter *engine.Bitset) *engine.Bitset {
	deleted := p.segment.Deleted
	switch {
	case filter == nil:
		return deleted
	case deleted.Count() == 0:
		return filter
	}
	if p.out == nil {
		p.out = engine.NewBitset(p.segment.Rows)
	}
	p.out.SetUnion(deleted, filter)
	return p.out
}

func (p *Probe) search(query []byte, q Params, left *engine.Bitset, dst []engine.Hit, c *Cost) ([]engine.Hit, error) {
	switch {
	case p.graph != nil:
		if q.EF == 0 {
			return dst, errors.New("an HNSW search needs ef")
		}
		hits, stats, err := p.graph.Search(query, hnsw.Params{K: q.K, EF: q.EF, Filter: left}, dst)
		c.Distances, c.Hops, c.BruteForce = stats.Distances, stats.Hops+stats.UpperHops, stats.BruteForce
		return hits, err
	case p.lists != nil:
		hits, err := p.lists.Search(query, ivf.Params{K: q.K, NProbe: q.NProbe, Filter: left}, dst)
		c.Distances = p.lists.Computed()
		return hits, err
	default:
		c.Distances = p.segment.Rows - left.Count()
		return p.rows.Search(query, flat.Params{K: q.K, Filter: left}, dst)
	}
}
