// Command diagnose runs the benchmarks of inspect/check/rules, which check a large cluster. It writes a
// Markdown table of the results and their bars to standard output and, with -o, between the markers of a
// file.
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
	"strconv"
	"syscall"

	"kitescope/tools/bench/document"
)

type options struct {
	repo, output string
	rounds       int
}

func main() {
	var o options
	flag.StringVar(&o.repo, "repo", ".", "kitescope's repository")
	flag.StringVar(&o.output, "o", "", "file whose table, between its markers, is replaced")
	flag.IntVar(&o.rounds, "rounds", 9, "rounds")
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
	scratch, err := os.MkdirTemp("", "kitescope-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // a temporary directory
	r := report{
		machine: fmt.Sprintf("%s/%s, %d CPUs, %s%s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(),
			load()),
		found: make(samples),
	}
	_, _ = fmt.Fprintln(progress, "bench: inspect/check/rules") // for people; only the table counts
	if err := r.measure(ctx, filepath.Join(o.repo, "inspect/check/rules"), scratch,
		"^BenchmarkRun$/^(first|again|asked)$", o.rounds); err != nil {
		return fmt.Errorf("inspect/check/rules: %w", err)
	}
	text, err := r.markdown()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	if o.output == "" {
		return nil
	}
	return document.ReplaceMeasured(o.output, "bench-diagnose", text)
}

// measure builds the tests of a folder and runs some of its benchmarks. Each round is a new process, so that
// no memory is left over from the one before.
func (r *report) measure(ctx context.Context, folder, scratch, bench string, rounds int) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	program := filepath.Join(scratch, filepath.Base(folder)+".test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, ".")
	build.Dir = folder
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, text)
	}
	for range rounds {
		cmd := exec.CommandContext(ctx, program, "-test.run=^$", "-test.bench="+bench,
			"-test.benchtime="+strconv.Itoa(iterations)+"x")
		cmd.Dir = folder
		text, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w\n%s", err, text)
		}
		if err := r.found.read(string(text)); err != nil {
			return err
		}
	}
	return nil
}

// iterations is the number of iterations of each benchmark in one process.
const iterations = 4

// load returns the load average before the run as text, or "" if it is unknown. Results of a busy machine are
// not reliable.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	var one string
	if _, err := fmt.Sscan(string(text), &one); err != nil {
		return ""
	}
	return ", load " + one + " before"
}
