package flat

import (
	"math"

	"kitescope/engine"
)

// Within collects all hits inside a radius, in the order in which they come.
type Within struct {
	Hits       []engine.Hit
	Radius     float32
	Similarity bool
}

// in reports whether a distance is inside (RangeSearchResultHandler, faiss/impl/ResultHandler.h).
func (w *Within) in(d float32) bool {
	if w.Similarity {
		return d > w.Radius
	}
	return d < w.Radius
}

// Bound drops from the hits from at on those beyond a range filter, on the other side of the
// distance than the radius, and returns them all (distance_in_range of knowhere's
// src/common/range_util.h). +Inf drops none.
func (w *Within) Bound(at int, filter float32) []engine.Hit {
	if math.IsInf(float64(filter), 1) {
		return w.Hits
	}
	kept := w.Hits[:at]
	for _, h := range w.Hits[at:] {
		if (w.Similarity && h.Distance <= filter) || (!w.Similarity && h.Distance >= filter) {
			kept = append(kept, h)
		}
	}
	w.Hits = kept
	return kept
}

// addRun offers the distances of the consecutive rows from first on, but for those that left
// marks.
func (w *Within) addRun(d []float32, first int, left []uint64) {
	for i, v := range d {
		row := first + i
		if w.in(v) && (left == nil || left[row>>6]>>(row&63)&1 == 0) {
			w.Hits = append(w.Hits, engine.Hit{ID: int64(row), Distance: v})
		}
	}
}

// addChosen offers the distances of the rows first+chosen[i].
func (w *Within) addChosen(d []float32, first int, chosen []uint32) {
	for i, v := range d {
		if w.in(v) {
			w.Hits = append(w.Hits, engine.Hit{ID: int64(first) + int64(chosen[i]), Distance: v})
		}
	}
}

// AddList offers the distances of entries of an inverted list, but for those that left marks
// by their ids.
func (w *Within) AddList(d []float32, ids []int64, left []uint64) {
	for i, v := range d {
		if w.in(v) && !Marked(left, ids[i]) {
			w.Hits = append(w.Hits, engine.Hit{ID: ids[i], Distance: v})
		}
	}
}

// Marked reports whether an id is marked in the words of a filter; one beyond them is not.
func Marked(left []uint64, id int64) bool {
	w := uint64(id) >> 6
	return w < uint64(len(left)) && left[w]>>(id&63)&1 != 0
}
