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

// Options are what a Searcher keeps for all its queries.
type Options struct {
	// Library is whose search is reproduced; Native is HNSWLib.
	Library engine.Library
	// Kernel computes the distances; nil is the best of this CPU. Its metric, element, profile
	// and dimension count, not those above.
	Kernel *dist.Kernel
	// GraphOnly switches knowhere's brute force off.
	GraphOnly bool
}

// Params are what a query asks for.
type Params struct {
	K int
	// EF is the length of the list of candidates; 0 is the library's default: 10 or K for hnswlib,
	// the index's own or 16 for faiss, 16 or K for knowhere.
	EF int
	// Filter marks rows (internal numbers, not labels) that may not be returned.
	Filter *engine.Bitset
}

// Stats are the counters of one query.
type Stats struct {
	Hops      int // nodes of level 0 whose links were followed
	UpperHops int // the same above level 0
	Distances int // distances computed, on all levels
	Levels    int // levels above 0 that were searched
	// Entry is the node at which level 0 was entered.
	Entry uint32
	// BruteForce says why all rows were compared in place of a walk; empty if there was a walk.
	BruteForce string
}

// Searcher answers queries on one Index, one at a time: one Searcher per goroutine.
type Searcher struct {
	index   *Index
	library engine.Library
	opts    Options
	kernel  *dist.Kernel
	norm    *dist.Kernel // whose SquaredNorm normalises queries under cosine
	modern  bool         // the walk of knowhere 2.5 and later over a graph of faiss's

	floats   fetch // of rows
	rowLines int   // cache lines of a row
	fetch          // of rows, or of their 8-bit codes
	n        int
	blocked  *engine.Bitset // of this query: filtered or deleted
	union    *engine.Bitset // where blocked is put together

	query []byte // as kernels take it, 64-byte aligned
	q     unsafe.Pointer

	seen  *dist.Seen
	fresh []uint32
	dists []float32

	list    *dist.Ranked // of candidates
	held    held
	pool    []near // sorted candidates
	top     []near // heap of results
	cands   []near // heap of candidates, their distances negated
	ids     []int32
	dis     []float32
	results kHeap
	found   []near // what a library returns, best first, distances as it searches with
	items   []candidate
	let     []uint32
	peeked  []uint32
	next    int    // how many peeked are: rows that the next hop is likely to read
	ahead   uint32 // the node whose neighbours' rows were prefetched last
	ties    int    // how often of late a query met equal distances
	stats   Stats

	codes  *prefilter.Query // nil without codes
	coded  bool             // codes say something of this query
	cut    dist.Cut         // for cutFor
	cutFor float32          // NaN before there is one
}

// fetch is where and how a visit prefetches.
type fetch struct {
	base   unsafe.Pointer
	stride uintptr
	lines  int  // cache lines of a row
	long   bool // rows of more than longRow lines
}

// near is a node and its distance, smaller nearer.
type near struct {
	d  float32
	id uint32
}

// NewSearcher returns a Searcher; an error if the index's vectors have no kernel for its metric.
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
		// Its sum of squares is SSE's on every x86 CPU (src/simd/hook.cc, v2.2.3 and v2.3.12).
		var err error
		if norm, err = dist.New(x.Metric, v.Element, dist.Knowhere, v.Dim); err != nil {
			return nil, err
		}
	}
	s := &Searcher{
		index: x, library: o.Library, opts: o, kernel: k, norm: norm,
		modern: modern,
		floats: fetch{base: v.Base(), stride: uintptr(v.Stride)}, n: v.Rows,
		query: dist.Aligned(max(v.Size(), 4*x.Dim())),
		seen:  dist.NewSeen(v.Rows),
		fresh: make([]uint32, slots, slots+dist.Behind), peeked: make([]uint32, slots),
		dists: make([]float32, max(slots, scanRows)),
		list:  dist.NewRanked(),
	}
	s.rowLines = (v.Size() + 63) / 64
	s.floats.lines = min((v.Size()+63)/64, maxPrefetch)
	if k.Ahead() && v.Size() > 64*longRow {
		s.floats.long, s.floats.lines = true, maxPrefetchLong
	}
	s.q = unsafe.Pointer(unsafe.SliceData(s.query))
	return s, s.shade()
}

// Search appends to dst the K nearest rows of the index to the query, nearest first, as the
// library finds them; fewer if there are no more. The query has the elements of the
// stored vectors, little-endian.
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

// SearchFloat32 is Search with a query of float32; an error if the index has other elements.
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

// ef is the length of the list of candidates for k results.
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

// DefaultEF is the ef of a search for the k nearest that names none.
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

// hits appends what was found, as the library returns it.
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

// descend walks from the entry greedily to the nearest node of level 1 and returns it. All
// libraries read the whole list and take the first of the nearest (HierarchicalNSW::searchKnn;
// greedy_update_nearest of faiss, whose batches of four change no bit).
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

// isNaN without a conversion to float64.
func isNaN(f float32) bool { return f != f }

const maxFloat = math.MaxFloat32

func isInf(f float32) bool { return f > maxFloat || f < -maxFloat }
