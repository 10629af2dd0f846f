// Package trial builds a Go program without and with a profile, runs both in turns, and says what the
// profile is worth.
//
// What enters is a Plan: a module, how to build it, how to load it. What leaves is a folder with both
// binaries, every run, the profiles of both, and a Report. A trial that was interrupted goes on where it stopped.
//
//  1. The module and its main package are found (build.go).
//  2. The program is built without PGO.
//  3. It runs under its load and is profiled, until there are samples enough (collect.go).
//  4. The profiles are judged: what Go refuses or ignores ends the trial here.
//  5. They are packed into a default.pgo.
//  6. The program is built with it.
//  7. Both run in pairs, in random order, without a profiler (measure.go).
//  8. Both are profiled again, to see whether the profile took effect; all is compared and reported (finish.go).
//
// After each build, round and run what is known is written to state.json (state.go), so that nothing that was
// measured is measured again.
package trial

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// Event is how far a trial is.
type Event struct {
	// Step is 1 to 8; What says what goes on, for people: "run 7 of 40, with PGO".
	Step int
	What string
	// Left is how long the trial may take from now on, as far as can be told; 0 if nothing is known.
	Left time.Duration
	// Remark is something that a person should hear of though the trial goes on: a run that failed.
	// Output is the end of what the program said then.
	Remark, Output string
}

// Steps are the names of the steps of a trial, from 1 on.
var steps = [...]string{
	"", "find the module", "build without PGO", "profile the load", "judge the profiles", "pack default.pgo", "build with it",
	"run both in pairs", "compare and verify",
}

// Progress hears what happens; it may be nil.
type Progress func(Event)

// OutputError is an error of a program that was run, with the end of what it said.
type OutputError struct {
	Err error
	// Output is the end of what it wrote; File holds all of it, "" if nothing was kept.
	Output, File string
}

func (e *OutputError) Error() string { return e.Err.Error() }

// Unwrap is the error without the output.
func (e *OutputError) Unwrap() error { return e.Err }

// trial is one Run.
type trial struct {
	plan   Plan
	tell   Progress
	state  *state
	folder folder
	step   int
	// patient says that it was told how long a service takes to end.
	patient bool
}

// Run makes a trial, or goes on with one that was interrupted: what its folder holds already is not done again. Runs,
// profiles and default.pgo are in the folder then; to write the Report there is up to the caller. Where ctx ends early
// the error is ctx's, and the folder can be gone on with.
func Run(ctx context.Context, plan Plan, tell Progress) (*Report, error) {
	if err := plan.settle(); err != nil {
		return nil, err
	}
	adopt()
	t := &trial{plan: plan, tell: tell, folder: folder(plan.Folder)}
	unlock, err := t.folder.open()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if t.state, err = t.folder.load(&t.plan); err != nil {
		return nil, err
	}
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	report, err := t.run(ctx)
	// What went wrong first is what to tell: a full disk lets nothing be saved either.
	if err = cmp.Or(ctx.Err(), err, t.end()); err != nil {
		return nil, err
	}
	return report, nil
}

func (t *trial) run(ctx context.Context) (*Report, error) {
	for i, do := range []func(context.Context) error{
		t.find, t.buildPlain, t.collect, t.judge, t.pack, t.buildPacked, t.measure,
	} {
		t.step = i + 1
		if err := t.timed(ctx, do); err != nil {
			return nil, fmt.Errorf("step %d, %s: %w", t.step, steps[t.step], err)
		}
	}
	t.step = len(steps) - 1
	var report *Report
	err := t.timed(ctx, func(ctx context.Context) (err error) {
		report, err = t.finish(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("step %d, %s: %w", t.step, steps[t.step], err)
	}
	return report, nil
}

// timed does a step and keeps how long it took, over all sessions.
func (t *trial) timed(ctx context.Context, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	began, again := time.Now(), t.state.Finished
	err := do(ctx)
	if !again {
		t.state.Took[t.step] += time.Since(began)
	}
	return err
}

// say tells of progress.
func (t *trial) say(format string, args ...any) {
	if t.tell != nil {
		t.tell(Event{Step: t.step, What: fmt.Sprintf(format, args...), Left: t.left()})
	}
}

// remark tells of something that went wrong though the trial goes on.
func (t *trial) remark(output, format string, args ...any) {
	if t.tell != nil {
		t.tell(Event{Step: t.step, Remark: fmt.Sprintf(format, args...), Output: output})
	}
}
