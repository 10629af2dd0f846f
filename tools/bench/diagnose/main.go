// Command diagnose measures how long kitescope takes to ask and to judge a large cluster: what enters is the
// repository, what leaves is a table against the bars, in Markdown.
//
//  1. The test programs of inspect/check/rules and inspect/live are built.
//  2. Their benchmarks run, several rounds of each: judging 200,000 segments, asking 200 nodes over loopback.
//  3. The table goes to standard output, and with -o between the markers of a file.
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
	flag.IntVar(&o.rounds, "rounds", 9, "rounds of judging; asking, of which each round is as long as its deadline, gets a third")
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
	r := report{machine: fmt.Sprintf("%s/%s, %d CPUs, %s%s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), load()), found: make(samples)}
	for _, x := range []struct {
		folder, bench string
		rounds        int
	}{
		{"inspect/check/rules", "^BenchmarkRun$/^(first|again|asked)$", o.rounds},
		{"inspect/live", "^BenchmarkAsk200$", (o.rounds + 2) / 3},
	} {
		_, _ = fmt.Fprintln(progress, "bench: "+x.folder) // for people; the table is what counts
		if err := r.measure(ctx, filepath.Join(o.repo, x.folder), scratch, x.bench, x.rounds); err != nil {
			return fmt.Errorf("%s: %w", x.folder, err)
		}
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

// measure builds a folder's tests and runs some of its benchmarks, a process each round: what one leaves
// in memory is nothing to the next.
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
		cmd := exec.CommandContext(ctx, program, "-test.run=^$", "-test.bench="+bench, "-test.benchtime="+strconv.Itoa(turns)+"x")
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

// turns is how often each benchmark is repeated in one process.
const turns = 4

// load says how busy the machine was before, where it tells: figures of a busy one are no one's.
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
