package trial

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile/bench"
	"kitescope/profile/bench/read"
	"kitescope/profile/pgo"
)

// program is a module with a hot path and few dependencies, because every dependency is recompiled with a
// profile.
const program = `package main

import "os"

func mix(a, b int) int {
	a ^= b << 3
	a += b * 7
	if a&1 == 0 {
		a ^= a >> 5
	} else {
		a += 13
	}
	for i := 0; i < 2; i++ {
		a = a*33 + i
		b ^= a
	}
	if b&2 == 0 {
		a -= b
	} else {
		a ^= b
	}
	a ^= a << 7
	a ^= a >> 11
	a += b
	b = a * 3
	a ^= b
	if a%3 == 0 {
		a++
	}
	return a + b
}

//go:noinline
func work(n int) (t int) {
	for i := 0; i < n; i++ {
		t = mix(t, i)
	}
	return t
}

func main() {
	if work(200000) == 42 {
		println("luck")
	}
	for _, word := range os.Args[min(2, len(os.Args)):] {
		if word == os.Args[1] { // the number of the run
			println("run", word, "has had it")
			os.Exit(3)
		}
	}
	os.Stdout.WriteString("BenchmarkWork 1 5 ns/op\n")
}
`

func plan(t *testing.T) Plan {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds and runs programs")
	}
	dir, file := module(t, map[string]string{"main.go": program})
	return Plan{
		Dir: dir, Load: "{bin} {run}", Profiles: []string{file}, Pairs: 6, Control: 3, Warmup: 1, Seed: 7, Force: true,
		Folder: filepath.Join(t.TempDir(), "trial"),
	}
}

// tree returns the contents of all files in a folder, by path.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTrialOfAProgram(t *testing.T) {
	p := plan(t)
	before := tree(t, p.Dir)
	r, err := Run(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, tree(t, p.Dir)); d != "" {
		t.Error("the module was changed:", d)
	}
	if r.Plain.PGO != "" || r.Packed.PGO != filepath.Join(p.Folder, "default.pgo") ||
		r.Plain.SHA256 == r.Packed.SHA256 {
		t.Errorf("programs: %+v, %+v", r.Plain, r.Packed)
	}
	if len(filepath.Dir(r.Plain.File)) != len(filepath.Dir(r.Packed.File)) {
		t.Errorf("paths of different lengths: %s, %s", r.Plain.File, r.Packed.File)
	}
	if len(r.Runs) != 18 {
		t.Errorf("%d runs", len(r.Runs))
	}
	for i, slot := range p.order(p.Seed) {
		if run := r.Runs[i]; run.Number != slot.number || run.Side != slot.side || run.Pair != slot.pair ||
			run.Control != slot.control {
			t.Errorf("run %d is %+v, want %+v", i, run, slot)
		}
	}
	metrics := map[string]bool{}
	for _, l := range r.Comparison.Lines {
		metrics[l.Metric.String()] = true
		if l.Name != MetricRSS && (len(l.A) != 6 || len(l.B) != 6) { // such short processes may have no known peak
			t.Errorf("%s has %d and %d values", l.Metric.String(), len(l.A), len(l.B))
		}
	}
	if !metrics[MetricCPU] || !metrics[MetricWall] || !metrics["BenchmarkWork: time/op"] {
		t.Errorf("metrics: %v", metrics)
	}
	if !r.Comparison.Paired || r.Comparison.Control == nil || len(r.Comparison.Control.Lines) == 0 {
		t.Error("there are no pairs, or no control")
	}
	if d := cmp.Diff([]string{MetricCPU, MetricWall}, r.Primary); d != "" {
		t.Error("what decides:", d)
	}
	sets, err := read.Open(t.Context(), []string{filepath.Join(p.Folder, "runs.jsonl")}, read.Options{})
	if err != nil || len(sets) != 2 || len(sets[0].Runs) != 6 {
		t.Errorf("runs.jsonl: %d sets, %v", len(sets), err)
	}
	if r.Effect() != pgo.Used || len(r.Sessions) != 1 || r.Sessions[0].Ended.IsZero() {
		t.Errorf("%v, %+v", r.Effect(), r.Sessions)
	}
}

// TestTrialProfilesTheLoad checks that a trial takes its profiles from the load.
func TestTrialProfilesTheLoad(t *testing.T) {
	p := plan(t)
	p.Profiles, p.Pairs, p.Control, p.Warmup = nil, 2, 0, 0
	p.ProfileLoad = "cp " + filepath.Join(mustAbs(t, "testdata"), "hot.pb.gz") + " {profile}"
	r, err := Run(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rounds) != 1 || r.Rounds[0].Events != 3000 || r.Judgement == nil || r.Packed.PGO == "" {
		t.Errorf("%+v, %+v", r.Rounds, r.Packed)
	}
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

func TestFailuresAreCounted(t *testing.T) {
	p := plan(t)
	p.Load, p.Control = "{bin} {run} 7", 0
	var remarks []Event
	r, err := Run(t.Context(), p, func(e Event) {
		if e.Remark != "" {
			remarks = append(remarks, e)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(remarks) != 1 || !strings.Contains(remarks[0].Remark, "run 7 of 12") ||
		!strings.Contains(remarks[0].Output, "run 7 has had it") {
		t.Errorf("remarks: %+v", remarks)
	}
	if got := r.Failed("a") + r.Failed("b"); got != 1 || len(r.Runs) != 12 {
		t.Errorf("%d failed of %d runs", got, len(r.Runs))
	}
	text, err := os.ReadFile(errorFile(filepath.Join(p.Folder, filepath.FromSlash(r.Runs[6].Output))))
	if err != nil || !strings.Contains(string(text), "has had it") {
		t.Errorf("what the run said was not kept: %q, %v", text, err)
	}
	if r.Comparison.Failed[0]+r.Comparison.Failed[1] != 1 {
		t.Errorf("compared with %v failures", r.Comparison.Failed)
	}
	if l := r.PrimaryLines()[0]; len(l.A) != 5 || len(l.B) != 5 {
		t.Errorf("%d and %d values, want the 5 whole pairs", len(l.A), len(l.B))
	}
}

func TestTooManyFailures(t *testing.T) {
	for name, x := range map[string]struct {
		which, want string
	}{
		"the first":             {"1", "the first run failed"},
		"more than one in four": {"2 4 5 8 9", "4 of 8 runs failed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t)
			list := filepath.Join(t.TempDir(), "fail")
			if err := os.WriteFile(list, []byte(x.which), 0o600); err != nil {
				t.Fatal(err)
			}
			p.Load, p.Control = fmt.Sprintf(`sh -c '"$0" "$1" $(cat %s)' {bin} {run}`, list), 0
			_, err := Run(t.Context(), p, nil)
			said, ok := errors.AsType[*OutputError](err)
			if !ok || !strings.Contains(err.Error(), x.want) || !strings.Contains(said.Output, "has had it") {
				t.Fatalf("got %v, want %q", err, x.want)
			}
		})
	}
}

func TestBuildsThatFail(t *testing.T) {
	p := plan(t)
	p.Build = "go build -o {bin} {pgo} ./nowhere"
	_, err := Run(t.Context(), p, nil)
	if said, ok := errors.AsType[*OutputError](err); !ok || !strings.Contains(said.Output, "nowhere") ||
		!strings.Contains(err.Error(), "step 2") {
		t.Errorf("a build that fails: %v", err)
	}
	p.Folder += "-2"
	p.Build = "sh -c 'true # {bin} {pgo}'"
	_, err = Run(t.Context(), p, nil)
	if err == nil || !strings.Contains(err.Error(), "wrote no") {
		t.Errorf("a build that makes nothing: %v", err)
	}
	p.Folder += "-3"
	p.Build = "sh -c 'go build -pgo=off -o {bin} . # {pgo}'"
	_, err = Run(t.Context(), p, nil)
	if err == nil || !strings.Contains(err.Error(), "ignores {pgo}") {
		t.Errorf("a build that passes over the profile: %v", err)
	}
}

// TestModuleWithAPack checks that the program "without PGO" is not built with an existing default.pgo, and that
// nothing is written to the module.
func TestModuleWithAPack(t *testing.T) {
	p := plan(t)
	p.Control, p.Pairs = 0, 2
	if err := os.WriteFile(filepath.Join(p.Dir, "default.pgo"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p.Dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(p.Dir, 0o755) }) //nolint:gosec // a folder of the test
	r, err := Run(t.Context(), p, nil)
	if err != nil || !r.Module.HasDefaultPGO || r.Plain.PGO != "" {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.Verdict() != bench.TooFew {
		t.Errorf("two pairs show %v", r.Verdict())
	}
}
