package index

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// Mapped is an index of vectors that are multiplied by matrices, one after the other, before they are indexed and searched
// (IndexPreTransform, faiss/IndexPreTransform.cpp).
type Mapped struct {
	Maps  []Map
	Inner Searchable
}

// Map is a matrix.
type Map struct {
	Name         string    // what becomes of vectors
	In, Out      int       // dimensions
	Matrix, Bias []float32 // Out rows of In elements; Out elements, or nil for none
}

// FromMapped is such an index as an index.
func FromMapped(x *Mapped) Searchable { return mappedIndex{x} }

type mappedIndex struct{ x *Mapped }

func (m mappedIndex) Kind() string                { return m.x.Inner.Kind() }
func (m mappedIndex) Element() dist.Element       { return dist.Float32 }
func (m mappedIndex) Effort() Effort              { return m.x.Inner.Effort() }
func (m mappedIndex) FiltersIDs() bool            { return m.x.Inner.FiltersIDs() }
func (m mappedIndex) Own() (*engine.Vectors, int) { return m.x.Inner.Own() }
func (m mappedIndex) concrete() any               { return m.x }

func (m mappedIndex) Shade(threads int) error        { return m.x.Inner.Shade(threads) }
func (m mappedIndex) Unshade()                       { m.x.Inner.Unshade() }
func (m mappedIndex) ShadePays(searches int) bool    { return m.x.Inner.ShadePays(searches) }
func (m mappedIndex) CodeBytes() (int, bool)         { return m.x.Inner.CodeBytes() }
func (m mappedIndex) relabel(l []int64) *FormatError { return m.x.Inner.relabel(l) }

// Vectors are none: those of the index were mapped.
func (m mappedIndex) Vectors() iter.Seq2[*engine.Vectors, []int64] {
	return func(func(*engine.Vectors, []int64) bool) {}
}

// Codes and EachCode make mappedIndex a Coded: what became of vectors stands for them.
func (m mappedIndex) Codes() bool { return true }

// mapSlack is by how much of its length an element of a vector may differ that was mapped with many others: sums are rounded otherwise.
const mapSlack = 1e-5

func (m mappedIndex) EachCode(f func(id int64, gives func(row []float32) bool)) {
	inner, ok := m.x.Inner.(Coded)
	to, err := m.x.mapper(dist.ByVector)
	if err != nil { // a matrix of another size: no row is the one that it was
		to = nil
	}
	var asked, mapped []float32
	became := func(row []float32) []float32 {
		if to == nil {
			return nil
		}
		if !slices.Equal(asked, row) || asked == nil { // rows are asked one after the other of the same
			asked = append(asked[:0], row...)
			mapped = append(mapped[:0], to.apply(row)...)
		}
		return mapped
	}
	if ok && inner.Codes() {
		inner.EachCode(func(id int64, gives func(row []float32) bool) {
			f(id, func(row []float32) bool {
				y := became(row)
				return y != nil && gives(y)
			})
		})
		return
	}
	eachRow(m.x.Inner, func(id int64, row []byte) {
		f(id, func(x []float32) bool { return alike(became(x), row) })
	})
}

// eachRow calls f for each row of an index of vectors, with its id.
func eachRow(s Searchable, f func(id int64, row []byte)) {
	for v, ids := range s.Vectors() {
		for i := range v.Rows {
			id := int64(i)
			if ids != nil {
				id = ids[i]
			}
			f(id, v.Row(i))
		}
	}
}

// alike reports whether y is what lies in row, but for roundings.
func alike(y []float32, row []byte) bool {
	if 4*len(y) != len(row) {
		return false
	}
	length := 0.0
	for _, v := range y {
		length += float64(v) * float64(v)
	}
	for i, v := range float32s(row) {
		if d := math.Abs(float64(v) - float64(y[i])); d > mapSlack*math.Sqrt(length) {
			return false
		}
	}
	return true
}

// Exact looks at all of the index that is within.
func (m mappedIndex) Exact(p Params) (Searchable, Params) {
	x := *m.x
	x.Inner, p = x.Inner.Exact(p)
	return FromMapped(&x), p
}

func (m mappedIndex) NewSearcher(o Options) (Searcher, error) {
	to, err := m.x.mapper(product(o.Library))
	if err != nil {
		return nil, err
	}
	inner, err := m.x.Inner.NewSearcher(o)
	if err != nil {
		return nil, err
	}
	return &mappedSearcher{to: to, inner: inner}, nil
}

// product is in whose order a library multiplies one query.
func product(l engine.Library) dist.Product {
	switch {
	case !l.Knowhere():
		return dist.ByVector
	case l == engine.Knowhere26:
		return dist.ByLanes
	default:
		return dist.ByBlocks
	}
}

// mappedSearcher maps queries before it asks the index within.
type mappedSearcher struct {
	to    *mapper
	inner Searcher
}

func (s *mappedSearcher) Clone() (Searcher, error) {
	inner, err := s.inner.Clone()
	c := *s
	c.inner, c.to = inner, s.to.clone()
	return &c, err
}

func (s *mappedSearcher) Search(q []byte, p Params, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	if want := 4 * s.to.in(); want > 0 && len(q) != want {
		return dst, Cost{}, fmt.Errorf("a query of %d bytes for vectors of %d", len(q), want)
	}
	if s.to.in() > 0 {
		y := s.to.apply(float32s(q))
		q = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(y))), 4*len(y))
	}
	return s.inner.Search(q, p, dst)
}

// mapper applies maps, for one goroutine.
type mapper struct {
	maps    []*dist.Linear
	scratch []*dist.LinearScratch
	y       [][]float32
}

func (x *Mapped) mapper(p dist.Product) (*mapper, error) {
	to := &mapper{}
	for _, m := range x.Maps {
		l, err := dist.NewLinear(p, m.In, m.Out, m.Matrix, m.Bias)
		if err != nil {
			return nil, err
		}
		to.maps = append(to.maps, l)
	}
	return to.clone(), nil
}

func (m *mapper) clone() *mapper {
	c := &mapper{maps: m.maps}
	for _, l := range m.maps {
		c.scratch, c.y = append(c.scratch, l.NewScratch()), append(c.y, make([]float32, l.Out()))
	}
	return c
}

// in is the dimension of what is mapped; 0 if nothing is.
func (m *mapper) in() int {
	if len(m.maps) == 0 {
		return 0
	}
	return m.maps[0].In()
}

// apply returns what x is mapped to, until the next.
func (m *mapper) apply(x []float32) []float32 {
	for i, l := range m.maps {
		l.Apply(m.scratch[i], x, m.y[i])
		x = m.y[i]
	}
	return x
}

func (m mappedIndex) Describe(d *Description) {
	for _, y := range m.x.Maps {
		d.Text("vectors are", fmt.Sprintf("%s, %d to %d dimensions", y.Name, y.In, y.Out))
	}
	m.x.Inner.Describe(d)
}
