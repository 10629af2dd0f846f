package report_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	google "github.com/google/pprof/profile"

	"kitescope/profile"
	"kitescope/profile/report"
)

// googleProfile returns a profile with features that are rare in recorded profiles: few functions that call, inline
// and recurse into each other in every way, columns, paths that need cleaning, empty stacks, and frames that
// the profile wants dropped. All functions have names, because frames of nameless functions may look the
// same, and pprof prints those in any order.
func googleProfile(r *rand.Rand) *google.Profile {
	cpu := &google.ValueType{Type: "cpu", Unit: "nanoseconds"}
	p := &google.Profile{
		SampleType: []*google.ValueType{{Type: "samples", Unit: "count"}, cpu}, PeriodType: cpu, Period: 10,
	}
	for i, file := range []string{"/bin/main", "/lib/liba.so", ""} {
		p.Mapping = append(p.Mapping, &google.Mapping{
			ID: uint64(i) + 1, Start: uint64(i) << 20, Limit: uint64(i+1) << 20, File: file,
		})
	}
	names := []string{"a", "b", "c", "d", "std::e(int)", "(anonymous namespace)::f", "g.(*T).h"}
	for i, name := range names {
		p.Function = append(p.Function, &google.Function{
			ID: uint64(i) + 1, Name: name, Filename: []string{"x.go", "./y//z.go", "/proc/self/cwd/w.c", ""}[i%4],
			StartLine: int64(r.IntN(3)),
		})
	}
	if r.IntN(3) == 0 {
		p.DropFrames, p.KeepFrames = "b|std::.*|g.*", []string{"", "b"}[r.IntN(2)]
	}
	for i := range 14 {
		l := &google.Location{ID: uint64(i) + 1, Address: uint64(r.IntN(4)), Mapping: p.Mapping[r.IntN(3)]}
		for range min(r.IntN(5), 3) {
			line := google.Line{Function: p.Function[r.IntN(len(names))], Line: int64(r.IntN(3))}
			if line.Line > 0 {
				line.Column = int64(r.IntN(2)) // with line 0, pprof would list entries that look the same
			}
			l.Line = append(l.Line, line)
		}
		p.Location = append(p.Location, l)
	}
	for range 10 + r.IntN(40) {
		s := &google.Sample{Value: []int64{int64(r.IntN(3)), int64(r.IntN(300))}}
		for range r.IntN(9) {
			s.Location = append(s.Location, p.Location[r.IntN(len(p.Location))])
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

func save(t *testing.T, p *google.Profile, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := p.Write(f); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRandomProfilesEqualPprof(t *testing.T) {
	t.Parallel()
	tool := pprofTool(t)
	hide := profile.Filter{Hide: rx("a|liba")}
	questions := []query{
		{},
		{commands: "sort=cum", options: report.Options{SortCum: true}},
		{commands: "granularity=lines", options: report.Options{By: profile.ByLine}},
		{commands: "granularity=addresses", options: report.Options{By: profile.ByAddress}},
		{commands: "granularity=files", options: report.Options{By: profile.ByFile}},
		{commands: "hide=a|liba", options: report.Options{Filter: hide}},
		{
			commands: "ignore=d\nshow=[a-d]",
			options:  report.Options{Filter: profile.Filter{Ignore: rx("d"), Show: rx("[a-d]")}},
		},
	}
	r := rand.New(rand.NewPCG(13, 14))
	for range 25 {
		file := save(t, googleProfile(r), "tangled.pb.gz")
		compare(t, decode(t, file), 1, questions, runPprof(t, tool, []string{file}, "cpu", "ns", 1, questions))
	}
}

func TestRandomDiffsEqualPprof(t *testing.T) {
	t.Parallel()
	tool := pprofTool(t)
	r := rand.New(rand.NewPCG(15, 16))
	for n := range 16 {
		theirs, base := googleProfile(r), googleProfile(r)
		if n%4 == 0 { // equal numbers of samples: normalizing may drop a sample because of its time
			base.Sample = append(base.Sample[:0:0], theirs.Sample...)
			base.Location, base.Function, base.Mapping = theirs.Location, theirs.Function, theirs.Mapping
			for _, s := range base.Sample[:len(base.Sample)/2] {
				s.Value = []int64{s.Value[0], 3 * s.Value[1]}
			}
		}
		baseFile, file := save(t, base, "base.pb.gz"), save(t, theirs, "new.pb.gz")
		args := []string{"-diff_base=" + baseFile}
		o := report.CompareOptions{Normalize: n&2 > 0}
		if o.Normalize {
			args = append(args, "-normalize")
		}
		kind := n % 2
		for i, answer := range runPprof(t, tool, append(args, file), "", []string{"count", "ns"}[kind], kind,
			diffQueries()) {
			o.Options = diffQueries()[i].options
			o.SampleIndex = strconv.Itoa(kind)
			compareDiff(t, decode(t, baseFile), decode(t, file), o, fmt.Sprint(n, args, i), answer)
		}
	}
}
