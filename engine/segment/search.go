package segment

import (
	"fmt"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/sparse"
)

// Options say which Milvus answers, and in which state.
type Options struct {
	// Library is whose tie rules and filters are taken: Knowhere22 or later, see Milvus.
	Library engine.Library
	// Profile is the order of accumulation, by the CPU that the node had.
	Profile dist.Profile
	// RowsOnly leaves indexes alone: each segment is searched row by row, as while it is growing.
	RowsOnly bool
	// Warm keeps knowhere's cache of entry points: a query that comes again enters elsewhere.
	Warm bool
	// Algorithm is how lists of sparse vectors are walked, nil as the library does; BM25 are the parameters of that metric, nil Milvus's.
	Algorithm *sparse.Algorithm
	BM25      *sparse.BM25
}

// Milvus are the options of a release on a machine with AVX-512: 2.1 to 2.3 are knowhere 1 and 2.2; from
// 2.4 on it is 2.3, which adds up as faiss does.
func Milvus(major, minor int) Options {
	l := engine.MilvusLibrary(major, minor)
	return Options{Library: l, Profile: l.Profile()}
}

// Params are what a query asks for. EF is of HNSW, NProbe of inverted files, where 0 is knowhere's default (8), ReorderK of SCANN, where 0
// is K.
type Params struct {
	K, EF, NProbe, ReorderK int
	Sparse                  engine.SparseParams
}

// Hit is a row that was found. Distance is what Milvus returns: squared for L2, a similarity for
// inner product and cosine.
type Hit struct {
	Segment  *Segment
	Row      int
	Distance float32
}

// Key is the hit's primary key.
func (h *Hit) Key() engine.Key { return h.Segment.Key(h.Row) }

// Cost is what one segment took of a query.
type Cost struct {
	Segment         int64
	Distances, Hops int
	BruteForce      string // why a graph was not walked; empty if it was, or if there is none
}

// Searcher answers queries over segments of one collection, one at a time: one Searcher per
// goroutine.
type Searcher struct {
	probes  []*Probe
	reducer *Reducer

	hits   []engine.Hit
	found  []Hit
	lists  [][]Hit // of found, one for each segment
	merged []Hit
}

// NewSearcher returns a searcher over segments, whose metric is the same.
func NewSearcher(segments []*Segment, o Options) (*Searcher, error) {
	s := &Searcher{probes: make([]*Probe, len(segments)), lists: make([][]Hit, len(segments))}
	var metric engine.Metric
	for i, g := range segments {
		if i > 0 && g.Metric != metric {
			return nil, fmt.Errorf("segments %d and %d have different metrics", segments[0].ID, g.ID)
		}
		metric = g.Metric
		p, err := NewProbe(g, o)
		if err != nil {
			return nil, err
		}
		s.probes[i] = p
	}
	s.reducer = NewReducer(metric)
	return s, nil
}

// Search returns the K nearest rows of all segments, nearest first, equal ones by primary key,
// none of them twice; and what each segment took. The answer is valid until the next call.
func (s *Searcher) Search(query []byte, p Params) ([]Hit, []Cost, error) {
	s.found = s.found[:0]
	costs := make([]Cost, len(s.probes))
	for i, probe := range s.probes {
		first := len(s.found)
		var err error
		if s.hits, costs[i], err = probe.Search(query, p, nil, s.hits[:0]); err != nil {
			return nil, nil, err
		}
		s.found = probe.Hits(s.hits, s.found)
		s.lists[i] = s.found[first:]
	}
	s.merged = s.reducer.Reduce(s.lists, p.K, s.merged[:0])
	return s.merged, costs, nil
}
