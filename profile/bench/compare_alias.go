package bench

import (
	"math"
	"slices"

	"kitescope/internal/words"
	"kitescope/profile/significance"
)

// One figure under several names is one test: ab prints requests per second, the time that they took, its mean per request and
// the bytes per second, of which each follows from any other. Corrected as if they were independent they would cost the
// other metrics what they do not add.

// aliases finds the tests whose values are, in each run, those of an earlier test times a constant, or a constant
// divided by them; of[i] is the earlier test, or i itself. Values that do not differ tell nothing.
func aliases(tests []*tested) (of []int) {
	of = make([]int, len(tests))
	for i, t := range tests {
		of[i] = i
		if t.constant || !t.logs {
			continue
		}
		for k := range i {
			if of[k] == k && t.follows(tests[k]) {
				of[i] = k
				break
			}
		}
	}
	return of
}

// follows reports whether two tests are of one figure. The noise of a measurement is what tells: two figures that differ never have
// the same in every run, but for what their files round. Three values are the least that can differ in it.
func (t *tested) follows(o *tested) bool {
	if !o.logs || o.constant || len(t.A) != len(o.A) || len(t.B) != len(o.B) || len(t.A)+len(t.B) < 4 {
		return false
	}
	return t.isConstant(o, 1) || t.isConstant(o, -1)
}

// isConstant reports whether log t - sign * log o is the same in all runs, but for rounding, while they themselves differ by
// much more than that.
func (t *tested) isConstant(o *tested, sign float64) bool {
	var rest, own []float64
	room := 0.0
	for side, values := range [][]float64{t.A, t.B} {
		other, middle := [][]float64{o.A, o.B}[side], math.Log(significance.Median(values))
		for i, x := range values {
			rest = append(rest, math.Log(x)-sign*math.Log(other[i]))
			own = append(own, math.Log(x)-middle) // by sides: what changed may have changed two figures alike
			room = max(room, t.Step/x+o.Step/other[i])
		}
	}
	const (
		digits = 5e-4 // what programs print of a figure, where they do not say: four digits of either
		times  = 20   // how many times more the values have to differ than what rounding leaves
	)
	room = max(room, digits)
	return spread(rest) <= room && spreadOfMost(own) >= times*max(spread(rest), digits/times)
}

// spread is from the least to the greatest.
func spread(values []float64) float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, x := range values {
		least, most = min(least, x), max(most, x)
	}
	return most - least
}

// spreadOfMost is the spread without the one value that is the farthest off: a single run that went wrong may move
// two figures alike that have nothing else in common.
func spreadOfMost(values []float64) float64 {
	middle, far := significance.Median(values), 0
	for i, x := range values {
		if math.Abs(x-middle) > math.Abs(values[far]-middle) {
			far = i
		}
	}
	kept := append([]float64{}, values[:far]...)
	return spread(append(kept, values[far+1:]...))
}

// noteAliases says which metrics are one.
func (c *Comparison) noteAliases(tests []*tested, of []int) {
	names := map[int][]string{}
	for i, k := range of {
		if i != k {
			names[k] = append(names[k], tests[i].Metric.String())
		}
	}
	for k, t := range tests {
		if list := names[k]; len(list) > 0 {
			c.note("one figure under %d names, corrected once: %s", len(list)+1, words.FirstOf(slices.Concat([]string{t.Metric.String()}, list), 3, "; "))
		}
	}
}
