package segment

import (
	"cmp"
	"errors"
	"fmt"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
	"kitescope/engine/ivf"
)

// Options say which Milvus answers, and in which state.
type Options struct {
	// Graph and Rows are whose tie rules and filters are taken, of HNSW and of all else. The zero
	// values are not Milvus's: see Milvus.
	Graph hnsw.Policy
	Rows  flat.Policy
	// Profile is the order of accumulation, by the CPU that the node had.
	Profile dist.Profile
	// RowsOnly leaves indexes alone: each segment is searched row by row, as while it is growing.
	RowsOnly bool
	// Warm keeps knowhere's cache of entry points: a query that comes again enters elsewhere.
	Warm bool
}

// Milvus are the options of a release on a machine with AVX-512: 2.1 to 2.3 are knowhere 1 and 2.2; from
// 2.4 on it is 2.3, which adds up as faiss does.
func Milvus(major, minor int) Options {
	if major > 2 || major == 2 && minor >= 4 {
		return Options{Graph: hnsw.Knowhere23, Rows: flat.Knowhere23, Profile: dist.Faiss}
	}
	return Options{Graph: hnsw.Knowhere22, Rows: flat.Knowhere}
}

// Params are what a query asks for. EF and NProbe are of HNSW and IVF_FLAT; 0 is the default.
type Params struct {
	K, EF, NProbe int
}

// Hit is a row that was found. Distance is what Milvus returns: squared for L2, a similarity for
// inner product and cosine.
type Hit struct {
	Segment  *Segment
	Row      int
	Distance float32
}

// Key is the hit's primary key as text.
func (h *Hit) Key() string { return h.Segment.Key(h.Row) }

// Cost is what one segment took of a query.
type Cost struct {
	Segment         int64
	Distances, Hops int
	BruteForce      string // why a graph was not walked; empty if it was, or if there is none
}

// Searcher answers queries over segments of one collection, one at a time: one Searcher per
// goroutine.
type Searcher struct {
	parts  []part
	metric engine.Metric

	hits   []engine.Hit
	found  []Hit
	lists  [][]Hit // of found, one for each segment
	seen   map[primaryKey]bool
	merged []Hit
}

// part searches one segment.
type part struct {
	*Segment
	graph *hnsw.Searcher
	lists *ivf.Searcher
	rows  *flat.Searcher
}

// NewSearcher returns a searcher over segments, whose metric is the same.
func NewSearcher(segments []*Segment, o Options) (*Searcher, error) {
	s := &Searcher{parts: make([]part, len(segments)), lists: make([][]Hit, len(segments)), seen: map[primaryKey]bool{}}
	for i, g := range segments {
		if i > 0 && g.Metric != segments[0].Metric {
			return nil, fmt.Errorf("segments %d and %d have different metrics", segments[0].ID, g.ID)
		}
		s.metric = g.Metric
		p, err := newPart(g, o)
		if err != nil {
			return nil, fmt.Errorf("search segment %d: %w", g.ID, err)
		}
		s.parts[i] = p
	}
	return s, nil
}

func newPart(g *Segment, o Options) (part, error) {
	p := part{Segment: g}
	var err error
	switch {
	case g.Rows == 0:
	case g.Index != nil && g.Index.Kind == index.HNSW && !o.RowsOnly:
		options := hnsw.Options{Policy: o.Graph, Profile: &o.Profile}
		if o.Warm {
			options.Entries = hnsw.NewEntryCache()
		}
		p.graph, err = g.Index.HNSW.NewSearcher(options)
	case g.Index != nil && g.Index.Kind == index.IVFFlat && !o.RowsOnly:
		p.lists, err = ivf.New(g.Index.IVF, flat.Options{Policy: o.Rows, Profile: o.Profile})
	default:
		// A FLAT index is the rows once more.
		p.rows, err = flat.New(&flat.Index{Vectors: g.Vectors, Metric: g.Metric}, flat.Options{Policy: o.Rows, Profile: o.Profile})
	}
	return p, err
}

// Search returns the K nearest rows of all segments, nearest first, equal ones by primary key,
// none of them twice; and what each segment took. The answer is valid until the next call.
func (s *Searcher) Search(query []byte, p Params) ([]Hit, []Cost, error) {
	s.found = s.found[:0]
	costs := make([]Cost, len(s.parts))
	for i := range s.parts {
		part := &s.parts[i]
		costs[i].Segment = part.ID
		s.lists[i] = nil
		if part.Rows == 0 {
			continue
		}
		first := len(s.found)
		hits, err := part.search(query, p, s.hits[:0], &costs[i])
		if err != nil {
			return nil, nil, fmt.Errorf("search segment %d: %w", part.ID, err)
		}
		s.hits = hits
		for _, h := range hits {
			if h.ID < 0 || h.ID >= int64(part.Rows) {
				return nil, nil, fmt.Errorf("search segment %d: row %d of %d", part.ID, h.ID, part.Rows)
			}
			s.found = append(s.found, Hit{part.Segment, int(h.ID), h.Distance})
		}
		s.lists[i] = s.found[first:]
	}
	return s.merge(p.K), costs, nil
}

func (p *part) search(query []byte, q Params, dst []engine.Hit, c *Cost) ([]engine.Hit, error) {
	switch {
	case p.graph != nil:
		ef := q.EF
		if ef == 0 {
			return nil, errors.New("an HNSW search needs ef")
		}
		hits, stats, err := p.graph.Search(query, hnsw.Params{K: q.K, EF: ef, Filter: p.Deleted}, dst)
		c.Distances, c.Hops, c.BruteForce = stats.Distances, stats.Hops+stats.UpperHops, stats.BruteForce
		return hits, err
	case p.lists != nil:
		hits, err := p.lists.Search(query, ivf.Params{K: q.K, NProbe: q.NProbe, Filter: p.Deleted}, dst)
		c.Distances = p.lists.Computed()
		return hits, err
	default:
		c.Distances = p.Rows - p.Deleted.Count()
		return p.rows.Search(query, flat.Params{K: q.K, Filter: p.Deleted}, dst)
	}
}

// similarity tells whether greater is nearer.
func (s *Searcher) similarity() bool { return s.metric == dist.InnerProduct || s.metric == dist.Cosine }

// merge takes the nearest head of all segments' lists, again and again, of equally near ones that
// with the smallest primary key; the order within a segment stays as it was found. A key is
// answered once: a row is in a growing and in a sealed segment for a while (Milvus 2.3:
// internal/core/src/segcore/reduce_c.cpp, internal/proxy/task_search.go reduceSearchResultData).
func (s *Searcher) merge(k int) []Hit {
	sign := float32(1)
	if s.similarity() {
		sign = -1
	}
	clear(s.seen)
	s.merged = s.merged[:0]
	for len(s.merged) < k {
		best := -1
		for i, list := range s.lists {
			if len(list) == 0 {
				continue
			}
			if best < 0 || cmp.Or(cmp.Compare(sign*list[0].Distance, sign*s.lists[best][0].Distance), compareKeys(list[0], s.lists[best][0])) < 0 {
				best = i
			}
		}
		if best < 0 {
			break
		}
		h := s.lists[best][0]
		s.lists[best] = s.lists[best][1:]
		if of := h.key(); !s.seen[of] {
			s.seen[of] = true
			s.merged = append(s.merged, h)
		}
	}
	return s.merged
}

// primaryKey is a key of either type.
type primaryKey struct {
	number int64
	text   string
}

func (h *Hit) key() primaryKey {
	if h.Segment.Strings != nil {
		return primaryKey{text: h.Segment.Strings[h.Row]}
	}
	return primaryKey{number: h.Segment.Int64s[h.Row]}
}

func compareKeys(a, b Hit) int {
	if a.Segment.Strings != nil {
		return cmp.Compare(a.Segment.Strings[a.Row], b.Segment.Strings[b.Row])
	}
	return cmp.Compare(a.Segment.Int64s[a.Row], b.Segment.Int64s[b.Row])
}
