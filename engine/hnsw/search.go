package hnsw

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// Options holds the options of a Searcher.
type Options struct {
	// Library is the library whose search is reproduced. Native is HNSWLib.
	Library engine.Library
	// Kernel computes the distances, with its own metric and profile. If it is nil, the best kernel for this CPU is
	// used. Its dimension and element must be those of the index.
	Kernel *dist.Kernel
	// GraphOnly disables knowhere's brute-force search.
	GraphOnly bool
}

// Params holds the parameters of a query.
type Params struct {
	K int
	// EF is the length of the candidate list. 0 selects the library's default: 10 or K for hnswlib, the EFSearch of
	// the index or 16 for faiss, and 16 or K for knowhere.
	EF int
	// Filter marks rows that must not be returned. Rows are row numbers, not labels.
	Filter *engine.Bitset
}

// Stats holds the counters of a query.
type Stats struct {
	Hops      int // nodes of level 0 whose links were followed
	UpperHops int // nodes of higher levels whose links were followed
	Distances int // distances computed, on all levels
	Levels    int // levels above 0 that were searched
	// Entry is the node at which the search entered level 0.
	Entry uint32
	// BruteForce is the reason why all rows were compared instead of walking the graph. It is empty if the graph
	// was walked.
	BruteForce string
}

// Searcher searches one Index. It handles one query at a time, so each goroutine needs its own Searcher.
type Searcher struct {
	index     *Index
	library   engine.Library
	opts      Options
	kernel    *dist.Kernel
	norm      *dist.Kernel // its SquaredNorm normalises queries under cosine
	faissWalk bool         // use the walk of knowhere 2.5 and later for graphs built by faiss

	floats   fetch // prefetches rows
	rowLines int   // cache lines of a row
	fetch          // prefetches rows, or their 8-bit codes
	n        int
	blocked  *engine.Bitset // rows that this query must not return: filtered or deleted
	union    *engine.Bitset // buffer for blocked

	query []byte // in the format of the kernels, 64-byte aligned
	q     unsafe.Pointer

	seen  *dist.VisitedSet
	fresh []uint32
	dists []float32

	list     *dist.RankedList // candidates
	pending  pendingRows
	pool     []nodeDist // sorted candidates
	top      []nodeDist // heap of results
	cands    []nodeDist // heap of candidates, with negated distances
	ids      []int32
	dis      []float32
	results  kHeap
	found    []nodeDist // results of the library, best first, with the distances that it compares
	items    []candidate
	admitted []uint32
	peeked   []uint32
	next     int    // number of peeked rows, which the next hop is likely to read
	ahead    uint32 // node whose neighbours' rows were prefetched last
	ties     int    // score of recent queries with equal distances
	stats    Stats

	codes  *prefilter.Query // nil without codes
	coded  bool             // codes are valid for this query
	cut    dist.Cut         // threshold for codes, made for cutFor
	cutFor float32          // NaN before the first cut
}

// fetch describes the memory that a visit prefetches.
type fetch struct {
	base   unsafe.Pointer
	stride uintptr
	lines  int  // cache lines to prefetch per row
	long   bool // rows have more than longRow lines
}

// nodeDist is a node and its distance. Smaller distances are nearer.
type nodeDist struct {
	d  float32
	id uint32
}

// NewSearcher returns a Searcher over x. It returns an error if there is no kernel for the vectors and the metric
// of x, or if the parts of x do not fit together.
func (x *Index) NewSearcher(o Options) (*Searcher, error) {
	if !o.Library.Valid() {
		return nil, fmt.Errorf("unknown library %d", o.Library)
	}
	o.Library = o.Library.Or(engine.HNSWLib)
	v := x.Vectors
	k := o.Kernel
	if k == nil {
		var err error
		if k, err = dist.New(x.Metric, v.Element, o.Library.Profile(), x.Dim()); err != nil {
			return nil, err
		}
	}
	if x.Norms != nil && len(x.Norms) != v.Rows || x.Labels != nil && len(x.Labels) != v.Rows {
		return nil, fmt.Errorf("%d vectors with %d norms and %d labels", v.Rows, len(x.Norms), len(x.Labels))
	}
	if err := x.checkShape(v.Rows); err != nil {
		return nil, err
	}
	if k.Dim != x.Dim() || k.Element != v.Element {
		return nil, fmt.Errorf("a kernel for %d dimensions for vectors of %d", k.Dim, x.Dim())
	}
	slots := max(x.M, x.M0)
	norm := k
	modern := x.Faiss && o.Library >= engine.Knowhere25
	if o.Library.Knowhere() && v.Element == dist.Float32 && !modern {
		// Its sum of squares uses SSE on every x86 CPU (src/simd/hook.cc, v2.2.3 and v2.3.12).
		var err error
		if norm, err = dist.New(x.Metric, v.Element, dist.Knowhere, v.Dim); err != nil {
			return nil, err
		}
	}
	s := &Searcher{
		index: x, library: o.Library, opts: o, kernel: k, norm: norm,
		faissWalk: modern,
		floats:    fetch{base: v.Base(), stride: uintptr(v.Stride)}, n: v.Rows,
		query: dist.Aligned(max(v.Size(), 4*x.Dim())),
		seen:  dist.NewVisitedSet(v.Rows),
		fresh: make([]uint32, slots, slots+dist.Lookahead), peeked: make([]uint32, slots),
		dists: make([]float32, max(slots, scanRows)),
		list:  dist.NewRankedList(),
	}
	s.rowLines = (v.Size() + 63) / 64
	s.floats.lines = min((v.Size()+63)/64, maxPrefetch)
	if k.Prefetches() && v.Size() > 64*longRow {
		s.floats.long, s.floats.lines = true, maxPrefetchLong
	}
	s.q = unsafe.Pointer(unsafe.SliceData(s.query))
	return s, s.enableCodes()
}

// Search appends the K nearest rows to dst, nearest first, as the library finds them. It returns fewer if there are
// not enough rows. The query has the format of a stored vector, little-endian.
func (s *Searcher) Search(query []byte, p Params, dst []engine.Hit) ([]engine.Hit, Stats, error) {
	ef, err := s.ef(p.K, p.EF)
	if err != nil {
		return dst, Stats{}, err
	}
	if err := s.prepare(query, p.Filter); err != nil {
		return dst, Stats{}, err
	}
	s.found = s.found[:0]
	if s.n > 0 && s.blocked.Count() < s.n {
		switch s.library {
		case engine.HNSWLib:
			s.searchHNSWLib(p.K, ef)
		case engine.Faiss:
			s.searchFaiss(p.K, ef)
		default:
			s.searchKnowhere(p.K, ef)
		}
	}
	return s.hits(dst), s.stats, nil
}

// SearchFloat32 is Search for a float32 query. It returns an error if the index has another element type.
func (s *Searcher) SearchFloat32(query []float32, p Params, dst []engine.Hit) ([]engine.Hit, Stats, error) {
	row, err := s.float32s(query)
	if err != nil {
		return dst, Stats{}, err
	}
	return s.Search(row, p, dst)
}

func (s *Searcher) float32s(query []float32) ([]byte, error) {
	if s.index.Element() != dist.Float32 {
		return nil, errors.New("a float32 query for vectors of another element type")
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(query))), 4*len(query)), nil
}

// ef returns the length of the candidate list for k results. It returns an error if k or ef is invalid.
func (s *Searcher) ef(k, ef int) (int, error) {
	if k <= 0 {
		return 0, fmt.Errorf("k is %d, must be positive", k)
	}
	if ef < 0 {
		return 0, fmt.Errorf("ef is %d, must be positive", ef)
	}
	if ef == 0 {
		return s.index.DefaultEF(s.library, k), nil
	}
	if s.library.Knowhere() && ef < k {
		return 0, fmt.Errorf("ef (%d) is smaller than k (%d): Milvus rejects it", ef, k)
	}
	return ef, nil
}

// DefaultEF returns the ef that the library uses for k results if the search sets none.
func (x *Index) DefaultEF(l engine.Library, k int) int {
	switch {
	case l.Knowhere():
		return max(k, 16)
	case l.Or(engine.HNSWLib) == engine.HNSWLib:
		return 10
	}
	return x.defaultEFSearch()
}

func (x *Index) defaultEFSearch() int {
	if x.EFSearch > 0 {
		return x.EFSearch
	}
	return 16
}

// hits appends the results with the ids and distances that the library returns.
func (s *Searcher) hits(dst []engine.Hit) []engine.Hit {
	negate := s.library != engine.HNSWLib && (s.index.Metric == dist.InnerProduct || s.index.Metric == dist.Cosine)
	for _, f := range s.found {
		if negate {
			f.d = -f.d
		}
		dst = append(dst, engine.Hit{ID: s.label(f.id), Distance: f.d})
	}
	return dst
}

func (s *Searcher) label(id uint32) int64 {
	if s.index.Labels != nil {
		return s.index.Labels[id]
	}
	return int64(id)
}

// descend walks greedily from the entry to the nearest node of level 1 and returns it with its distance. All
// libraries read the whole list and move to the first of the nearest neighbours (HierarchicalNSW::searchKnn, and
// greedy_update_nearest of faiss, whose batches of four do not change any bit).
func (s *Searcher) descend() (uint32, float32) {
	g := &s.index.Graph
	at := g.Entry
	nearest := s.distance(at)
	if s.coded {
		s.fetchCodes()
		defer s.fetchFloats()
	}
	s.stats.Levels = max(g.MaxLevel, 0)
	for level := g.MaxLevel; level > 0; level-- {
		for changed := true; changed; {
			changed = false
			n := dist.Peek(s.links(at, level), s.seen, s.base, s.stride, s.lines, s.fresh)
			if s.coded {
				n = s.pick(n, nearest)
			}
			s.distances(s.fresh[:n])
			s.stats.UpperHops++
			for i, d := range s.dists[:n] {
				if d < nearest {
					nearest, at, changed = d, s.fresh[i], true
				}
			}
		}
	}
	s.stats.Entry = at
	return at, nearest
}

// isNaN reports whether f is NaN without converting it to float64.
func isNaN(f float32) bool { return f != f }

const maxFloat = math.MaxFloat32

func isInf(f float32) bool { return f > maxFloat || f < -maxFloat }
