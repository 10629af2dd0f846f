package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/live/livetest"
)

// files holds the output folder of a command and the folder for temporary files.
type files struct{ output, temporary string }

func newFiles(t *testing.T) files {
	t.Helper()
	f := files{t.TempDir(), t.TempDir()}
	t.Setenv("TMPDIR", f.temporary)
	return f
}

func (f files) path(name string) string { return filepath.Join(f.output, name) }

// wantNone checks that no file is left in either folder.
func (f files) wantNone(t *testing.T) {
	t.Helper()
	for _, dir := range []string{f.output, f.temporary} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range entries {
			t.Errorf("%s is left behind", x.Name())
		}
	}
}

// TestInterrupt checks that commands that query processes can be interrupted at several moments. One process
// never responds, so that no command ends earlier.
func TestInterrupt(t *testing.T) {
	f := capturedT7(t, nil)
	f.move(t, "querynode-13", livetest.Silent(t))
	// initializes everything that is created only once
	kitescope(t, cli.ExitOK, append([]string{"get", "nodes", "--live"}, f.liveFlags()...)...)
	for _, after := range []time.Duration{0, 10 * time.Millisecond, 150 * time.Millisecond} {
		t.Run(after.String(), func(t *testing.T) {
			files := newFiles(t)
			before := runtime.NumGoroutine()
			var running sync.WaitGroup
			for name, line := range map[string][]string{
				"diagnose": {"diagnose"},
				"balance":  {"balance", "--plan"},
				"get":      {"get", "nodes", "--live"},
				"overview": {"overview", "--live"},
				"save":     {"snapshot", "save", files.path("x.kite"), "--live"},
				"pipe":     {"snapshot", "save", "-", "--live"},
				"watch":    {"get", "nodes", "--live", "--watch"},
				"judge":    {"diagnose", "--watch"},
			} {
				running.Go(func() { f.interrupted(t, after, name, line) })
			}
			running.Wait()
			files.wantNone(t)
			wantNoGoroutine(t, before)
		})
	}
}

// interrupted runs a command line and interrupts it after the given time.
func (f *fakes) interrupted(t *testing.T, after time.Duration, name string, line []string) {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var at time.Time
	timer := time.AfterFunc(after, func() { at = time.Now(); interrupt() })
	defer timer.Stop()
	e := terminal{}.run(ctx, t, append(line, "--node-timeout", "20s", "--from", f.from)...)
	late := time.Since(at)
	goesOn := name == "judge" || name == "watch"
	if e.code != cli.ExitInterrupted || e.err != "kitescope: interrupted\n" && !goesOn || late > 2*time.Second {
		t.Errorf("%s: exit %d, %v after the interrupt: %q", name, e.code, late, e.err)
	}
	if e.stdout != "" && name != "pipe" && !goesOn {
		t.Errorf("%s: something is shown: %s", name, head(e.stdout))
	}
}

// TestInterruptOnCall checks that commands can be interrupted at the moment at which they call a process.
func TestInterruptOnCall(t *testing.T) {
	f := capturedT7(t, nil)
	for _, line := range [][]string{
		{"diagnose"}, {"balance"}, {"snapshot", "save", "FILE", "--live"}, {"get", "nodes", "--live", "--watch"},
	} {
		t.Run(line[0], func(t *testing.T) {
			files := newFiles(t)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			f.onCall(t, "querynode-13", interrupt)
			args := slices.Clone(line)
			if at := slices.Index(args, "FILE"); at >= 0 {
				args[at] = files.path("x.kite")
			}
			e := terminal{}.run(ctx, t, append(args, "--node-timeout", "20s", "--from", f.from)...)
			if e.code != cli.ExitInterrupted || e.took > 5*time.Second {
				t.Errorf("exit %d after %v: %s", e.code, e.took, e.err)
			}
			files.wantNone(t)
		})
	}
}

// TestInterruptWhileWriting checks that interrupting the writing of a bundle leaves either the whole bundle or no
// file.
func TestInterruptWhileWriting(t *testing.T) {
	f := capturedT7(t, nil)
	whole := 0
	for range 3 {
		files := newFiles(t)
		ctx, interrupt := context.WithCancel(t.Context())
		go func() { // interrupt as soon as the temporary file of the bundle exists
			for ctx.Err() == nil {
				if entries, _ := os.ReadDir(files.output); len(entries) > 0 {
					interrupt()
				}
			}
		}()
		e := terminal{}.run(ctx, t, "snapshot", "save", files.path("x.kite"), "--live", "--window", "0", "--from",
			f.from)
		interrupt()
		switch e.code {
		case cli.ExitInterrupted:
			files.wantNone(t)
		case cli.ExitOK:
			whole++
			kitescope(t, cli.ExitOK, "snapshot", "info", files.path("x.kite"), "--strict")
			if err := os.Remove(files.path("x.kite")); err != nil {
				t.Fatal(err)
			}
			files.wantNone(t)
		default:
			t.Fatalf("exit %d: %s", e.code, e.err)
		}
	}
	t.Logf("%d of 3 were written before the interrupt", whole)
}

// TestWatchesOutliveEtcd checks that commands with --watch report the loss of etcd and continue until they are
// interrupted.
func TestWatchesOutliveEtcd(t *testing.T) {
	t.Parallel() // it spends most of its time waiting
	for name, line := range map[string][]string{
		"get":      {"get", "nodes", "--live", "--watch", "-o", "jsonl", "--columns", "name,answer"},
		"diagnose": {"diagnose", "--watch", "-o", "jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startFakesOf(t, "2.5", livetest.Options{})
			ctx, interrupt := context.WithTimeout(t.Context(), 40*time.Second)
			defer interrupt()
			var out, errs syncBuffer
			done := make(chan cmdResult)
			go func() {
				done <- terminal{out: &out, err: &errs}.run(ctx, t,
					append(line, "--timeout", "3s", "--from", f.from)...)
			}()
			waitFor(ctx, t, &out, "querynode-4")
			f.etcd.Stop()
			waitFor(ctx, t, &errs, "etcd")
			interrupt()
			if e := <-done; e.code != cli.ExitInterrupted {
				t.Errorf("exit %d: %s", e.code, e.err)
			}
		})
	}
}

// waitFor waits until text is written. The test fails if ctx ends before.
func waitFor(ctx context.Context, t *testing.T, where *syncBuffer, text string) {
	t.Helper()
	for !strings.Contains(where.String(), text) {
		if ctx.Err() != nil {
			t.Fatalf("%q never comes: %s", text, where)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
