package index

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/code"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/hnsw"
)

// refinement is an index with a finer store of its rows, by which its hits are compared again: faiss's IndexRefine.
type refinement struct {
	base     Searchable
	metric   engine.Metric
	vectors  *engine.Vectors
	codec    code.Codec // of vectors, which are codes then; nil for vectors
	inverses []float32  // 1 divided by the lengths of the vectors, under cosine
	labels   []int64
	factor   float32 // of the file: how many times as many hits as are wanted are compared again; knowhere has refine_k in its place
	all      bool    // all rows are
}

type refinedIndex struct{ x *refinement }

func (r refinedIndex) Kind() string          { return r.x.base.Kind() }
func (r refinedIndex) Element() dist.Element { return r.x.base.Element() }
func (r refinedIndex) Effort() Effort        { return r.x.base.Effort() }
func (r refinedIndex) FiltersIDs() bool      { return r.x.base.FiltersIDs() }
func (r refinedIndex) concrete() any         { return r.x.base.concrete() }
func (r refinedIndex) Shade(int) error       { return errors.New("a refined index has codes of its own") }
func (r refinedIndex) Unshade()              {}
func (r refinedIndex) ShadePays(int) bool    { return false }
func (r refinedIndex) CodeBytes() (int, bool) {
	return 0, false
}

// Refined reports whether hits of an index are compared again by a finer store of its rows.
func Refined(s Searchable) bool {
	if u, ok := s.(unitIndex); ok {
		s = u.Searchable
	}
	switch s.(type) {
	case refinedIndex, pqrIndex:
		return true
	}
	return false
}

func (r refinedIndex) relabel(labels []int64) *FormatError {
	r.x.labels = labels
	return nil
}

// Own are the vectors of the refinement, if it keeps them as they are.
func (r refinedIndex) Own() (*engine.Vectors, int) {
	v, memory := r.x.base.Own()
	switch {
	case v == nil:
		return nil, 0
	case r.x.codec == nil:
		return r.x.vectors, memory + v.Bytes()
	}
	return v, memory + r.x.vectors.Bytes()
}

// release gives back the memory of the store that Own is not.
func (r refinedIndex) release() {
	if v, _ := r.x.base.Own(); v != nil {
		v.Release()
		r.x.vectors.Release()
	}
}

func (r refinedIndex) Vectors() iter.Seq2[*engine.Vectors, []int64] {
	return func(yield func(*engine.Vectors, []int64) bool) {
		if r.x.codec == nil {
			yield(r.x.vectors, r.x.labels)
		}
	}
}

// Codes and EachCode make refinedIndex a Coded: codes are those of the refinement.
func (r refinedIndex) Codes() bool { return r.x.codec != nil }

func (r refinedIndex) EachCode(f func(id int64, gives func(row []float32) bool)) {
	eachCode(r.x.codec, r.x.vectors, r.x.labels, f)
}

// eachCode calls f for each row of codes.
func eachCode(c code.Codec, codes *engine.Vectors, labels []int64, f func(id int64, gives func(row []float32) bool)) {
	holds := c.Gives()
	for i := range codes.Rows {
		id := int64(i)
		if labels != nil {
			id = labels[i]
		}
		f(id, func(row []float32) bool { return holds(codes.Row(i), row) })
	}
}

// Exact compares with the vectors, or with all codes of the refinement.
func (r refinedIndex) Exact(p Params) (Searchable, Params) {
	if x := r.x.rows(); x != nil {
		return FromRows(x), p
	}
	x := *r.x
	x.all = true
	x.base, p = x.base.Exact(p)
	return refinedIndex{&x}, p
}

func (r refinedIndex) Describe(d *Description) {
	r.x.base.Describe(d)
	by := "the vectors, FP32"
	if r.x.codec != nil {
		by = r.x.codec.String()
	}
	d.Text("refined by", by)
}

func (r refinedIndex) NewSearcher(o Options) (Searcher, error) {
	base, err := r.x.base.NewSearcher(o)
	if err != nil {
		return nil, err
	}
	s := &refinedSearcher{x: r.x, options: o, base: base, top: flat.NewTopK(o.Library, r.x.metric.Similarity())}
	sums := r.x.metric
	if sums == dist.Cosine {
		if sums = dist.InnerProduct; o.Library < engine.Knowhere25 {
			return nil, errors.New("a refinement under cosine is knowhere's from 2.5 on")
		}
	}
	dim := r.x.vectors.Dim
	if r.x.codec != nil {
		dim = r.x.codec.Dim()
		s.decoder, err = r.x.codec.NewDecoder(sums, o.Profile)
	} else {
		s.decoder, err = code.Vectors(sums, o.Profile, dim)
	}
	if err != nil {
		return nil, err
	}
	s.query = make([]float32, dim)
	s.norm, err = dist.New(sums, dist.Float32, o.Profile, dim)
	return s, err
}

type refinedSearcher struct {
	x       *refinement
	options Options
	base    Searcher
	decoder code.Decoder
	norm    *dist.Kernel
	top     *flat.TopK
	query   []float32
	rows    []uint32
	d       []float32
	hits    []engine.Hit
}

func (s *refinedSearcher) Clone() (Searcher, error) {
	o := s.options
	if o.Entries != nil {
		o.Entries = hnsw.NewEntryCache()
	}
	return refinedIndex{s.x}.NewSearcher(o)
}

// factor is how many times as many hits as are wanted are compared again.
func (s *refinedSearcher) factor(p Params) (float32, error) {
	factor := p.RefineK
	switch {
	case factor != 0:
	case s.options.Library.Knowhere():
		factor = 1 // its default, whatever the file has
	default:
		factor = s.x.factor
	}
	if !(factor >= 1) {
		return 0, fmt.Errorf("refine_k is %g, must be 1 or more", factor)
	}
	return factor, nil
}

// fetch is how many hits of the index are compared again, of a search for k: a product of float32, cut to a whole number (IndexRefine::search,
// faiss/IndexRefine.cpp).
func (s *refinedSearcher) fetch(k int, factor float32) int {
	n := s.x.vectors.Rows
	if product := float32(k) * factor; product < float32(n) && !s.x.all {
		n = int(product)
	}
	return max(n, k)
}

func (s *refinedSearcher) Search(q []byte, p Params, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	asked := p
	factor, err := s.factor(p)
	if err != nil {
		return dst, Cost{}, err
	}
	switch {
	case p.Radius == nil:
		p.fetch = s.fetch(p.K, factor)
	case s.options.Library.Knowhere() && s.x.base.Effort() == ByNProbe: // RangeSearch, src/index/ivf/ivf.cc, v2.6.9, whose parameters IndexRefine throws at
		return dst, Cost{}, errors.New("knowhere has no range search over lists with refinement")
	case !s.options.Library.Knowhere(): // IndexRefine::range_search of faiss 1.15 makes the radius wider, or the similarity greater
		wide := *p.Radius * factor
		p.Radius = &wide
	}
	p.RangeFilter = nil
	var cost Cost
	if s.hits, cost, err = s.base.Search(q, p, s.hits[:0]); err != nil {
		return dst, cost, err
	}
	if err := s.compare(q, p.Radius != nil); err != nil {
		return dst, cost, err
	}
	cost.Distances += len(s.hits)
	first := len(dst)
	if p.Radius != nil {
		dst = s.within(asked, dst)
	} else {
		s.top.Reset(p.K)
		for i, h := range s.hits {
			s.top.Add(s.d[i], h.ID)
		}
		dst = s.top.Hits(dst)
	}
	if labels := s.x.labels; labels != nil {
		for i := range dst[first:] {
			dst[first+i].ID = labels[dst[first+i].ID]
		}
	}
	return dst, cost, nil
}

// compare puts into s.d the distances of hits by the finer store; single where the library computes them one by one.
func (s *refinedSearcher) compare(q []byte, single bool) error {
	code.Widen(s.x.base.Element(), q, s.query)
	s.decoder.Load(s.query)
	s.rows = s.rows[:0]
	for _, h := range s.hits {
		if h.ID < 0 || h.ID >= int64(s.x.vectors.Rows) {
			return fmt.Errorf("a hit on row %d of %d that refine", h.ID, s.x.vectors.Rows)
		}
		s.rows = append(s.rows, uint32(h.ID))
	}
	if len(s.d) < len(s.rows) {
		s.d = make([]float32, len(s.rows))
	}
	s.decoder.Gather(s.x.vectors.Base(), uintptr(s.x.vectors.Stride), s.rows, s.d, 0)
	if s.x.metric == dist.Cosine {
		inverse := hnsw.InverseOf(s.norm.SquaredNorm(unsafe.Pointer(unsafe.SliceData(s.query))))
		// Of full eights four at a time (distance_compute_by_idx_if, faiss/utils/distances_if.h, knowhere v2.5.6), which rounds otherwise.
		eights := len(s.rows) &^ 7
		if single {
			eights = 0
		}
		for i, row := range s.rows {
			if of := s.x.inverses[row]; i < eights {
				s.d[i] = s.d[i] * of * inverse
			} else {
				s.d[i] *= of * inverse
			}
		}
	}
	return nil
}

// within appends the hits within a range, nearest first and equals by row. knowhere drops what the finer store has beyond the radius only where
// there is an inner edge (FilterRangeSearchResultForOneNq, src/common/range_util.cc, v2.5.6).
func (s *refinedSearcher) within(p Params, dst []engine.Hit) []engine.Hit {
	similar := s.x.metric.Similarity()
	first := len(dst)
	for i, h := range s.hits {
		d := s.d[i]
		if p.RangeFilter != nil || !s.options.Library.Knowhere() {
			if edge := *p.Radius; similar && !(d > edge) || !similar && !(d < edge) {
				continue
			}
		}
		if f := p.RangeFilter; f != nil && (similar && !(d <= *f) || !similar && !(d >= *f)) {
			continue
		}
		dst = append(dst, engine.Hit{ID: h.ID, Distance: d})
	}
	if s.x.base.Effort() == ByNProbe { // as the lists have them
		return dst
	}
	sign := float32(1)
	if similar {
		sign = -1
	}
	slices.SortFunc(dst[first:], func(a, b engine.Hit) int {
		return cmp.Or(cmp.Compare(sign*a.Distance, sign*b.Distance), cmp.Compare(a.ID, b.ID))
	})
	return dst
}
