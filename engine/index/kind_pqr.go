package index

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/code"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/ivf"
)

// pqr is an inverted file of rows in parts, of which the parts of what these leave are kept, too: faiss's IndexIVFPQR. Hits of the first are compared
// again by both. Ids are the numbers of rows.
type pqr struct {
	*ivf.Index
	parts  *ivf.PQ // its codec
	finer  *code.PQ
	codes  *engine.Vectors // of finer, by row
	factor float32         // how many times as many hits as are wanted are compared again
	all    bool            // all rows of the lists that are read are
}

type pqrIndex struct {
	listIndex
	own *pqr
}

func fromPQR(x *pqr) Searchable { return pqrIndex{listIndex{x.Index}, x} }

func (s pqrIndex) relabel(labels []int64) *FormatError {
	if labels == nil {
		return nil
	}
	return &FormatError{Expected: "IVF_PQ with refinement on its own", Found: "one with ids of its own"}
}

func (s pqrIndex) Describe(d *Description) {
	s.listIndex.Describe(d)
	d.Text("refined by", s.own.finer.String()+" of what the codes leave")
}

// EachCode is of both codes of a row.
func (s pqrIndex) EachCode(f func(id int64, gives func(row []float32) bool)) {
	x := s.own
	holds, gives := x.Holds(), x.finer.Gives()
	left := newLeft(x)
	for i, list := range x.Lists {
		for j, id := range list.IDs {
			f(id, func(row []float32) bool { return holds(i, j, row) && gives(x.codes.Row(int(id)), left.of(i, j, row)) })
		}
	}
}

// Exact compares all rows by both codes.
func (s pqrIndex) Exact(p Params) (Searchable, Params) {
	x := *s.own
	x.all, p.NProbe = true, len(x.Lists)
	return fromPQR(&x), p
}

func (s pqrIndex) NewSearcher(o Options) (Searcher, error) {
	x := s.own
	if o.Library.Knowhere() {
		return nil, fmt.Errorf("library %v has no IVF_PQ with refinement by parts: faiss has", o.Library)
	}
	options := ivf.Options{Library: o.Library, Profile: o.Profile, Plain: o.Plain}
	within, err := ivf.New(x.Index, options)
	if err != nil {
		return nil, err
	}
	pairs, err := ivf.New(x.byPlace(), options)
	if err != nil {
		return nil, err
	}
	kernel, err := dist.New(dist.L2, dist.Float32, o.Profile, x.finer.Dim())
	if err != nil {
		return nil, err
	}
	return &pqrSearcher{x: x, options: o, within: within, pairs: pairs, kernel: kernel, top: flat.NewTopK(o.Library, false), left: newLeft(x)}, nil
}

// byPlace is the same with the places of rows in the lists for ids: faiss orders equal distances by these (store_pairs, faiss/IndexIVFPQR.cpp).
func (x *pqr) byPlace() *ivf.Index {
	own := *x.Index
	own.Lists = make([]ivf.List, len(x.Lists))
	for i, l := range x.Lists {
		own.Lists[i] = l
		own.Lists[i].IDs = make([]int64, len(l.IDs))
		for j := range l.IDs {
			own.Lists[i].IDs[j] = int64(i)<<32 | int64(j)
		}
	}
	return &own
}

// left is what codes leave of vectors, for one goroutine.
type left struct {
	x               *pqr
	residual, fine  []byte // float32, aligned
	centroid, parts []byte
}

func newLeft(x *pqr) *left {
	size := 4 * x.finer.Dim()
	return &left{x, dist.Aligned(size), dist.Aligned(size), dist.Aligned(size), make([]byte, max(x.parts.Parts(), x.finer.Parts()))}
}

// of is what row j of list i leaves of v, without the centroid of the list.
func (l *left) of(i, j int, v []float32) []float32 {
	copy(l.centroid, l.x.Centroids.Row(i)) // which may lie anywhere
	left, centroid := dist.Floats(l.residual), dist.Floats(l.centroid)
	l.decode(l.x.parts.PQ, l.x.Lists[i].Vectors.Row(j), dist.Floats(l.fine))
	for d, own := range dist.Floats(l.fine) {
		residual := v[d] - centroid[d]
		left[d] = residual - own
	}
	return left
}

// decode writes to out the vector that a code stands for.
func (l *left) decode(c *code.PQ, code []byte, out []float32) {
	parts := l.parts[:c.Parts()]
	c.Unpack(code, parts)
	for p, v := range parts {
		copy(out[p*len(out)/len(parts):], c.Kernels().Centroid(p, v))
	}
}

type pqrSearcher struct {
	x       *pqr
	options Options
	within  *ivf.Searcher // of ranges, which are not refined
	pairs   *ivf.Searcher
	kernel  *dist.Kernel
	top     *flat.TopK
	left    *left
	query   []float32
	hits    []engine.Hit
}

func (s *pqrSearcher) Clone() (Searcher, error) { return fromPQR(s.x).NewSearcher(s.options) }

// Search compares again as many hits as the factor says (IndexIVFPQR::search_preassigned).
func (s *pqrSearcher) Search(q []byte, p Params, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	if p.Radius != nil {
		return listSearcher{s.within}.Search(q, p, dst)
	}
	if p.Filter != nil {
		return dst, Cost{}, errors.New("faiss has no filter of searches over IVF_PQ with refinement by parts, but of those within a radius")
	}
	factor := s.x.factor
	if p.RefineK != 0 {
		factor = p.RefineK
	}
	if !(factor >= 1) {
		return dst, Cost{}, fmt.Errorf("refine_k is %g, must be 1 or more", factor)
	}
	if s.query == nil {
		s.query = make([]float32, s.x.finer.Dim())
	}
	if len(q) != 4*len(s.query) {
		return dst, Cost{}, fmt.Errorf("a query of %d bytes for vectors of %d", len(q), 4*len(s.query))
	}
	code.Widen(dist.Float32, q, s.query)
	k := p.wide()
	if most := max(flat.MaxK, s.x.codes.Rows); k < 1 || k > most {
		return dst, Cost{}, fmt.Errorf("k is %d: not one of 1 to %d", k, most)
	}
	s.hits = s.hits[:0]
	cost := Cost{}
	if s.x.all {
		for i, l := range s.x.Lists {
			for j := range l.IDs {
				s.hits = append(s.hits, engine.Hit{ID: int64(i)<<32 | int64(j)})
			}
		}
	} else {
		fetch := max(1, s.x.codes.Rows)
		if product := float32(k) * factor; product < float32(fetch) {
			fetch = int(product)
		}
		var err error
		if s.hits, err = s.pairs.Search(q, ivf.Params{K: fetch, NProbe: p.NProbe}, s.hits); err != nil {
			return dst, cost, err
		}
		cost.Distances = s.pairs.Computed()
	}
	s.top.Reset(k)
	for _, h := range s.hits {
		i, j := int(h.ID>>32), int(h.ID&math.MaxUint32)
		id := s.x.Lists[i].IDs[j]
		s.top.Add(s.distance(i, j, id), id)
	}
	cost.Distances += len(s.hits)
	return s.top.Hits(dst), cost, nil
}

// distance is that of the query to the row id, which is row j of list i.
func (s *pqrSearcher) distance(i, j int, id int64) float32 {
	left := s.left.of(i, j, s.query)
	fine := s.left.fine
	s.left.decode(s.x.finer, s.x.codes.Row(int(id)), dist.Floats(fine))
	return s.kernel.One(unsafe.Pointer(unsafe.SliceData(fine)), unsafe.Pointer(unsafe.SliceData(left)))
}
