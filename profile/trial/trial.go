// Package trial measures what a profile is worth to a Go program: it builds the program without and with the profile,
// runs both in pairs, and compares.
//
//  1. The module and its main package are found (build.go).
//  2. The program is built without PGO.
//  3. It runs under its load and is profiled until there are enough samples (collect.go).
//  4. The profiles are judged: what Go refuses or ignores ends the trial here.
//  5. They are packed into a default.pgo.
//  6. The program is built with it.
//  7. Both run in pairs, in random order, without a profiler (measure.go).
//  8. Both are compared and reported (finish.go).
package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"kitescope/profile/bench"
	"kitescope/profile/pgo"
)

// Event is the progress of a trial.
type Event struct {
	// Step is 1 to 8; What describes it for people, e.g. "run 7 of 40, with PGO".
	Step int
	What string
	// Remark is something to show although the trial goes on, e.g. a run that failed; Output is the end of what the
	// program printed then.
	Remark, Output string
}

// steps are the names of the steps of a trial, from 1 on.
var steps = [...]string{
	"", "find the module", "build without PGO", "profile the load", "judge the profiles", "pack default.pgo", "build with it",
	"run both in pairs", "compare and verify",
}

// Progress receives events; it may be nil.
type Progress func(Event)

// OutputError is an error of a program that was run, with the end of its output.
type OutputError struct {
	Err error
	// Output is the end of what it printed; File holds all of it, "" if nothing was kept.
	Output, File string
}

func (e *OutputError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the output.
func (e *OutputError) Unwrap() error { return e.Err }

// Session is when and where a trial ran.
type Session struct {
	Began, Ended time.Time
	Machine      Machine `doc:",inline"`
	// LoadAfter is the load average at the end; nil if unknown.
	LoadAfter []float64 `doc:"load_average_after,omitzero"`
}

// Measured is one measured run.
type Measured struct {
	// Number is its place in the order of runs, from 1 on; Pair is its pair, or with Control its pair of the control.
	// Side is the folder of its program: "a" without PGO, "b" with it, "c" the copy of a.
	Number  int
	Pair    int
	Control bool
	Side    string
	Began   time.Time
	Wall    time.Duration
	Values  []bench.Value
	// Failed is why it does not count, "" if it does; Output is the file with its output, relative to the folder.
	Failed, Output string
}

// Round is one run for a profile.
type Round struct {
	Side string
	// File is the profile, relative to the folder.
	File   string
	Events int64
	Wall   time.Duration
}

// folder is where a trial keeps what it makes.
type folder string

func (f folder) path(parts ...string) string {
	return filepath.Join(append([]string{string(f)}, parts...)...)
}

// create makes the folder, which must be new or empty.
func (f folder) create() error {
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return fmt.Errorf("make the trial's folder: %w", err)
	}
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return fmt.Errorf("read the trial's folder: %w", err)
	}
	if len(entries) > 0 {
		return planError("name a new folder with -O; existing files are not touched", "%s is not empty", f)
	}
	if err := f.write([]byte("*\n"), ".gitignore"); err != nil { // it may be inside a repository, and is no part of it
		return fmt.Errorf("make the trial's folder: %w", err)
	}
	return nil
}

// write makes a file that appears when it is complete.
func (f folder) write(text []byte, parts ...string) error { return writeFile(f.path(parts...), text) }

func writeFile(path string, text []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".kitescope-*")
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return named.Err // the temporary name says nothing to anybody
	}
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone after the rename
	_, err = tmp.Write(text)
	if err := errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// trial is one Run.
type trial struct {
	plan   Plan
	tell   Progress
	folder folder
	step   int
	report *Report
	// inputs are the profiles to build with.
	inputs []pgo.Input
	warmed int
}

// Run makes a trial. Runs, profiles and default.pgo are in its folder then; the caller writes the Report there.
func Run(ctx context.Context, plan Plan, tell Progress) (*Report, error) {
	if err := plan.settle(); err != nil {
		return nil, err
	}
	t := newTrial(plan, tell)
	if err := t.folder.create(); err != nil {
		return nil, err
	}
	t.report.Sessions = []Session{{Began: plan.Now().UTC(), Machine: machine()}}
	for i, do := range []func(context.Context) error{
		t.find, t.buildPlain, t.collect, t.judge, t.pack, t.buildPacked, t.measure, t.finish,
	} {
		t.step = i + 1
		began := time.Now()
		if err := cmp.Or(ctx.Err(), do(ctx)); err != nil {
			return nil, cmp.Or(ctx.Err(), fmt.Errorf("step %d, %s: %w", t.step, steps[t.step], err))
		}
		t.report.Took[t.step] = time.Since(began)
	}
	return t.report, nil
}

func newTrial(plan Plan, tell Progress) *trial {
	return &trial{plan: plan, tell: tell, folder: folder(plan.Folder), report: &Report{
		Plan: plan.shown(), Seed: cmp.Or(plan.Seed, uint64(plan.Now().UnixNano())), Folder: plan.Folder, Repeat: plan.Repeat,
		Profiled: plan.profilesAlways(),
	}}
}

// say reports progress.
func (t *trial) say(format string, args ...any) {
	if t.tell != nil {
		t.tell(Event{Step: t.step, What: fmt.Sprintf(format, args...)})
	}
}

// remark reports something that went wrong although the trial goes on.
func (t *trial) remark(output, format string, args ...any) {
	if t.tell != nil {
		t.tell(Event{Step: t.step, Remark: fmt.Sprintf(format, args...), Output: output})
	}
}
