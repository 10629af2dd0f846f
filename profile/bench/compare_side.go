package bench

import (
	"maps"
	"math"
	"slices"

	"kitescope/internal/words"
	"kitescope/profile/significance"
)

// side is a Set as it is compared: runs that went well, each with one value of a metric.
type side struct {
	name    string
	runs    []measured
	metrics []Metric
	// better has a direction for each of metrics.
	better map[Metric]Direction
	// steps are what metrics were rounded to.
	steps  map[Metric]float64
	failed int
	// odd counts values that are no numbers, or beyond largest; twice are metrics that a run has more than once.
	odd   int
	twice []string
}

// measured is one run. Runs that failed stay in their place, without values.
type measured struct {
	pair   string
	ok     bool
	values map[Metric]float64
}

// largest is beyond what anything measures, and small enough to be squared.
const largest = 1e100

func newSide(s *Set) *side {
	d := &side{better: map[Metric]Direction{}, steps: map[Metric]float64{}}
	if s == nil {
		return d
	}
	d.name = s.Name
	for i := range s.Runs {
		d.add(&s.Runs[i])
	}
	return d
}

func (d *side) add(r *Run) {
	m := measured{pair: r.Pair, ok: r.Failed == "", values: map[Metric]float64{}}
	if !m.ok {
		d.failed++
		d.runs = append(d.runs, m)
		return
	}
	several := map[Metric][]float64{}
	for _, v := range r.Values {
		if !(math.Abs(v.X) <= largest) {
			d.odd++
			continue
		}
		have, known := d.better[v.Metric]
		if !known {
			d.metrics = append(d.metrics, v.Metric)
		}
		if v.Step > d.steps[v.Metric] {
			d.steps[v.Metric] = v.Step
		}
		if have == Unknown {
			d.better[v.Metric] = v.Better
		}
		if _, again := m.values[v.Metric]; again {
			if several[v.Metric] == nil {
				several[v.Metric] = []float64{m.values[v.Metric]}
			}
			several[v.Metric] = append(several[v.Metric], v.X)
			continue
		}
		m.values[v.Metric] = v.X
	}
	for metric, list := range several {
		m.values[metric] = significance.Median(list)
		if !slices.Contains(d.twice, metric.String()) {
			d.twice = append(d.twice, metric.String())
		}
	}
	d.runs = append(d.runs, m)
}

// all are the values of a metric, in the order of the runs.
func (d *side) all(m Metric) []float64 {
	var list []float64
	for _, r := range d.runs {
		if x, ok := r.values[m]; ok {
			list = append(list, x)
		}
	}
	return list
}

func (d *side) has(m Metric) bool {
	_, ok := d.better[m]
	return ok
}

// noteSides tells what is odd about the runs.
func (c *Comparison) noteSides(left, right *side) {
	for i, d := range []*side{left, right} {
		where := [2]string{"before", "after"}[i]
		if len(d.metrics) == 0 {
			c.note("%s: there are no values", where)
		}
		if d.odd > 0 {
			c.note("%s: %s not a number or far too large, and left out", where, words.Count(d.odd, "value is", "values are"))
		}
		if len(d.twice) > 0 {
			slices.Sort(d.twice)
			c.note("%s: a run has several values of %s, which are not independent: using their median", where, words.FirstOf(d.twice, 3, "; "))
		}
	}
	if sameResults(left, right) {
		c.note("both sides are the same results")
	}
}

// sameResults reports whether both sides have the same values in each run, as a file has that was named twice.
func sameResults(left, right *side) bool {
	return len(left.metrics) > 0 && slices.EqualFunc(left.runs, right.runs, func(x, y measured) bool { return maps.Equal(x.values, y.values) })
}

// varies reports whether any metric has different values, so that it is not by chance that others have the same.
func (d *side) varies() bool {
	return slices.ContainsFunc(d.metrics, func(m Metric) bool {
		values := d.all(m)
		return slices.Min(values) != slices.Max(values)
	})
}
