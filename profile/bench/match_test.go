package bench

import (
	"regexp"
	"strings"
	"testing"
)

func vdbSide(of ...string) *Set {
	s := &Set{Name: "results of " + of[0], Runs: []Run{{}}}
	for i, name := range of {
		s.Runs[0].Values = append(s.Runs[0].Values, Value{
			Metric: Metric{Benchmark: name, Name: "QPS", Unit: "1/s"}, Better: HigherIsBetter, X: float64(100 + i),
		})
	}
	return s
}

// TestMatchNames checks that benchmarks are matched if only their index or label differs.
func TestMatchNames(t *testing.T) {
	a, b := vdbSide("case 5 db=Milvus M=16", "case 11 db=Milvus M=16"),
		vdbSide("case 5 db=PgVector m=16", "case 11 db=PgVector m=16")
	if c, err := Compare(a, b, Options{}); err != nil || len(c.Lines) != 4 {
		t.Fatalf("%d lines, %v", len(c.Lines), err)
	}
	re := regexp.MustCompile(`case \d+`)
	for _, s := range []*Set{a, b, nil} {
		if err := s.MatchNames(re); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Compare(a, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Lines) != 2 || c.Lines[0].Benchmark != "case 5" || c.Lines[0].Verdict == OneSide {
		t.Errorf("lines: %+v", c.Lines)
	}
	if s := vdbSide("x"); s.MatchNames(regexp.MustCompile(`(b)|c`)) != nil || s.Runs[0].Values[0].Benchmark != "x" {
		t.Errorf("what does not match lost its name: %+v", s.Runs[0].Values)
	}
}

// TestMatchNamesTwice checks that two settings of one side are not merged.
func TestMatchNamesTwice(t *testing.T) {
	s := vdbSide("case 5 ef=64", "case 5 ef=128")
	err := s.MatchNames(regexp.MustCompile(`case \d+`))
	if err == nil || !strings.Contains(err.Error(), `"case 5 ef=64" and "case 5 ef=128" are all called "case 5"`) {
		t.Errorf("error: %v", err)
	}
	if s.Runs[0].Values[1].Benchmark != "case 5 ef=128" {
		t.Error("names were changed by a match that was refused")
	}
}
