// Package trial measures the effect of PGO with a profile on a Go program: it builds the program without and
// with the profile, runs both in pairs, and compares the results.
//
// The steps of a trial:
//
//  1. Find the module and its main package (build.go).
//  2. Build the program without PGO.
//  3. Run it under its load and take profiles until there are enough samples (collect.go).
//  4. Judge the profiles. The trial ends here if Go refuses or ignores them.
//  5. Pack the profiles into a default.pgo.
//  6. Build the program with the default.pgo.
//  7. Run both programs in pairs, in random order, without a profiler (measure.go).
//  8. Compare and report (finish.go).
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

// Event is a progress report of a trial.
type Event struct {
	// Step is 1 to 8. What describes the action for users, e.g. "run 7 of 40, with PGO".
	Step int
	What string
	// Remark is a problem that does not end the trial, e.g. a failed run. Output is the end of the program's output
	// in that case.
	Remark, Output string
}

// steps holds the names of the steps, by number from 1.
var steps = [...]string{
	"", "find the module", "build without PGO", "profile the load", "judge the profiles", "pack default.pgo",
	"build with it", "run both in pairs", "compare and verify",
}

// Progress receives the events of a trial; it may be nil.
type Progress func(Event)

// OutputError is an error of a program that was run, with the end of its output.
type OutputError struct {
	Err error
	// Output is the end of the program's output; File holds the whole output, "" if nothing was kept.
	Output, File string
}

func (e *OutputError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the output.
func (e *OutputError) Unwrap() error { return e.Err }

// Session is the time and the machine of a trial.
type Session struct {
	Began, Ended time.Time
	Machine      Machine `doc:",inline"`
	// LoadAfter is the load average at the end; nil if unknown.
	LoadAfter []float64 `doc:"load_average_after,omitzero"`
}

// Measured is a measured run.
type Measured struct {
	// Number is the position in the order of runs, from 1. Pair is the number of the run's pair, counted
	// separately for the control. Control marks runs of the control. Side is the folder of the program: "a"
	// without PGO, "b" with PGO, "c" for the copy of a.
	Number  int
	Pair    int
	Control bool
	Side    string
	Began   time.Time
	Wall    time.Duration
	Values  []bench.Value
	// Failed is the reason why the run does not count, "" if it counts. Output is the file with its output,
	// relative to the folder.
	Failed, Output string
}

// Round is a run that took a profile.
type Round struct {
	Side string
	// File is the profile, relative to the folder.
	File   string
	Events int64
	Wall   time.Duration
}

// folder is the path of the trial's output folder.
type folder string

func (f folder) path(parts ...string) string {
	return filepath.Join(append([]string{string(f)}, parts...)...)
}

// create creates the folder. It returns an error unless the folder is new or empty.
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
	if err := f.write([]byte("*\n"), ".gitignore"); err != nil { // the folder may be inside a repository
		return fmt.Errorf("make the trial's folder: %w", err)
	}
	return nil
}

// write writes a file atomically: the file appears when it is complete.
func (f folder) write(text []byte, parts ...string) error { return writeFile(f.path(parts...), text) }

func writeFile(path string, text []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".kitescope-*")
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return named.Err // without the path, because the temporary name is meaningless to users
	}
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails after the rename, as intended
	_, err = tmp.Write(text)
	if err := errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// trial is the state of Run.
type trial struct {
	plan     Plan
	progress Progress
	folder   folder
	step     int
	report   *Report
	// inputs are the profiles to build with.
	inputs []pgo.Input
	warmed int
}

// Run executes a trial and returns its report. It writes runs, profiles and default.pgo to the trial's folder; the
// caller writes the Report there.
func Run(ctx context.Context, plan Plan, progress Progress) (*Report, error) {
	if err := plan.validate(); err != nil {
		return nil, err
	}
	t := newTrial(plan, progress)
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

func newTrial(plan Plan, progress Progress) *trial {
	return &trial{plan: plan, progress: progress, folder: folder(plan.Folder), report: &Report{
		Plan: plan.withoutSecrets(), Seed: cmp.Or(plan.Seed, uint64(plan.Now().UnixNano())), Folder: plan.Folder,
		Repeat:   plan.Repeat,
		Profiled: plan.profilesAlways(),
	}}
}

// notify reports the progress.
func (t *trial) notify(format string, args ...any) {
	if t.progress != nil {
		t.progress(Event{Step: t.step, What: fmt.Sprintf(format, args...)})
	}
}

// remark reports a problem that does not end the trial.
func (t *trial) remark(output, format string, args ...any) {
	if t.progress != nil {
		t.progress(Event{Step: t.step, Remark: fmt.Sprintf(format, args...), Output: output})
	}
}
