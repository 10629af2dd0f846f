package draw

import (
	"math"
	"testing"
)

func TestIntervalOf(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, x := range []struct {
		name string
		list []float64
		ok   bool
	}{
		{"numbers", []float64{3, 1, 2}, true},
		{"one", []float64{5}, true},
		{"zeros", []float64{0, 0}, true},
		{"with what is none", []float64{nan, 1, inf}, true},
		{"the largest", []float64{-math.MaxFloat64, math.MaxFloat64}, true},
		{"the smallest", []float64{5e-324, 1e-323}, true},
		{"none", nil, false},
		{"nothing that is a number", []float64{nan, -inf}, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			s, ok := IntervalOf(x.list)
			if ok != x.ok {
				t.Fatalf("ok is %v", ok)
			}
			for _, v := range x.list {
				if at := s.At(v, 50); x.ok && Drawable(v) != (at >= 0 && at < 50) {
					t.Errorf("%g is at %d in %+v", v, at, s)
				}
			}
			if x.ok && !(s.From < s.To) {
				t.Errorf("the interval is empty: %+v", s)
			}
		})
	}
}
