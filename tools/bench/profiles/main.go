// Command profiles measures kitescope's work on profiles against `go tool pprof`, in one run on one machine.
// It writes a Markdown table of CPU seconds and peak memory.
//
//  1. It builds kitescope, pprof and the benchmarks of tui/profiles. Large profiles are generated once and
//     kept in the user's cache.
//  2. kitescope and pprof take turns at each job, each time in a process of its own.
//  3. A hundred fake processes are pulled at once. The terminal's flame graph is drawn and searched.
//  4. The table goes to standard output and, with -o, between the markers of a file.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"kitescope/tools/bench/dataset"
	"kitescope/tools/bench/document"
	"kitescope/tools/bench/measure"
	"kitescope/tools/bench/profilegen"
)

type options struct {
	repo, output string
	rounds       int
	samples      int
	only         string
}

// The parts of a run that -only can choose.
const (
	partBig    = "big"
	partMerge  = "merge"
	partSmall  = "small"
	partPull   = "pull"
	partScreen = "screen"
)

func main() {
	var o options
	flag.StringVar(&o.repo, "repo", ".", "kitescope's repository")
	flag.StringVar(&o.output, "o", "", "file whose table, between its markers, is replaced")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each job; small ones get ten times as many")
	flag.IntVar(&o.samples, "samples", profilegen.Big().Samples, "samples of the big profile")
	flag.StringVar(&o.only, "only", "", "comma-separated parts to run: big, merge, small, pull, screen; all by default")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out, progress io.Writer) error {
	b, err := prepare(ctx, o, progress)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.scratch) }() // a temporary directory
	r := report{machine: b.machine()}
	parts := []string{partBig, partMerge, partSmall, partPull, partScreen}
	if o.only != "" {
		parts = strings.Split(o.only, ",")
	}
	for _, part := range []struct {
		name string
		run  func(context.Context, *report) error
	}{
		{partBig, b.big}, {partMerge, b.merge}, {partSmall, b.small}, {partPull, b.pull}, {partScreen, b.screen},
	} {
		if !slices.Contains(parts, part.name) {
			continue
		}
		if err := part.run(ctx, &r); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	text := r.markdown()
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	if o.output == "" {
		return nil
	}
	return document.ReplaceMeasured(o.output, "bench-profile", text)
}

// bench holds the state that the parts of a run share.
type bench struct {
	options
	kitescope, pprof, ui string
	graphviz             bool // pprof draws SVG through it
	runner               measure.Runner
	scratch, cache       string
	progress             io.Writer
}

// prepare builds the programs, kitescope with the flags of a release.
func prepare(ctx context.Context, o options, progress io.Writer) (_ *bench, err error) {
	b := &bench{options: o, progress: progress}
	if b.cache, err = profilegen.CacheDir(); err != nil {
		return nil, err
	}
	if b.scratch, err = os.MkdirTemp("", "kitescope-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(b.scratch)
		}
	}()
	b.logf("building")
	b.kitescope, b.pprof, b.ui = filepath.Join(b.scratch, "kitescope"), filepath.Join(b.scratch, "pprof"),
		filepath.Join(b.scratch, "tui.test")
	for _, args := range [][]string{
		{"build", "-pgo=auto", "-trimpath", "-ldflags", "-s -w", "-o", b.kitescope, "./cmd/kitescope"},
		{"build", "-o", b.pprof, "cmd/pprof"}, // the binary that `go tool pprof` starts
		{"test", "-c", "-o", b.ui, "./tui/profiles"},
	} {
		build := exec.CommandContext(ctx, "go", append([]string{"-C", o.repo}, args...)...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, text)
		}
	}
	if _, err := exec.LookPath("dot"); err == nil {
		b.graphviz = true
	}
	b.runner.Launcher, err = dataset.Build(ctx, b.scratch, "cost")
	return b, err
}

func (b *bench) logf(format string, args ...any) {
	_, _ = fmt.Fprintf(b.progress, "bench: "+format+"\n", args...) // for people; only the table counts
}

func (b *bench) machine() string {
	text := fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		text += ", load " + strings.Fields(string(load))[0] + " before"
	}
	return text
}

// program returns a kitescope command that ignores the user's configuration file.
func (b *bench) program(args ...string) measure.Program {
	return measure.Program{
		Path: b.kitescope, Args: args, Env: []string{"KITESCOPE_CONFIG=" + filepath.Join(b.scratch, "none.yaml")},
	}
}

// symbols keeps pprof from looking up symbols.
const symbols = "-symbolize=none"

// tool returns a command of pprof's own binary.
func (b *bench) tool(args ...string) measure.Program {
	return measure.Program{Path: b.pprof, Args: append([]string{symbols}, args...)}
}

// goTool returns the same command as users type it. The go command looks for the binary first, which takes
// longer than the work on a small profile.
func (b *bench) goTool(args ...string) measure.Program {
	return measure.Program{Path: "go", Args: append([]string{"tool", "pprof", symbols}, args...)}
}
