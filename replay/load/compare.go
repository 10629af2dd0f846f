package load

import (
	"math"

	"kitescope/profile/significance"
)

// Level is the chance of calling noise a change: of one figure, over all points of a comparison.
const Level = 0.05

// Verdict is what a comparison says of a figure.
type Verdict string

// The verdicts.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	// Same is that no difference was shown: there may be one that is smaller than the rounds can show.
	Same Verdict = "no difference"
	// TooFew is that so few rounds, for so many points, cannot show any difference, were it as great as can be.
	TooFew Verdict = "too few rounds"
	// Unknown is that a side does not know the figure, or that it has no test.
	Unknown Verdict = "unknown"
)

// Change is what became of one load.
type Change struct {
	Load Load
	// Base and Other are the points; nil if there is none of this load.
	Base, Other *Point
	Figures     []Figure // none if a point is missing
}

// Load is what a point is told from others by, and found in another run.
type Load struct {
	Sessions      int
	Rate          float64
	Timed         bool
	Speed         float64
	EF, NProbe, K int
}

// Load is the point's.
func (p *Point) Load() Load {
	return Load{p.Sessions, p.Rate, p.Timed, p.Speed, p.EF, p.NProbe, p.K}
}

// Figure is one figure of both.
type Figure struct {
	Name string // "qps", "p50", "p99", "recall", "cpu_per_query"
	// Base and Other are queries per second, seconds, or a share from 0 to 1; NaN unknown.
	Base, Other float64
	// Relative is by how much of Base it changed: -0.1 is a tenth less. NaN unknown.
	Relative float64
	// Low and High are the 95% interval of the shift of rounds, relative too; NaN if there are too few, or there is no test.
	Low, High float64
	// P is the chance of such a shift of rounds where nothing changed, corrected for how many points were tested (Holm); NaN
	// if there was no test.
	P       float64
	Verdict Verdict

	least float64 // P of rounds that do not overlap, not corrected
}

// figure is how one is compared.
type figure struct {
	name   string
	more   bool // more is better
	whole  func(p *Point) float64
	rounds func(p *Point, r *Round) float64 // nil: one value a point
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

// positive is a value that is 0 where nobody knows it.
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

// Compare holds the points of another run against those of a base run with the same load; the order is that of base, then what
// only other has. Of points with the same load in one run the first counts. Rounds are tested by rank sums, for they are few
// and scatter as they like; recall, which has one value, differs if the intervals over its queries lie apart.
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
	judge(all)
	return all
}

// compare leaves the verdict of what was tested to judge, as it depends on how many are.
func (f *figure) compare(base, other *Point) Figure {
	none := math.NaN()
	out := Figure{Name: f.name, Base: f.whole(base), Other: f.whole(other), Relative: none, Low: none, High: none, P: none, Verdict: Unknown}
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
	if out.least = significance.RankSumLeastP(len(before), len(after)); out.least > Level {
		out.Verdict = TooFew
		return out
	}
	shift := significance.RankSum(before, after)
	out.P = shift.P
	if middle := significance.Median(before); middle > 0 {
		out.Low, out.High = shift.Low/middle, shift.High/middle
	}
	out.Verdict = Worse
	if shift.By > 0 == f.more {
		out.Verdict = Better
	}
	return out
}

// values are those of whole rounds.
func (f *figure) values(p *Point) (values []float64) {
	for i := range p.Repeats {
		r := &p.Repeats[i]
		if v := f.rounds(p, r); !r.Cut && !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// recallVerdict asks for intervals that lie apart, which is stricter than a test of their difference.
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

// judge takes back what is no change once it is known how many points were tested.
func judge(all []Change) {
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
			case f.least*float64(len(tested)) > Level:
				f.Verdict = TooFew
			default:
				f.Verdict = Same
			}
		}
	}
}
