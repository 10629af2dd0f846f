package report_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
	"kitescope/profile/profiletest"
	"kitescope/profile/report"
)

func TestComparisonEqualsPprof(t *testing.T) {
	t.Parallel()
	tool := pprofTool(t)
	pairs := []struct {
		base, new string
		kinds     int
	}{
		{"milvus-cpu-flat.pb.gz", "milvus-cpu-hnsw.pb.gz", 2},
		{"milvus-cpu-hnswcos-nq1-20s.pb.gz", "milvus-cpu-hnswcos-nq1.pb.gz", 1},
		{"milvus-cpu-flat.pb.gz", "milvus-cpu-flat.pb.gz", 1},
		{"milvus-cpu-idle.pb.gz", "milvus-cpu-flat.pb.gz", 1},
		{"milvus-heap.pb.gz", "milvus-allocs.pb.gz", 2},
		{"t3/querynode1.cpu.pb.gz", "t5/querynode1.cpu.pb.gz", 2},
		{"t5/querynode1.cpu.pb.gz", "t5/querynode2.cpu.pb.gz", 1},
	}
	for _, pair := range pairs {
		t.Run(pair.base+" "+pair.new, func(t *testing.T) {
			t.Parallel()
			base, p := decode(t, filepath.Join(fixtures, pair.base)), decode(t, filepath.Join(fixtures, pair.new))
			for _, o := range []report.CompareOptions{{}, {Normalize: true}} {
				for kind := len(p.Types) - pair.kinds; kind < len(p.Types); kind++ {
					args := []string{"-diff_base=" + filepath.Join(fixtures, pair.base)}
					if o.Normalize {
						args = append(args, "-normalize")
					}
					args = append(args, filepath.Join(fixtures, pair.new))
					q := diffQueries()
					if kind < len(p.Types)-1 {
						q = q[:1]
					}
					answers := runPprof(t, tool, args, "", unitOf(p.Types[kind].Unit), kind, q)
					for i := range q {
						o.Options = q[i].options
						o.SampleIndex = strconv.Itoa(kind)
						compareDiff(t, base, p, o, fmt.Sprint(args, " ", q[i].name()), answers[i])
					}
				}
			}
		})
	}
}

func diffQueries() []query {
	return []query{
		{},
		{commands: "sort=cum\ngranularity=lines", options: report.Options{By: profile.ByLine, SortCum: true}},
		{
			commands: "focus=runtime\nignore=mallocgc",
			options:  report.Options{Filter: profile.Filter{Focus: rx("runtime"), Ignore: rx("mallocgc")}},
		},
	}
}

func compareDiff(t *testing.T, base, p *profile.Profile, o report.CompareOptions, what, answer string) {
	t.Helper()
	c, err := report.NewComparison(base, p, o)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	entries := make([]report.Entry, len(c.Changes))
	for i, change := range c.Changes {
		entries[i] = change.Entry
		if change.Flat != change.FlatAfter-change.FlatBefore || change.Cum != change.CumAfter-change.CumBefore {
			t.Errorf("%s: %+v does not add up", what, change)
		}
	}
	want := parseTop(t, answer)
	if got := linesOf(&report.Header{Total: c.Total}, entries); !slices.Equal(want, got) {
		t.Errorf("%s: pprof says -, we say +\n%.3000s", what, cmp.Diff(want, got))
	}
	difference, err := profiletest.Subtract(p, base, o.Normalize)
	if err != nil {
		t.Fatal(err)
	}
	top, err := report.NewTop(difference, o.Options)
	if err != nil {
		t.Fatal(err)
	}
	if got := linesOf(&top.Header, top.Entries); !slices.Equal(want, got) {
		t.Errorf("%s: of Align and Merge pprof says -, we say +\n%.3000s", what, cmp.Diff(want, got))
	}
}
