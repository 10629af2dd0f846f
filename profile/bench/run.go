package bench

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"kitescope/internal/words"
	"kitescope/profile/significance"
)

// Mismatch is the error for two sets that cannot be compared with the given options.
type Mismatch struct{ What, Advice string } //nolint:errname // it is a mismatch

func (m *Mismatch) Error() string { return m.What }

// Hint implements hints.Hinter.
func (m *Mismatch) Hint() string { return m.Advice }

// Compare returns the changes from a to b by metric.
//
// If all values are positive, changes are ratios: the logarithms of After/Before are tested and estimated. If some are
// 0 or negative, changes are differences, shown as a share of the median before. Paired runs are tested with the
// Wilcoxon signed-rank test, others with the Mann-Whitney test. All p-values are corrected together by Holm's method.
// Tests that cannot become significant with so few runs, whatever their values, do not count in the correction.
func Compare(a, b *Set, o Options) (*Comparison, error) {
	o = o.withDefaults()
	if !(o.Level > 0 && o.Level < 1) {
		return nil, &Mismatch{
			fmt.Sprintf("compare at level %v: it is not between 0 and 1", o.Level),
			"0.05 calls noise a change in 1 of 20 comparisons",
		}
	}
	c := &Comparison{A: a, B: b, Level: o.Level, Effect: o.Effect}
	left, right := newSide(a), newSide(b)
	c.Failed = [2]int{left.failed, right.failed}
	rows, err := pair(c, left, right, o.Pairing)
	if err != nil {
		return nil, err
	}
	c.noteSides(left, right)
	c.noteSettings(left, right)
	for _, m := range append(slices.Clone(left.metrics), right.metrics...) {
		if !slices.ContainsFunc(c.Lines, func(l Line) bool { return l.Metric == m }) {
			c.Lines = append(c.Lines, newLine(m, left, right, rows, o.Better))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Better)) {
		if !slices.ContainsFunc(c.Lines, func(l Line) bool { return slices.Contains(l.names(), name) }) {
			c.note("a direction was given for %q, but no metric has that name", name)
		}
	}
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

func (c *Comparison) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// newLine collects the values of a metric.
func newLine(m Metric, left, right *side, rows [][2]int, better map[string]Direction) Line {
	l := Line{Metric: m, Better: directionOf(m, left, right, better)}
	nan := math.NaN()
	l.Before, l.After, l.Ratio, l.Low, l.High, l.P, l.Corrected = nan, nan, nan, nan, nan, nan, nan
	switch {
	case !right.has(m):
		l.Verdict, l.Remark, rows = OneSide, "only before", nil
	case !left.has(m):
		l.Verdict, l.Remark, rows = OneSide, "only after", nil
	}
	if x, y := left.loads[m], right.loads[m]; l.Verdict != OneSide && !maps.Equal(x, y) {
		l.Verdict, l.Remark = NotJudged,
			fmt.Sprintf("measured under different loads: %s before, %s after", loadText(x), loadText(y))
	}
	if rows == nil {
		l.A, l.B = left.valuesOf(m), right.valuesOf(m)
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

// loadText lists the loads of a side.
func loadText(loads map[string]bool) string {
	list := slices.Sorted(maps.Keys(loads))
	if i := slices.Index(list, ""); i >= 0 {
		list[i] = "none set"
	}
	return strings.Join(list, " and ")
}

// directionOf returns the direction set by the user, otherwise the direction in the files if they agree.
func directionOf(m Metric, left, right *side, better map[string]Direction) Direction {
	if d, ok := DirectionFor(better, m); ok {
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

// pair returns pairs of run indexes, left and right, or nil if runs are not paired.
func pair(c *Comparison, left, right *side, how Pairing) ([][2]int, error) {
	var rows [][2]int
	switch how {
	case ByName:
		if rows = pairByName(c, left, right); len(rows) == 0 {
			return nil, nil
		}
	case ByOrder:
		if len(left.runs) != len(right.runs) {
			return nil, &Mismatch{
				fmt.Sprintf("pair runs in their order: there are %d before and %d after", len(left.runs),
					len(right.runs)),
				"leave out what has no partner, or compare them unpaired",
			}
		}
		for i := range left.runs {
			rows = append(rows, [2]int{i, i})
		}
	default:
		return nil, nil
	}
	c.Paired = true
	rows = slices.DeleteFunc(rows, func(r [2]int) bool { return !left.runs[r[0]].ok || !right.runs[r[1]].ok })
	for i, d := range []*side{left, right} {
		c.Unmatched[i] = len(d.runs) - d.failed - len(rows)
	}
	if n := c.Unmatched[0] + c.Unmatched[1]; n > 0 {
		c.note("%s without a partner on the other side: left out", words.Count(n, "run", "runs"))
	}
	if rows == nil {
		rows = [][2]int{} // no runs on either side; nil would mean unpaired
	}
	return rows, nil
}

// pairByName pairs runs with the same Pair, in the order of the first side. It does not pair names that occur
// several times on a side, because only the order could distinguish such runs.
func pairByName(c *Comparison, left, right *side) [][2]int {
	named := func(d *side) map[string][]int {
		runs := map[string][]int{}
		for i, r := range d.runs {
			runs[r.pair] = append(runs[r.pair], i)
		}
		delete(runs, "")
		return runs
	}
	before, after := named(left), named(right)
	var rows [][2]int
	for _, pair := range slices.Sorted(maps.Keys(before)) {
		x, y := before[pair], after[pair]
		switch {
		case len(x) == 1 && len(y) == 1:
			rows = append(rows, [2]int{x[0], y[0]})
		case len(y) > 0:
			c.note("pair %s is the name of %d runs before and %d after: not paired", pair, len(x), len(y))
		}
	}
	slices.SortFunc(rows, func(a, b [2]int) int { return a[0] - b[0] })
	return rows
}

// side is a Set prepared for comparison: each run has one value per metric.
type side struct {
	runs    []measuredRun
	metrics []Metric
	// better is the direction of each metric, and loads are the loads of its values.
	better map[Metric]Direction
	loads  map[Metric]map[string]bool
	setups map[Metric]*Setup
	failed int
	// outOfRange counts values that are not finite or exceed largest.
	outOfRange int
	// repeated lists metrics that a run has more than once.
	repeated []string
}

// measuredRun is one run. Failed runs keep their position, without values.
type measuredRun struct {
	pair   string
	ok     bool
	values map[Metric]float64
}

// maxValue is more than any measured value, and small enough to be squared.
const maxValue = 1e100

func newSide(s *Set) *side {
	d := &side{better: map[Metric]Direction{}, loads: map[Metric]map[string]bool{}, setups: map[Metric]*Setup{}}
	if s == nil {
		return d
	}
	for i := range s.Runs {
		d.add(&s.Runs[i])
	}
	return d
}

func (d *side) add(r *Run) {
	m := measuredRun{pair: r.Pair, ok: r.Failed == "", values: map[Metric]float64{}}
	if !m.ok {
		d.failed++
		d.runs = append(d.runs, m)
		return
	}
	all := map[Metric][]float64{}
	for _, v := range r.Values {
		if !(math.Abs(v.X) <= maxValue) {
			d.outOfRange++
			continue
		}
		have, known := d.better[v.Metric]
		if !known {
			d.metrics = append(d.metrics, v.Metric)
			d.loads[v.Metric], d.setups[v.Metric] = map[string]bool{}, v.Setup
		}
		d.loads[v.Metric][v.Load] = true
		if have == Unknown {
			d.better[v.Metric] = v.Better
		}
		all[v.Metric] = append(all[v.Metric], v.X)
	}
	for metric, list := range all {
		m.values[metric] = significance.Median(list)
		if len(list) > 1 && !slices.Contains(d.repeated, metric.String()) {
			d.repeated = append(d.repeated, metric.String())
		}
	}
	d.runs = append(d.runs, m)
}

// valuesOf returns the values of a metric, in the order of the runs.
func (d *side) valuesOf(m Metric) []float64 {
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

// noteSides adds notes about oddities of the runs.
func (c *Comparison) noteSides(left, right *side) {
	for i, d := range []*side{left, right} {
		where := [2]string{"before", "after"}[i]
		if len(d.metrics) == 0 {
			c.note("%s: no values", where)
		}
		if d.outOfRange > 0 {
			c.note("%s: %s not a number or far too large, and left out", where,
				words.Count(d.outOfRange, "value is", "values are"))
		}
		if len(d.repeated) > 0 {
			slices.Sort(d.repeated)
			c.note("%s: a run has several values of %s, which are not independent: using their median", where,
				words.FirstOf(d.repeated, 3, "; "))
		}
	}
	if sameResults(left, right) {
		c.note("both sides are the same results")
	}
}

// sameResults reports whether both sides have the same values in each run, e.g. because a file was named twice.
func sameResults(left, right *side) bool {
	return len(left.metrics) > 0 &&
		slices.EqualFunc(left.runs, right.runs, func(x, y measuredRun) bool { return maps.Equal(x.values, y.values) })
}
