// Command follow measures the CPU time that kitescope needs to follow a large, changing cluster. It writes a
// Markdown table.
//
//  1. It builds kitescope, unless -programs names binaries to compare.
//  2. An etcd serves a copy of the generated cluster, and a writer changes a number of segments per second.
//  3. The UI and each --watch run in turn, with all binaries at the same time. The CPU time of their
//     processes is read from /proc before and after, so the load of the machine matters little.
//  4. The table goes to standard output and, with -o, between the markers of a file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kitescope/tools/bench/dataset"
	"kitescope/tools/bench/document"
	"kitescope/tools/bench/metagen"
)

type options struct {
	repo, output string
	programs     []string
	segments     int
	rates        []int
	only         []string
	length       time.Duration
	profiles     string
}

func main() {
	var o options
	var programs, rates, only string
	flag.StringVar(&o.repo, "repo", ".", "kitescope's repository")
	flag.StringVar(&programs, "programs", "", "comma-separated kitescope binaries to compare instead of building one")
	flag.StringVar(&o.output, "o", "", "file whose table, between its markers, is replaced")
	flag.IntVar(&o.segments, "segments", 200_000, "segments of the cluster")
	flag.StringVar(&rates, "rates", "50,1800", "comma-separated numbers of segments that change in a second")
	flag.StringVar(&only, "only", "ui,get,diagnose", "comma-separated commands to measure")
	flag.DurationVar(&o.length, "for", time.Minute, "how long each is measured")
	flag.StringVar(&o.profiles, "profiles", "", "folder for CPU profiles")
	flag.Parse()
	o.only = strings.Split(only, ",")
	if programs != "" {
		o.programs = strings.Split(programs, ",")
	}
	for word := range strings.SplitSeq(rates, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			fmt.Fprintf(os.Stderr, "bench: -rates: %q is not a number of changes\n", word)
			os.Exit(2)
		}
		o.rates = append(o.rates, n)
	}
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
	if len(o.programs) == 0 {
		if err := build(ctx, o.repo, filepath.Join(scratch, "kitescope")); err != nil {
			return err
		}
		o.programs = []string{filepath.Join(scratch, "kitescope")}
	}
	etcd, err := dataset.FindEtcd(ctx, scratch)
	if err != nil {
		return err
	}
	server, err := serve(ctx, etcd, o.segments, scratch)
	if err != nil {
		return err
	}
	b := &bench{options: o, server: server, shape: metagen.Of(o.segments), scratch: scratch, progress: progress}
	err = b.measure(ctx)
	if err := errors.Join(err, server.Stop()); err != nil {
		return err
	}
	text := b.markdown(fmt.Sprintf("%s/%s, %d CPUs, %s, %s %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		runtime.Version(), etcd.Name, etcd.Version))
	if _, err := io.WriteString(out, text); err != nil || o.output == "" {
		return err
	}
	return document.ReplaceMeasured(o.output, "bench-follow", text)
}

// build compiles kitescope with the flags of a release.
func build(ctx context.Context, repo, path string) error {
	cmd := exec.CommandContext(ctx, "go", "-C", repo, "build", "-pgo=auto", "-trimpath", "-ldflags", "-s -w", "-o",
		path, "./cmd/kitescope")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build kitescope: %w\n%s", err, out)
	}
	return nil
}

// serve starts an etcd on a copy of the generated cluster, so that the cached one stays unchanged.
func serve(ctx context.Context, etcd dataset.Etcd, segments int, scratch string) (*dataset.Server, error) {
	dir, err := dataset.Ensure(ctx, etcd, metagen.Of(segments))
	if err != nil {
		return nil, err
	}
	mine := filepath.Join(scratch, "etcd")
	if err := os.CopyFS(mine, os.DirFS(dir)); err != nil {
		return nil, fmt.Errorf("copy %s: %w", dir, err)
	}
	return etcd.Start(ctx, mine)
}

// bench holds a running etcd and the results measured on it.
type bench struct {
	options
	server   *dataset.Server
	shape    metagen.Shape
	scratch  string
	progress io.Writer
	rows     []row
}

// row is one command at one rate. shares holds the CPU time of each program, in percent of a core.
type row struct {
	what   string
	rate   int
	shares []float64
}

func (b *bench) measure(ctx context.Context) error {
	for _, rate := range b.rates {
		for _, what := range []string{"ui", "get", "diagnose"} {
			if !slices.Contains(b.only, what) {
				continue
			}
			// for people; only the table counts
			_, _ = fmt.Fprintf(b.progress, "bench: %s, %d changes a second\n", what, rate)
			r, err := b.follow(ctx, what, rate)
			if err != nil {
				return fmt.Errorf("%s at %d changes a second: %w", what, rate, err)
			}
			b.rows = append(b.rows, r)
		}
	}
	return nil
}

// warmup is how long the followers run before the measurement, to collect the garbage of the initial read.
const warmup = 10 * time.Second

// follow measures all programs while one writer changes the cluster.
func (b *bench) follow(ctx context.Context, what string, rate int) (row, error) {
	r := row{what: what, rate: rate}
	var followers []*follower
	defer func() {
		for _, f := range followers {
			f.stop()
		}
	}()
	for i, program := range b.programs {
		f, err := b.start(ctx, program, what, fmt.Sprintf("%s-%d-%d.pprof", what, rate, i))
		if err != nil {
			return r, err
		}
		followers = append(followers, f)
	}
	for _, f := range followers {
		if err := f.ready(); err != nil {
			return r, err
		}
	}
	writing, stop := context.WithCancel(ctx)
	written := make(chan error, 1)
	go func() { written <- b.write(writing, rate) }()
	defer stop()
	if err := sleep(ctx, warmup); err != nil {
		return r, err
	}
	began := time.Now()
	before, err := cpuTimes(followers)
	if err == nil {
		err = sleep(ctx, b.length)
	}
	if err != nil {
		return r, err
	}
	after, err := cpuTimes(followers)
	took := time.Since(began)
	stop()
	if err := errors.Join(err, <-written); err != nil {
		return r, err
	}
	for i := range followers {
		r.shares = append(r.shares, 100*float64(after[i]-before[i])/float64(took))
	}
	return r, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// markdown returns the table.
func (b *bench) markdown(machine string) string {
	var t strings.Builder
	fmt.Fprintf(&t, "Following %d segments for %v, %s. CPU time of the process, in percent of one core; the target "+
		"is at most %d%%.\n\n", b.segments, b.length, machine, bar)
	t.WriteString("| command | changes per second |")
	for _, p := range b.programs {
		fmt.Fprintf(&t, " %s |", filepath.Base(p))
	}
	t.WriteString(" verdict |\n|---|---:|" + strings.Repeat("---:|", len(b.programs)) + "---|\n")
	names := map[string]string{"ui": "`ui segments`", "get": "`get segments --watch`", "diagnose": "`diagnose --watch`"}
	for _, r := range b.rows {
		fmt.Fprintf(&t, "| %s | %d |", names[r.what], r.rate)
		for _, share := range r.shares {
			fmt.Fprintf(&t, " %.1f%% |", share)
		}
		fmt.Fprintf(&t, " %s |\n", document.Verdict(r.shares[0] <= bar))
	}
	return t.String()
}

// bar is the most CPU time that the first program may use, in percent of a core.
const bar = 4
