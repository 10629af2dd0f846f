package index

import (
	"errors"
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
)

// unitIndex is an index of inner products whose rows were normalised before they came to it, and whose queries are: cosine, as knowhere has it of
// IVF_RABITQ (IvfIndexNode::Train and Search, src/index/ivf/ivf.cc, v2.5.6 and v2.6.9). Its file says no more of that than the metric that is hinted.
type unitIndex struct{ Searchable }

func (u unitIndex) Exact(p Params) (Searchable, Params) {
	inner, p := u.Searchable.Exact(p)
	return unitIndex{inner}, p
}

// Codes and EachCode make unitIndex a Coded: what rows were normalised to stands for them.
func (u unitIndex) Codes() bool { return true }

func (u unitIndex) EachCode(f func(id int64, gives func(row []float32) bool)) {
	inner, ok := u.Searchable.(Coded)
	unit := func(row []float32) []float32 {
		sum := 0.0
		for _, v := range row {
			sum += float64(v) * float64(v)
		}
		if sum == 0 {
			return row
		}
		y := make([]float32, len(row))
		for i, v := range row {
			y[i] = float32(float64(v) / math.Sqrt(sum))
		}
		return y
	}
	if ok && inner.Codes() {
		inner.EachCode(func(id int64, gives func(row []float32) bool) {
			f(id, func(row []float32) bool { return gives(unit(row)) })
		})
		return
	}
	eachRow(u.Searchable, func(id int64, row []byte) {
		f(id, func(x []float32) bool { return alike(unit(x), row) })
	})
}

func (u unitIndex) NewSearcher(o Options) (Searcher, error) {
	if o.Library < engine.Knowhere25 {
		return nil, errors.New("cosine over rows that were normalised and rotated is knowhere's from 2.5 on")
	}
	s, err := u.Searchable.NewSearcher(o)
	return unitSearcher{s}, err
}

type unitSearcher struct{ Searcher }

func (s unitSearcher) Clone() (Searcher, error) {
	c, err := s.Searcher.Clone()
	return unitSearcher{c}, err
}

func (s unitSearcher) Search(q []byte, p Params, dst []engine.Hit) ([]engine.Hit, Cost, error) {
	x := float32s(q)
	flat.Normalise(x, dist.KnowhereNorm2(x))
	return s.Searcher.Search(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x)), p, dst)
}
