package prefilter

import (
	"math"

	"kitescope/engine"
)

// scale maps codes to values: code u of dimension j represents centre[j] + u*step[j].
type scale struct {
	centre, step []float64
	norm         float64 // norm of the centre
	quads        []quad  // the same for four dimensions at a time, padded with zeros
}

// quad is the scale of four dimensions.
type quad struct{ centre, step, inverse [4]float64 }

const (
	// sampleRows is the number of rows from which a scale is computed.
	sampleRows = 4096
	// maxDeviations is the maximum range of codes in standard deviations. Values beyond it are cut off, and the
	// difference counts as lost. In a normal distribution, one value in 150,000 is cut off.
	maxDeviations = 4.5
	// steps is the greatest code.
	steps = 127
	// minStep is the least step, relative to the root mean square of all steps, because a dimension that is
	// constant in the sample may vary elsewhere.
	minStep = 0x1p-10
)

func (s *scale) dim() int { return len(s.centre) }

// newScale computes the scale of rows, for each dimension separately, because a few dimensions are often much
// wider than the rest.
func newScale(parts []*engine.Vectors, dim int) *scale {
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
		width := min(maxDeviations*deviation, max(high[j]-m, m-low[j]))
		// Round to float32, so that products with codes are exact.
		s.centre[j], s.step[j] = float64(float32(m)), float64(float32(width/steps))
		s.norm += s.centre[j] * s.centre[j]
		mean += s.step[j] * s.step[j] / float64(dim)
	}
	s.norm = math.Sqrt(s.norm)
	for j := range dim {
		s.step[j] = max(s.step[j], float64(float32(minStep*math.Sqrt(mean))))
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
	every := max(1, rows/sampleRows)
	at := 0
	for _, p := range parts {
		for ; at < p.Rows; at += every {
			f(p.Float32(at))
		}
		at -= p.Rows
	}
}

// normOf returns the norm of a row, and reports whether the row can be compared with codes.
func normOf(row []float32) (float64, bool) {
	square := 0.0
	for _, x := range row {
		square += float64(x) * float64(x)
	}
	norm := math.Sqrt(square)
	return norm, norm < maxNorm // false for NaN
}
