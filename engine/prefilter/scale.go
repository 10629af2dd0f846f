package prefilter

import (
	"math"

	"kitescope/engine"
)

// scale is what codes mean: code u of dimension j is centre[j] + u*step[j].
type scale struct {
	centre, step []float64
	norm         float64 // of the centre
	quads        []quad  // the same of four dimensions at a time, filled up with zeros
}

// quad is the scale of four dimensions.
type quad struct{ centre, step, inverse [4]float64 }

const (
	// sampled is how many rows a scale is learnt from.
	sampled = 4096
	// reach is how many standard deviations codes reach at the most: what lies farther is cut off and counts as lost. Of normal
	// values that is one in 150,000.
	reach = 4.5
	// steps is the greatest code.
	steps = 127
	// finest is the least step, of the mean one: a dimension that is constant in the sample need not be elsewhere.
	finest = 0x1p-10
)

func (s *scale) dim() int { return len(s.centre) }

// learn finds the scale of rows: for each dimension by itself, as a few of them are often much wider than the rest.
func learn(parts []*engine.Vectors, dim int) *scale {
	s := &scale{centre: make([]float64, dim), step: make([]float64, dim), quads: make([]quad, (dim+3)/4)}
	square, low, high := make([]float64, dim), make([]float64, dim), make([]float64, dim)
	n := 0
	sample(parts, func(row []float32) {
		if _, ok := normOf(row); !ok {
			return
		}
		for j, v := range row {
			x := float64(v)
			s.centre[j] += x
			square[j] += x * x
			if n == 0 {
				low[j], high[j] = x, x
			}
			low[j], high[j] = min(low[j], x), max(high[j], x)
		}
		n++
	})
	if n == 0 {
		return s
	}
	mean := 0.0
	for j := range dim {
		m := s.centre[j] / float64(n)
		deviation := math.Sqrt(max(0, square[j]/float64(n)-m*m))
		width := min(reach*deviation, max(high[j]-m, m-low[j]))
		// Float32, so that products with codes are exact.
		s.centre[j], s.step[j] = float64(float32(m)), float64(float32(width/steps))
		s.norm += s.centre[j] * s.centre[j]
		mean += s.step[j] * s.step[j] / float64(dim)
	}
	s.norm = math.Sqrt(s.norm)
	for j := range dim {
		s.step[j] = max(s.step[j], float64(float32(finest*math.Sqrt(mean))))
		q := &s.quads[j/4]
		if q.centre[j%4], q.step[j%4] = s.centre[j], s.step[j]; s.step[j] > 0 {
			q.inverse[j%4] = 1 / s.step[j]
		}
	}
	return s
}

// sample calls f with rows spread over all parts.
func sample(parts []*engine.Vectors, f func(row []float32)) {
	rows := 0
	for _, p := range parts {
		rows += p.Rows
	}
	every := max(1, rows/sampled)
	at := 0
	for _, p := range parts {
		for ; at < p.Rows; at += every {
			f(p.Float32(at))
		}
		at -= p.Rows
	}
}

// normOf is the norm of a row, and whether it is one to be held against codes.
func normOf(row []float32) (float64, bool) {
	square := 0.0
	for _, x := range row {
		square += float64(x) * float64(x)
	}
	norm := math.Sqrt(square)
	return norm, norm < largest // false of NaN
}
