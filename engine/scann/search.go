package scann

import (
	"fmt"
	"slices"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
)

// Params are those of one search.
type Params struct {
	K      int // how many hits, 1 to flat.MaxK
	NProbe int // how many lists are read, all of them at most; 0 for the index's own
	// ReorderK is of how many rows the distance to the vector is computed, K at least; 0 for K. An index of codes alone has no use for it.
	ReorderK int
	// Filter marks ids that are left out; nil for none.
	Filter *engine.Bitset
}

// Searcher answers queries over one index. It is for one goroutine; Clone makes another for the same index.
type Searcher struct {
	index     *Index
	library   engine.Library
	parts     *Parts // with the tables of the library
	quantizer *flat.Searcher
	kernel    *dist.Kernel

	table     []float32
	rounded   rounded
	probes    []engine.Hit
	best      collector
	distances []float32
	ids       []int64
	chosen    []uint32
	refined   []float32
	final     heap
	computed  int
}

// New returns a searcher; an error names what in the index or the options does not fit. The library is one of knowhere's: no other has
// such an index.
func New(x *Index, o flat.Options) (*Searcher, error) {
	if err := x.check(); err != nil {
		return nil, err
	}
	if o.Library = o.Library.Or(engine.Knowhere22); !o.Library.Knowhere() {
		return nil, fmt.Errorf("library %v has no SCANN", o.Library)
	}
	o.Centroids = true
	quantizer, err := flat.New(&flat.Index{Vectors: x.Centroids, Metric: x.sums()}, o)
	if err != nil {
		return nil, fmt.Errorf("centroids: %w", err)
	}
	kernel, err := dist.New(x.Metric, dist.Float32, o.Profile, x.Centroids.Dim)
	if err != nil {
		return nil, err
	}
	parts, err := x.Parts.as(o.Library)
	if err != nil {
		return nil, err
	}
	s := &Searcher{index: x, library: o.Library, quantizer: quantizer, kernel: kernel, parts: parts}
	s.scratch()
	return s, nil
}

// sums is the metric of tables and centroids: under cosine the query is normalised, and rows were before they were coded.
func (x *Index) sums() engine.Metric {
	if x.Metric == dist.Cosine {
		return dist.InnerProduct
	}
	return x.Metric
}

func (s *Searcher) scratch() {
	p := s.index.Parts
	s.table, s.rounded = make([]float32, values*p.count), rounded{entries: make([]uint8, 2*values*p.pairs())}
	s.probes, s.distances, s.ids, s.chosen, s.refined = nil, nil, nil, nil, nil
	similarity := s.index.Metric != dist.L2
	s.final = heap{ties: s.library >= engine.Knowhere23}
	if similarity {
		s.final.flip = -1
	}
	s.best = collector{similarity: similarity, heap: s.final}
}

// Clone returns a searcher over the same index for another goroutine.
func (s *Searcher) Clone() *Searcher {
	c := *s
	c.quantizer = s.quantizer.Clone()
	c.scratch()
	return &c
}

// Computed is how many distances the last search took: of centroids, of codes in the lists that were read but for filtered ones, and of
// vectors.
func (s *Searcher) Computed() int { return s.computed }

// probe readies a query and the lists to read for it, nearest first.
func (s *Searcher) probe(row []byte, n int) (q []byte, err error) {
	if n == 0 {
		n = s.index.NProbe
	}
	if n < 1 {
		return nil, fmt.Errorf("nprobe is %d: less than 1", n)
	}
	if q, err = flat.Query(s.kernel, s.library, row); err != nil {
		return nil, err
	}
	s.probes, err = s.quantizer.Search(q, flat.Params{K: min(n, len(s.index.Lists))}, s.probes[:0])
	s.computed = len(s.index.Lists)
	s.parts.table(s.index.sums(), dist.Floats(q), s.table)
	s.rounded.round(s.table)
	return q, err
}

// Search appends to dst the hits of one query, best first: at most K, fewer if the lists that are read have fewer rows.
func (s *Searcher) Search(query []byte, p Params, dst []engine.Hit) ([]engine.Hit, error) {
	if p.K < 1 || p.K > flat.MaxK {
		return dst, fmt.Errorf("k is %d: not one of 1 to %d", p.K, flat.MaxK)
	}
	n := p.K
	if s.index.Rows != nil && p.ReorderK != 0 {
		if n = p.ReorderK; n < p.K || n > flat.MaxK {
			return dst, fmt.Errorf("reorder_k is %d: not one of k, %d, to %d", n, p.K, flat.MaxK)
		}
	}
	lists := p.NProbe
	if s.library >= engine.Knowhere25 {
		lists = len(s.index.Lists)
	}
	q, err := s.probe(query, lists)
	if err != nil {
		return dst, err
	}
	s.best.reset(n)
	if s.library >= engine.Knowhere25 {
		s.scanUntilFull(p, n)
	} else {
		// Lists are read in the order of their numbers (search_implem_12, faiss/IndexIVFPQFastScan.cpp of knowhere v2.2.3).
		slices.SortFunc(s.probes, func(a, b engine.Hit) int { return int(a.ID - b.ID) })
		for _, list := range s.probes {
			s.scan(&s.index.Lists[list.ID], p.Filter.Words(), func(sum uint16, id int64) { s.best.add(sum, id) })
		}
	}
	s.distances, s.ids = resize(s.distances, n), resize(s.ids, n)
	one := 1 / s.rounded.scale
	s.best.hits(s.distances, s.ids, func(sum float32) float32 { return dist.FusedAdd(sum, one, s.rounded.low) })
	keys, ids := s.distances, s.ids
	if s.index.Rows != nil {
		s.refine(q)
		keys, ids = s.reorder(p.K)
	}
	for i, id := range ids {
		if id != vacant {
			dst = append(dst, engine.Hit{ID: id, Distance: keys[i]})
		}
	}
	return dst, nil
}

// scan gives to the sums of the rows of a list that left does not mark.
func (s *Searcher) scan(l *List, left []uint64, to func(sum uint16, id int64)) {
	var sums [blockRows]uint16
	size := s.index.Parts.BlockBytes()
	for first := 0; first < len(l.IDs); first += blockRows {
		s.rounded.sums(l.Blocks[first/blockRows*size:][:size], &sums)
		for j, id := range l.IDs[first:min(first+blockRows, len(l.IDs))] {
			if left == nil || !flat.Marked(left, id) {
				s.computed++
				to(sums[j], id)
			}
		}
	}
}

// refine puts the distances to the vectors in place of those by codes.
func (s *Searcher) refine(q []byte) {
	x := s.index
	s.chosen, s.refined = s.chosen[:0], resize(s.refined, len(s.ids))
	for _, id := range s.ids {
		if id != vacant {
			s.chosen = append(s.chosen, uint32(id))
		}
	}
	s.computed += len(s.chosen)
	s.kernel.Gather(unsafe.Pointer(unsafe.SliceData(q)), x.Rows.Base(), uintptr(x.Rows.Stride), s.chosen, s.refined[:len(s.chosen)])
	n := 0
	for i, id := range s.ids {
		if id == vacant {
			continue // keeps what it has
		}
		s.distances[i] = s.refined[n]
		switch {
		case x.Inverse != nil:
			s.distances[i] *= x.Inverse[id]
		case x.Metric == dist.Cosine:
			s.distances[i] /= x.Norms[id]
		}
		n++
	}
}

// reorder returns the k best of the refined, best first: the first k make a heap, each of the others replaces the worst if it is better
// (reorder_2_heaps, faiss/IndexScaNN.cpp). What no row was found for takes part with the distance that it has.
func (s *Searcher) reorder(k int) (distances []float32, ids []int64) {
	h := &s.final
	h.resize(k)
	sign := float32(1)
	if s.best.similarity {
		sign = -1
	}
	for i, id := range s.ids {
		switch key := sign * s.distances[i]; {
		case i < k:
			h.push(i+1, key, id)
		case h.keys[0] > key:
			h.sink(k, key, id)
		}
	}
	h.sort(0)
	for i := range h.keys {
		h.keys[i] *= sign
	}
	return h.keys, h.ids
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
