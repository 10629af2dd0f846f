package flat

import (
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

const (
	// fewNearest is how many rows are near enough to be computed once more, at the most.
	fewNearest = 8
	// nearestBatch is how many rows knowhere looks at together (exhaustive_L2sqr_nearest_imp, faiss/utils/distances.cpp, v2.5.6).
	nearestBatch = 256
	// nearestMost is up to where no sum overflows in one order and not in another.
	nearestMost = 1e37
)

// assign takes the function for the one nearest centroid, if the library has one of its own: under L2 knowhere has, from 2.5.3 on, where there
// is no filter. Rows that are no centroids always have one in Milvus, if only of no rows.
func (s *Searcher) assign() {
	x, o := &s.index, s.options
	if o.Centroids && x.Metric == dist.L2 && o.Library >= engine.Knowhere25 && o.Profile == dist.Knowhere25 && x.Vectors.Element == dist.Float32 {
		s.nearest = dist.NewNearest(x.Vectors.Dim)
	}
}

// one appends the row that is nearest to q. Its distances are slow, so that only those rows are computed by it that may be: in another order
// the sums of these squares differ by a share of themselves.
func (s *Searcher) one(q query, dst []engine.Hit) []engine.Hit {
	v, at := s.index.Vectors, len(dst)
	s.top.reset(fewNearest)
	s.scan(q, nil, s.top)
	dst = s.top.Hits(dst)
	hits := dst[at:]
	if len(hits) == 0 || hits[0].Distance > nearestMost {
		return append(dst[:at], s.oneOfAll(q))
	}
	dim := float64(v.Dim)
	bound := float64(hits[0].Distance)*(1+6*(dim+2)*0x1p-24) + dim*0x1p-144
	if len(hits) == fewNearest && float64(hits[fewNearest-1].Distance) <= bound {
		return append(dst[:at], s.oneOfAll(q))
	}
	best := engine.Hit{Distance: float32(math.Inf(1))}
	for _, h := range hits {
		if float64(h.Distance) > bound {
			break
		}
		h.Distance = s.nearestTo(q, int(h.ID))
		if h.Distance < best.Distance || h.Distance == best.Distance && h.ID < best.ID {
			best = h
		}
	}
	return append(dst[:at], best)
}

// oneOfAll is one by the library's own way: of rows that are all infinitely far or not comparable it is the first.
func (s *Searcher) oneOfAll(q query) engine.Hit {
	best, rows := engine.Hit{Distance: float32(math.Inf(1))}, s.index.Vectors.Rows
	for first := 0; first < rows; first += nearestBatch {
		own := engine.Hit{ID: int64(first), Distance: s.nearestTo(q, first)}
		least := neutral
		for row := first; row < min(first+nearestBatch, rows); row++ {
			if d := s.nearestTo(q, row); d < least {
				least, own = d, engine.Hit{ID: int64(row), Distance: d}
			}
		}
		if own.Distance < best.Distance {
			best = own
		}
	}
	return best
}

func (s *Searcher) nearestTo(q query, row int) float32 {
	v := s.index.Vectors
	return s.nearest.Distance(q.at(), unsafe.Pointer(unsafe.SliceData(v.Row(row))), row, v.Rows)
}
