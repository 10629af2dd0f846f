package bench

import (
	"regexp"
	"slices"
)

// Filter chooses metrics by their names as they are shown. The zero Filter wants all.
type Filter struct{ Only, Skip []*regexp.Regexp }

func (f *Filter) wants(m Metric) bool {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(m.String()) }
	return (len(f.Only) == 0 || slices.ContainsFunc(f.Only, matches)) && !slices.ContainsFunc(f.Skip, matches)
}

// Apply leaves the values that are wanted, in place: what is not asked for takes no part in the correction. nil has none.
func (f *Filter) Apply(s *Set) {
	if s == nil || len(f.Only)+len(f.Skip) == 0 {
		return
	}
	for i := range s.Runs {
		var kept []Value
		for _, v := range s.Runs[i].Values {
			if f.wants(v.Metric) {
				kept = append(kept, v)
			}
		}
		s.Runs[i].Values = kept
	}
}

// MetricNames are the metrics of some sets as they are shown, each once, in their order.
func MetricNames(sets ...*Set) (names []string) {
	seen := map[Metric]bool{}
	for _, s := range sets {
		for _, r := range s.Runs {
			for _, v := range r.Values {
				if !seen[v.Metric] {
					seen[v.Metric] = true
					names = append(names, v.String())
				}
			}
		}
	}
	return names
}

// Compared reports whether a metric has values on both sides: nothing compared is no success.
func (c *Comparison) Compared() bool {
	return slices.ContainsFunc(c.Lines, func(l Line) bool { return len(l.A) > 0 && len(l.B) > 0 })
}

// Worse reports whether a metric got worse.
func (c *Comparison) Worse() bool {
	return slices.ContainsFunc(c.Lines, func(l Line) bool { return l.Verdict == Worse })
}

// Changed reports whether a metric got worse or better, or changed where nobody knows which it is.
func (c *Comparison) Changed() bool {
	return slices.ContainsFunc(c.Lines, func(l Line) bool { return l.Verdict.IsChange() })
}
