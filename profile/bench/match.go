package bench

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// MatchNames renames benchmarks to the part of their name that matches re, or to the first group of re if it
// has one. Results can then be compared even if their names differ by an index, a label or a setting. Names
// without a match are kept. It returns a *Mismatch if two benchmarks of a set would get the same name, because
// only the user can choose between them. s may be nil.
func (s *Set) MatchNames(re *regexp.Regexp) error {
	if s == nil {
		return nil
	}
	from := map[Metric][]string{} // old names by renamed metric
	for i := range s.Runs {
		for _, v := range s.Runs[i].Values {
			m := v.Metric
			m.Benchmark = matched(re, m.Benchmark)
			if !slices.Contains(from[m], v.Benchmark) {
				from[m] = append(from[m], v.Benchmark)
			}
			if len(from[m]) > 1 {
				return &Mismatch{
					fmt.Sprintf("%s: %s are all called %q", s.Name, quoted(from[m]), m.Benchmark),
					"choose one of each side with --only, or match more of the names",
				}
			}
		}
	}
	for i := range s.Runs {
		values := slices.Clone(s.Runs[i].Values)
		for k := range values {
			values[k].Benchmark = matched(re, values[k].Benchmark)
		}
		s.Runs[i].Values = values
	}
	return nil
}

func matched(re *regexp.Regexp, name string) string {
	groups := re.FindStringSubmatch(name)
	switch {
	case groups == nil:
		return name
	case len(groups) > 1:
		return groups[1]
	}
	return groups[0]
}

func quoted(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(list, " and ")
}
