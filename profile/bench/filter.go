package bench

import (
	"regexp"
	"slices"
)

// Filter selects metrics by their display names. The zero Filter selects all.
type Filter struct{ Only, Skip []*regexp.Regexp }

func (f *Filter) matches(m Metric) bool {
	matches := func(re *regexp.Regexp) bool { return re.MatchString(m.String()) }
	return (len(f.Only) == 0 || slices.ContainsFunc(f.Only, matches)) && !slices.ContainsFunc(f.Skip, matches)
}

// Apply removes values of metrics that are not selected from s, in place. They then do not count in the
// correction of p-values. s may be nil.
func (f *Filter) Apply(s *Set) {
	if s == nil || len(f.Only)+len(f.Skip) == 0 {
		return
	}
	for i := range s.Runs {
		var kept []Value
		for _, v := range s.Runs[i].Values {
			if f.matches(v.Metric) {
				kept = append(kept, v)
			}
		}
		s.Runs[i].Values = kept
	}
}

// MetricNames returns the distinct display names of the metrics of sets, in their order.
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

// Compared reports whether any metric has values on both sides. Otherwise the comparison failed.
func (c *Comparison) Compared() bool {
	return slices.ContainsFunc(c.Lines, func(l Line) bool { return len(l.A) > 0 && len(l.B) > 0 })
}

// Worse reports whether any metric got worse.
func (c *Comparison) Worse() bool {
	return slices.ContainsFunc(c.Lines, func(l Line) bool { return l.Verdict == Worse })
}

// Changed reports whether any metric got better or worse, or changed with an unknown direction.
func (c *Comparison) Changed() bool {
	return slices.ContainsFunc(c.Lines, func(l Line) bool { return l.Verdict.IsChange() })
}
