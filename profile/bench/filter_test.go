package bench

import (
	"regexp"
	"slices"
	"testing"
)

// TestFilter checks that metrics are selected by their display names.
func TestFilter(t *testing.T) {
	set := func() *Set {
		values := []Value{
			{Metric: Metric{Benchmark: "Decode", Name: "time"}},
			{Metric: Metric{Benchmark: "Decode", Name: "allocs"}},
			{Metric: Metric{Benchmark: "Encode", Name: "time"}},
		}
		return &Set{Runs: []Run{{Values: slices.Clone(values)}, {Values: slices.Clone(values)}}}
	}
	all := MetricNames(set())
	for _, test := range []struct {
		only, skip string
		want       []int
	}{
		{"", "", []int{0, 1, 2}},
		{"Decode", "", []int{0, 1}},
		{"", "allocs", []int{0, 2}},
		{"Decode", "allocs", []int{0}},
		{"nothing", "", nil},
	} {
		var f Filter
		if test.only != "" {
			f.Only = []*regexp.Regexp{regexp.MustCompile(test.only)}
		}
		if test.skip != "" {
			f.Skip = []*regexp.Regexp{regexp.MustCompile(test.skip)}
		}
		s := set()
		f.Apply(s)
		var want []string
		for _, i := range test.want {
			want = append(want, all[i])
		}
		if got := MetricNames(s); !slices.Equal(got, want) || len(s.Runs) != 2 {
			t.Errorf("only %q, skip %q: %q, want %q", test.only, test.skip, got, want)
		}
		f.Apply(nil)
	}
}

// TestOutcome checks the results of a comparison as a whole.
func TestOutcome(t *testing.T) {
	values := []float64{1}
	for _, test := range []struct {
		name                     string
		lines                    []Line
		compared, worse, changed bool
	}{
		{name: "nothing"},
		{
			name: "other names",
			lines: []Line{
				{Metric: Metric{Benchmark: "a", Name: "time"}, A: values},
				{Metric: Metric{Benchmark: "b", Name: "time"}, B: values},
			},
		},
		{name: "better", lines: []Line{{A: values, B: values, Verdict: Better}}, compared: true, changed: true},
		{
			name: "worse", lines: []Line{{A: values, B: values, Verdict: Worse}}, compared: true, worse: true,
			changed: true,
		},
		{name: "the same", lines: []Line{{A: values, B: values}}, compared: true},
	} {
		c := &Comparison{Lines: test.lines}
		if c.Compared() != test.compared || c.Worse() != test.worse || c.Changed() != test.changed {
			t.Errorf("%s: compared %t, worse %t, changed %t", test.name, c.Compared(), c.Worse(), c.Changed())
		}
	}
}
