package load

import (
	"math"

	"kitescope/profile/significance"
)

// Level is the probability of reporting noise as a change, for one figure over all points of a comparison.
const Level = 0.05

// Verdict is the result of the comparison of a figure.
type Verdict string

// The verdicts.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	// Same means that no difference was shown. A difference may exist that is too small for the number of rounds.
	Same Verdict = "no difference"
	// TooFew means that even the largest difference could not be significant with these rounds and this number of
	// points.
	TooFew Verdict = "too few rounds"
	// Unknown means that a side lacks the figure, or that there is no test for it.
	Unknown Verdict = "unknown"
)

// Change compares the points of a load.
type Change struct {
	Load Load
	// Base and Other are the points; nil if a side has no point of this load.
	Base, Other *Point
	Figures     []Figure // empty if a point is missing
}

// Load identifies the load of a point across runs.
type Load struct {
	Sessions      int
	Rate          float64
	Timed         bool
	Speed         float64
	EF, NProbe, K int
}

// Load returns the load of a point.
func (p *Point) Load() Load {
	return Load{p.Sessions, p.Rate, p.Timed, p.Speed, p.EF, p.NProbe, p.K}
}

// Figure compares one figure of two points.
type Figure struct {
	Name string // "qps", "p50", "p99", "recall", "cpu_per_query"
	// Base and Other are in queries per second, in seconds, or a share from 0 to 1; NaN is unknown.
	Base, Other float64
	// Relative is the change relative to Base: -0.1 is a decrease by a tenth. NaN is unknown.
	Relative float64
	// Low and High are the 95% confidence interval of the shift between rounds, relative to Base. They are NaN if
	// there are too few rounds or there is no test.
	Low, High float64
	// P is the p-value of the shift between rounds, corrected for the number of tested points (Holm); NaN if there
	// was no test.
	P       float64
	Verdict Verdict

	minP float64 // smallest possible P, of rounds that do not overlap, not corrected
}

// figure defines how a figure is compared.
type figure struct {
	name           string
	higherIsBetter bool // higherIsBetter is better
	point          func(p *Point) float64
	rounds         func(p *Point, r *Round) float64 // nil if a point has only one value
}

var figures = [...]figure{
	{"qps", true, func(p *Point) float64 { return p.QPS }, func(_ *Point, r *Round) float64 { return r.QPS }},
	{
		"p50", false, func(p *Point) float64 { return answered(&p.Latency, p.Latency.P50.Seconds()) },
		func(_ *Point, r *Round) float64 { return answered(&r.Latency, r.Latency.P50.Seconds()) },
	},
	{
		"p99", false, func(p *Point) float64 { return answered(&p.Latency, p.Latency.P99.Seconds()) },
		func(_ *Point, r *Round) float64 { return answered(&r.Latency, r.Latency.P99.Seconds()) },
	},
	{"recall", true, recall, nil},
	{
		"cpu_per_query", false, func(p *Point) float64 { return positive(p.CPUPerQuery.Seconds()) },
		func(_ *Point, r *Round) float64 { return positive(r.CPU.Seconds() / float64(r.Queries)) },
	},
}

func answered(l *Latency, value float64) float64 {
	if l.Count == 0 {
		return math.NaN()
	}
	return value
}

// positive returns value, or NaN if it is not a positive finite number. A value of 0 represents an unknown one.
func positive(value float64) float64 {
	if !(value > 0) || math.IsInf(value, 0) {
		return math.NaN()
	}
	return value
}

func recall(p *Point) float64 {
	if p.Recall < 0 {
		return math.NaN()
	}
	return p.Recall
}

// Compare compares the points of two runs at the same load. The result has the order of base, followed by points
// that only other has. If a run has several points with the same load, only the first is used. Rounds are compared
// by rank-sum tests, because they are few and their distribution is unknown. Recall, which has one value, differs
// if the confidence intervals over its queries do not overlap.
func Compare(base, other []Point) []Change {
	var all []Change
	at := map[Load]int{}
	for i := range base {
		l := base[i].Load()
		if _, ok := at[l]; !ok {
			at[l] = len(all)
			all = append(all, Change{Load: l, Base: &base[i]})
		}
	}
	for i := range other {
		l := other[i].Load()
		j, ok := at[l]
		if !ok {
			j = len(all)
			at[l] = j
			all = append(all, Change{Load: l})
		}
		if all[j].Other == nil {
			all[j].Other = &other[i]
		}
	}
	for i := range all {
		if c := &all[i]; c.Base != nil && c.Other != nil {
			for j := range figures {
				c.Figures = append(c.Figures, figures[j].compare(c.Base, c.Other))
			}
		}
	}
	adjustPValues(all)
	return all
}

// compare compares one figure. adjustPValues revises the verdicts of tested figures, because they depend on the number
// of tests.
func (f *figure) compare(base, other *Point) Figure {
	none := math.NaN()
	out := Figure{
		Name: f.name, Base: f.point(base), Other: f.point(other), Relative: none, Low: none, High: none, P: none,
		Verdict: Unknown,
	}
	if math.IsNaN(out.Base) || math.IsNaN(out.Other) {
		return out
	}
	if out.Base != 0 {
		out.Relative = out.Other/out.Base - 1
	}
	if f.rounds == nil {
		out.Verdict = recallVerdict(base, other)
		return out
	}
	before, after := f.values(base), f.values(other)
	if len(before) == 0 || len(after) == 0 {
		return out
	}
	if out.minP = significance.RankSumLeastP(len(before), len(after)); out.minP > Level {
		out.Verdict = TooFew
		return out
	}
	shift := significance.RankSum(before, after)
	out.P = shift.P
	if middle := significance.Median(before); middle > 0 {
		out.Low, out.High = shift.Low/middle, shift.High/middle
	}
	out.Verdict = Worse
	if shift.Estimate > 0 == f.higherIsBetter {
		out.Verdict = Better
	}
	return out
}

// values returns the values of complete rounds.
func (f *figure) values(p *Point) (values []float64) {
	for i := range p.Repeats {
		r := &p.Repeats[i]
		if v := f.rounds(p, r); !r.Cut && !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// recallVerdict requires intervals that do not overlap, which is stricter than a test of the difference.
func recallVerdict(base, other *Point) Verdict {
	known := base.RecallHigh > 0 && other.RecallHigh > 0
	switch {
	case base.Recall == other.Recall:
		return Same
	case !known:
		return Unknown
	case other.RecallLow > base.RecallHigh:
		return Better
	case other.RecallHigh < base.RecallLow:
		return Worse
	}
	return Same
}

// adjustPValues corrects p-values for the number of tested points, and revokes the verdicts that are not significant.
func adjustPValues(all []Change) {
	for i := range figures {
		var tested []*Figure
		var ps []float64
		for j := range all {
			if len(all[j].Figures) == 0 {
				continue
			}
			if f := &all[j].Figures[i]; !math.IsNaN(f.P) {
				tested, ps = append(tested, f), append(ps, f.P)
			}
		}
		for k, p := range significance.Holm(ps) {
			f := tested[k]
			f.P = p
			switch {
			case p <= Level:
			case f.minP*float64(len(tested)) > Level:
				f.Verdict = TooFew
			default:
				f.Verdict = Same
			}
		}
	}
}
