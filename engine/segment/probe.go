package segment

import (
	"errors"
	"fmt"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/index"
	"kitescope/engine/sparse"
)

// Probe searches one segment, one query at a time. Each goroutine needs its own Probe.
type Probe struct {
	segment  *Segment
	options  Options
	effort   index.Effort
	searcher index.Searcher // nil without rows
	buffer   *engine.Bitset // union of deleted and filtered rows, if both exist
}

// NewProbe returns a probe of a segment. It uses the segment's index, unless there is no searchable index or o
// forbids it. Otherwise it compares with all rows.
func NewProbe(g *Segment, o Options) (*Probe, error) {
	p := &Probe{segment: g, options: o}
	if g.Rows == 0 {
		return p, nil
	}
	x, err := o.searchable(g)
	if err != nil {
		return nil, fmt.Errorf("search segment %d: %w", g.ID, err)
	}
	p.effort = x.Effort()
	if x.Effort() == index.ByDropRatio && !o.indexed(g) {
		p.effort = index.AllRows
	}
	if p.searcher, err = x.NewSearcher(index.Options{Library: o.Library, BM25: o.BM25}); err != nil {
		return nil, fmt.Errorf("search segment %d: %w", g.ID, err)
	}
	return p, nil
}

// indexed reports whether searches use the segment's index.
func (o Options) indexed(g *Segment) bool {
	return g.Index != nil && g.Index.Effort() != index.AllRows && !o.RowsOnly
}

// searchable returns the segment's index, or its rows. A FLAT index holds the same rows, so it is not used. For
// sparse vectors without an index, a node builds lists as rows arrive (queryNode.segcore.interimIndex) and searches
// them.
func (o Options) searchable(g *Segment) (index.Searchable, error) {
	switch {
	case o.indexed(g):
		return g.Index.Searchable, nil
	case g.Vectors.Element == dist.Sparse:
		x, err := sparse.Build(g.Vectors, g.Metric)
		if err != nil {
			return nil, err
		}
		return index.FromSparse(x), nil
	}
	return index.FromRows(g.rows()), nil
}

// DefaultNProbe is the number of lists that knowhere reads if a query does not set it. The value in the index file
// is ignored (src/index/ivf/ivf_config.h, v2.2.3).
const DefaultNProbe = 8

// Clone returns another probe of the same segment for another goroutine. The two share the norms of the rows.
func (p *Probe) Clone() (*Probe, error) {
	c := &Probe{segment: p.segment, options: p.options, effort: p.effort}
	if p.searcher == nil {
		return c, nil
	}
	var err error
	if c.searcher, err = p.searcher.Clone(); err != nil {
		return nil, fmt.Errorf("search segment %d: %w", p.segment.ID, err)
	}
	return c, nil
}

// Segment returns the segment that the probe searches.
func (p *Probe) Segment() *Segment { return p.segment }

// Indexed reports whether searches use an index.
func (p *Probe) Indexed() bool { return p.effort != index.AllRows }

// Search appends the K nearest rows of the segment to dst, nearest first, as Milvus's search of a segment returns
// them. The ids of the hits are row numbers. Rows that are deleted or marked in filter (which may be nil) are left
// out.
func (p *Probe) Search(query []byte, q Params, filter *engine.Bitset, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	c := Cost{Segment: p.segment.ID}
	if p.segment.Rows == 0 {
		return dst, c, nil
	}
	first := len(dst)
	dst, err := p.search(query, q, p.excluded(filter), dst, &c)
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

// Hits appends the results of Search to dst in the form for several segments.
func (p *Probe) Hits(found []engine.Hit, dst []Hit) []Hit {
	for _, h := range found {
		dst = append(dst, Hit{p.segment, int(h.ID), h.Distance})
	}
	return dst
}

// excluded returns all rows to leave out.
func (p *Probe) excluded(filter *engine.Bitset) *engine.Bitset {
	deleted := p.segment.Deleted
	switch {
	case filter == nil:
		return deleted
	case deleted.Count() == 0:
		return filter
	}
	if p.buffer == nil {
		p.buffer = engine.NewBitset(p.segment.Rows)
	}
	p.buffer.SetUnion(deleted, filter)
	return p.buffer
}

func (p *Probe) search(
	query []byte, q Params, excluded *engine.Bitset, dst []engine.Hit, c *Cost,
) ([]engine.Hit, error) {
	if p.effort == index.ByEF && q.EF == 0 {
		return dst, errors.New("an HNSW search needs ef")
	}
	params := index.Params{K: q.K, SearchParams: q.SearchParams, Filter: excluded}
	if p.effort == index.ByNProbe && params.NProbe == 0 {
		params.NProbe = DefaultNProbe
	}
	dst, cost, err := p.searcher.Search(query, params, dst)
	c.Distances, c.Hops, c.BruteForce = cost.Distances, cost.Hops, cost.BruteForce
	return dst, err
}
