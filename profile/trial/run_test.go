package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/internal/hints"
	"kitescope/profile/bench"
	"kitescope/profile/bench/read"
)

// program is a module with a hot path and few dependencies, as all of them are compiled anew with a profile.
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

// module writes a module, and names a profile of program, which is the same each time and in the scripts of cmd/kitescope: so the go
// command compiles the standard library with it once. It has one stack, 3,000 samples of 10 ms of main.mix (which starts at line 5, at
// line 12) that main.work calls (34, 36), and that main.main (41, 42).
func module(t *testing.T, files map[string]string) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	if files == nil {
		files = map[string]string{"main.go": program}
	}
	files["go.mod"] = "module example.com/hot\n\ngo 1.24\n"
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := filepath.Abs(filepath.Join("testdata", "hot.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, file
}

func plan(t *testing.T) Plan {
	t.Helper()
	dir, file := module(t, nil)
	return Plan{
		Dir: dir, Load: "{bin} {run}", Profiles: []string{file}, Pairs: 6, Control: 3, Warmup: 1, Seed: 7, Anyway: true,
		Folder: filepath.Join(t.TempDir(), "trial"),
	}
}

// tree is all that is in a folder.
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
	if r.Plain.PGO != "" || r.Packed.PGO != filepath.Join(p.Folder, "default.pgo") || r.Plain.SHA256 == r.Packed.SHA256 {
		t.Errorf("programs: %+v, %+v", r.Plain, r.Packed)
	}
	if len(filepath.Dir(r.Plain.File)) != len(filepath.Dir(r.Packed.File)) {
		t.Errorf("paths of different lengths: %s, %s", r.Plain.File, r.Packed.File)
	}
	if len(r.Runs) != 18 || len(r.Discarded) != 0 {
		t.Errorf("%d runs, %d discarded", len(r.Runs), len(r.Discarded))
	}
	for i, slot := range p.order(p.Seed) {
		if run := r.Runs[i]; run.Number != slot.number || run.Side != slot.side || run.Pair != slot.pair || run.Control != slot.control {
			t.Errorf("run %d is %+v, want %+v", i, run, slot)
		}
	}
	metrics := map[string]bool{}
	for _, l := range r.Comparison.Lines {
		metrics[l.Metric.String()] = true
		if l.Name != MetricRSS && (len(l.A) != 6 || len(l.B) != 6) { // such short lives may have no peak
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
	if r.BinaryWitness == nil || r.BinaryWitness.Inlined == 0 {
		t.Errorf("the binary does not show that main.mix is inlined now: %+v", r.BinaryWitness)
	}
	sets, err := read.Open(t.Context(), []string{filepath.Join(p.Folder, "runs.jsonl")}, read.Options{})
	if err != nil || len(sets) != 2 || len(sets[0].Runs) != 6 {
		t.Errorf("runs.jsonl: %d sets, %v", len(sets), err)
	}
	again, err := Run(t.Context(), p, nil)
	if err != nil || !cmp.Equal(again.Runs, r.Runs) || again.Plain.SHA256 != r.Plain.SHA256 || len(again.Sessions) != 1 {
		t.Errorf("a trial that is done was done again: %v, %+v", err, again)
	}
}

func TestTrialGoesOn(t *testing.T) {
	p := plan(t)
	var r *Report
	stops := []string{"building without", "building with PGO", "warm-up", "run 4 of", "run 5 of", "run 10 of", "comparing"}
	for i := 0; r == nil; i++ {
		ctx, stop := context.WithCancel(t.Context())
		var seen []string
		got, err := Run(ctx, p, func(e Event) {
			seen = append(seen, e.What)
			if i < len(stops) && strings.Contains(e.What, stops[i]) {
				stop()
			}
		})
		stop()
		switch {
		case i < len(stops) && !errors.Is(err, context.Canceled):
			t.Fatalf("stopped at %q: %v, after %q", stops[i], err, seen)
		case i >= len(stops) && err != nil:
			t.Fatal(err)
		}
		r = got
		if i > len(stops) {
			t.Fatal("it does not come to an end")
		}
	}
	if len(r.Runs) != 18 || len(r.Sessions) != len(stops)+1 {
		t.Errorf("%d runs in %d sessions", len(r.Runs), len(r.Sessions))
	}
	for i := 0; i+1 < len(r.Runs); i++ {
		a := &r.Runs[i]
		for j := range r.Runs {
			b := &r.Runs[j]
			apart := 0
			for _, s := range r.Sessions {
				if s.Began.After(a.Began) && s.Began.Before(b.Began) {
					apart++
				}
			}
			if a.Pair == b.Pair && a.Control == b.Control && apart > 0 {
				t.Errorf("the runs %d and %d are a pair of two sessions", a.Number, b.Number)
			}
		}
	}
	if len(r.Discarded) == 0 {
		t.Error("no half of a pair was put aside, though one was interrupted")
	}
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
	if len(remarks) != 1 || !strings.Contains(remarks[0].Remark, "run 7 of 12") || !strings.Contains(remarks[0].Output, "run 7 has had it") {
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
		which string
		after int
		want  string
	}{
		"the first":             {"1", 1, "the first run failed"},
		"more than one in four": {"2 4 5 8 9", 8, "4 of 8 runs failed"},
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
			if !ok || !strings.Contains(err.Error(), x.want) || !strings.Contains(said.Output, "has had it") || hints.Of(err) == "" {
				t.Fatalf("got %v, want %q", err, x.want)
			}
			if err := os.WriteFile(list, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), p, nil)
			if err != nil {
				t.Fatalf("gone on with: %v", err)
			}
			failed := len(strings.Fields(x.which))
			if name != "the first" {
				failed = 4
			}
			if got := r.Failed("a") + r.Failed("b"); got != failed || len(r.Runs) != 12 {
				t.Errorf("%d failures are remembered of %d, in %d runs", got, failed, len(r.Runs))
			}
			if r.Comparison.Failed != [2]int{} {
				t.Errorf("failed runs that were made again count: %v", r.Comparison.Failed)
			}
		})
	}
}

func TestBuildsThatFail(t *testing.T) {
	p := plan(t)
	p.Build = "go build -o {bin} {pgo} ./nowhere"
	_, err := Run(t.Context(), p, nil)
	if said, ok := errors.AsType[*OutputError](err); !ok || !strings.Contains(said.Output, "nowhere") || !strings.Contains(err.Error(), "step 2") {
		t.Errorf("a build that fails: %v", err)
	}
	p.Folder += "-2"
	p.Build = "sh -c 'true # {bin} {pgo}'"
	_, err = Run(t.Context(), p, nil)
	if err == nil || !strings.Contains(err.Error(), "made no") {
		t.Errorf("a build that makes nothing: %v", err)
	}
	p.Folder += "-3"
	p.Build = "sh -c 'go build -pgo=off -o {bin} . # {pgo}'"
	_, err = Run(t.Context(), p, nil)
	if err == nil || !strings.Contains(err.Error(), "passes over {pgo}") {
		t.Errorf("a build that passes over the profile: %v", err)
	}
}

func TestWhichProgram(t *testing.T) {
	const main, lib = "package main\n\nfunc main() {}\n", "package lib\n"
	two, _ := module(t, map[string]string{"cmd/a/main.go": main, "cmd/b/main.go": main, "lib.go": lib})
	none, _ := module(t, map[string]string{"lib.go": lib})
	for name, x := range map[string]struct {
		dir, pkg, want string
		err            string
	}{
		"two":            {two, "", "", "2 main packages"},
		"one is named":   {two, "./cmd/b", "example.com/hot/cmd/b", ""},
		"by import path": {two, "example.com/hot/cmd/a", "example.com/hot/cmd/a", ""},
		"by the folder":  {filepath.Join(two, "cmd", "a"), "", "example.com/hot/cmd/a", ""},
		"none":           {none, "", "", "no main package"},
		"no such":        {two, "./cmd/c", "", "no main package"},
	} {
		p := Plan{Dir: x.dir, Package: x.pkg, Load: "{bin} {profile}", Folder: filepath.Join(t.TempDir(), "trial")}
		ctx, stop := context.WithCancel(t.Context())
		_, err := Run(ctx, p, func(e Event) {
			if e.Step == 2 {
				stop()
			}
		})
		stop()
		var kept state
		if text, err := os.ReadFile(filepath.Join(p.Folder, stateFile)); err != nil || json.Unmarshal(text, &kept) != nil {
			t.Fatalf("%s: no state: %v", name, err)
		}
		switch {
		case x.err != "":
			if mistake, ok := errors.AsType[*PlanError](err); !ok || !strings.Contains(err.Error(), x.err) || mistake.Hint() == "" {
				t.Errorf("%s: %v", name, err)
			}
		case !errors.Is(err, context.Canceled):
			t.Errorf("%s: %v", name, err)
		case kept.Module.Package != x.want:
			t.Errorf("%s: found %s", name, kept.Module.Package)
		}
	}
}

func TestReadOnlyModuleAndWrite(t *testing.T) {
	p := plan(t)
	p.Control, p.Pairs = 0, 2
	if err := os.Chmod(p.Dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(p.Dir, 0o755) }) //nolint:gosec // a folder of the test
	r, err := Run(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict() != bench.TooFew {
		t.Errorf("two pairs show %v", r.Verdict())
	}
	if err := os.Chmod(p.Dir, 0o755); err != nil { //nolint:gosec // a folder of the test
		t.Fatal(err)
	}
	p.Write = true
	if r, err = Run(t.Context(), p, nil); err != nil || r.Written != filepath.Join(p.Dir, "default.pgo") {
		t.Fatalf("--write later: %q, %v", r.Written, err)
	}
	for _, name := range []string{"default.pgo", "default.pgo.json"} {
		a, errA := os.ReadFile(filepath.Join(p.Folder, name))
		b, errB := os.ReadFile(filepath.Join(p.Dir, name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %v, %v", name, errA, errB)
		}
	}

	// One that was changed since is somebody else's, and is asked for before anything is built.
	if err := os.WriteFile(filepath.Join(p.Dir, "default.pgo"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), p, nil); err == nil || !strings.Contains(err.Error(), "step 1") || !strings.Contains(err.Error(), "did not write it") {
		t.Errorf("written over the file of somebody else: %v", err)
	}

	// What lies there now is not what the program "without PGO" is built with.
	p.Folder, p.Write = p.Folder+"-2", false
	if r, err = Run(t.Context(), p, nil); err != nil || !r.Module.Had || r.Plain.PGO != "" {
		t.Errorf("a module that has a default.pgo: %+v, %+v, %v", r.Module, r.Plain, err)
	}
}
