package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

// runner injects faults and asks kitescope about them.
type runner struct {
	lab       *lab.Lab
	kitescope *lab.Kitescope
	every     time.Duration
	watch     *watch
	// record is the results file. It is written after each fault.
	record string
	log    func(format string, words ...any)
}

// recording returns the recorder's folder, and snapshot the path of etcd's snapshot.
func (r *runner) recording() string { return filepath.Join(r.lab.Out, "recording") }
func (r *runner) snapshot() string  { return filepath.Join(r.lab.Out, "etcd.db") }

// lightLoad returns the requests that clients send all the time.
func lightLoad() []lab.Stream {
	return []lab.Stream{
		{
			Request: "search", Collection: "docs", Threads: 1, NQ: 5, Limit: 10, Params: map[string]int{"ef": 64},
			Consistency: "Bounded", Pause: 0.5,
		},
		{Request: "insert", Collection: "docs", Threads: 1, Batch: 5, Pause: 1},
	}
}

// faults injects one fault after the other into a cluster under load that is recorded.
func (r *runner) faults(ctx context.Context, chosen []*Fault) ([]*Result, error) {
	if err := r.lab.WaitQuiet(ctx); err != nil {
		return nil, err
	}
	load, err := r.lab.StartLoad(ctx, lightLoad(), filepath.Join(r.lab.Out, "samples.jsonl"))
	if err != nil {
		return nil, err
	}
	recorder, err := r.startRecorder(ctx)
	if err != nil {
		return nil, err
	}
	if r.watch, err = startWatch(ctx, r.lab); err != nil {
		return nil, err
	}
	err = lab.Sleep(ctx, 2*r.every) // to record something before the first fault
	var results []*Result
	for _, f := range chosen {
		if err != nil {
			break
		}
		r.log("%s: %s", f.Name, f.What)
		result := &Result{Name: f.Name, Every: r.every.String()}
		results = append(results, result)
		if broken := r.play(ctx, f, result); broken != nil {
			result.Broken = broken.Error()
			r.log("BROKEN %s", result.Broken)
			err = r.lab.EnsureRunning(ctx, lab.AllProcesses...)
		}
		err = errors.Join(err, lab.SaveResults(r.record, results, r.lab.Home, r.lab.Out, r.lab.Tools))
	}
	err = errors.Join(err, lab.Sleep(ctx, r.nextRound()))
	_, saved := r.lab.Etcdctl(ctx, "snapshot", "save", r.snapshot())
	_, ended := load.End()
	return results, errors.Join(err, saved, ended, endRecorder(recorder), r.watch.end())
}

func (r *runner) startRecorder(ctx context.Context) (*exec.Cmd, error) {
	cmd := r.lab.Command(ctx, r.kitescope.File, "record", "-O", r.recording(), "--every", r.every.String(),
		"--metrics-port", strconv.Itoa(lab.Ports["proxy"].Metrics), "--from", lab.Source)
	said, err := os.Create(filepath.Join(r.lab.Out, "record.log"))
	if err != nil {
		return nil, err
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r.lab.Undo(cmd.Cancel)
	return cmd, nil
}

// endRecorder stops the recorder with SIGTERM, as an operator would.
func endRecorder(cmd *exec.Cmd) error {
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("the recorder exited early: %w", err)
	}
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 130 {
		return nil
	}
	return err
}

// play injects one fault, looks before and during it, and mends it.
func (r *runner) play(ctx context.Context, f *Fault, result *Result) error {
	registered, err := r.lab.Sessions(ctx)
	if err != nil {
		return err
	}
	if result.Objects, err = f.words(registered); err != nil {
		return err
	}
	keys, err := f.keys(registered)
	if err != nil {
		return err
	}
	if result.Before, err = r.diagnose(ctx, f.Name+"-before"); err != nil {
		return err
	}
	if result.Injected, err = f.Inject(ctx, r.lab); err != nil {
		return fmt.Errorf("inject it: %w", err)
	}
	if err := lab.Sleep(ctx, max(0, f.Hold-time.Since(result.Injected))); err != nil {
		return err
	}
	if result.During, err = r.diagnose(ctx, f.Name+"-during"); err != nil {
		return err
	}
	result.Known = result.Injected
	if c, ok := r.watch.first(result.Injected, keys); ok {
		result.Known = c.At
	}
	if f.Mend != nil {
		if err := f.Mend(ctx, r.lab); err != nil {
			return fmt.Errorf("mend: %w", err)
		}
	}
	result.Mended = time.Now().UTC()
	return lab.Sleep(ctx, r.nextRound())
}

// diagnose runs diagnose on the live cluster, with a window as long as the interval of the recorder. Then it
// waits until the recorder has completed another round.
func (r *runner) diagnose(ctx context.Context, name string) (*Diagnosis, error) {
	look := &Diagnosis{From: time.Now().UTC()}
	err := r.kitescope.Ask(ctx, r.lab, lab.Source, filepath.Join(r.lab.Out, name+".json"), &look.Findings, "diagnose",
		"--metrics-port", strconv.Itoa(lab.Ports["proxy"].Metrics), "--window", r.every.String())
	look.To = time.Now().UTC()
	return look, errors.Join(err, lab.Sleep(ctx, r.nextRound()))
}
