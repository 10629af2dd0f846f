package bench

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"kitescope/internal/words"
)

// Mismatch is an error of two sets that cannot be compared as they were asked to be.
type Mismatch struct{ What, Advice string } //nolint:errname // what it is, and not that it is an error

func (m *Mismatch) Error() string { return m.What }

// Hint implements hints.Hinter.
func (m *Mismatch) Hint() string { return m.Advice }

// Compare says what changed from a to b, metric by metric.
//
// Where values are positive, changes are ratios: the logarithms of After/Before are what is tested and
// estimated. Where some are 0 or negative they are differences, which are shown as a share of the median before.
// Paired runs are judged by the signed-rank test of Wilcoxon, others by that of Mann and Whitney, and all p values are corrected
// together as in Holm. A test that cannot come out with so few runs, whatever they show, does not count there.
func Compare(a, b *Set, o Options) (*Comparison, error) {
	o = o.withDefaults()
	if !(o.Level > 0 && o.Level < 1) {
		return nil, &Mismatch{fmt.Sprintf("compare at level %v: it is not between 0 and 1", o.Level), "0.05 calls noise a change in 1 of 20 comparisons"}
	}
	c := &Comparison{A: a, B: b, Level: o.Level, Effect: o.Effect}
	left, right := newSide(a), newSide(b)
	c.Failed = [2]int{left.failed, right.failed}
	sameUnits(c, left, right)
	rows, err := pair(c, left, right, o.Pairing)
	if err != nil {
		return nil, err
	}
	c.noteSides(left, right)
	for _, m := range metricsOf(left, right) {
		c.Lines = append(c.Lines, newLine(m, left, right, rows, o.Better))
	}
	c.noteDirections(left, right, o.Better)
	c.judge()
	if o.Control[0] != nil && o.Control[1] != nil {
		if err := c.compareControl(o); err != nil {
			return nil, fmt.Errorf("compare the control: %w", err)
		}
	}
	return c, nil
}

func (o Options) withDefaults() Options {
	const level, effect = 0.05, 0.01
	o.Level = cmp.Or(o.Level, level)
	switch {
	case o.Effect == 0 || math.IsNaN(o.Effect):
		o.Effect = effect
	case o.Effect < 0:
		o.Effect = 0
	}
	return o
}

// metricsOf are the metrics of both sides, in the order of the files.
func metricsOf(left, right *side) []Metric {
	all := slices.Clone(left.metrics)
	for _, m := range right.metrics {
		if !left.has(m) {
			all = append(all, m)
		}
	}
	return all
}

// newLine gathers what one metric's values are.
func newLine(m Metric, left, right *side, rows [][2]int, better map[string]Direction) Line {
	l := Line{Metric: m, Better: directionOf(m, left, right, better), Step: max(left.steps[m], right.steps[m])}
	nan := math.NaN()
	l.Before, l.After, l.Ratio, l.Low, l.High, l.P, l.Corrected, l.Visible = nan, nan, nan, nan, nan, nan, nan, nan
	switch {
	case !right.has(m):
		l.Verdict, l.Remark, rows = OneSide, "only before", nil
	case !left.has(m):
		l.Verdict, l.Remark, rows = OneSide, "only after", nil
	}
	if rows == nil {
		l.A, l.B = left.all(m), right.all(m)
		return l
	}
	for _, r := range rows {
		x, inA := left.runs[r[0]].values[m]
		y, inB := right.runs[r[1]].values[m]
		if inA && inB {
			l.A, l.B = append(l.A, x), append(l.B, y)
		}
	}
	return l
}

// directionOf is what the user says, or else what the files say where they agree.
func directionOf(m Metric, left, right *side, better map[string]Direction) Direction {
	if d, ok := Said(better, m); ok {
		return d
	}
	x, y := left.better[m], right.better[m]
	switch {
	case x == y || y == Unknown:
		return x
	case x == Unknown:
		return y
	}
	return Unknown
}

func (c *Comparison) noteDirections(left, right *side, better map[string]Direction) {
	var names []string
	for _, m := range left.metrics {
		x, y := left.better[m], right.better[m]
		if _, said := Said(better, m); !said && x != y && x != Unknown && y != Unknown {
			names = append(names, m.String())
		}
	}
	if len(names) > 0 {
		c.note("%s: the two sides disagree on which direction is better; changes are shown without better or worse", words.FirstOf(names, 3, "; "))
	}
	for _, name := range slices.Sorted(maps.Keys(better)) {
		if !slices.ContainsFunc(c.Lines, func(l Line) bool { return slices.Contains(l.names(), name) }) {
			c.note("a direction was given for %q, but no metric has that name", name)
		}
	}
}

func (c *Comparison) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}
