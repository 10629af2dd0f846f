// Command follow measures what it costs kitescope to follow a large cluster that changes: what enters is the repository,
// what leaves is a table of CPU time, in Markdown.
//
//  1. kitescope is built, unless -programs names binaries to compare.
//  2. A copy of the generated cluster is served by an etcd, and a writer changes so many segments a second.
//  3. The UI and each --watch run beside it, all binaries at the same time; what their processes use of the CPU is read
//     from /proc before and after, so that the load of the machine counts for little.
//  4. The table goes to standard output, and with -o between the markers of a file.
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
	flag.StringVar(&only, "only", "ui,get,diagnose", "comma-separated: who follows")
	flag.DurationVar(&o.length, "for", time.Minute, "how long each is measured")
	flag.StringVar(&o.profiles, "profiles", "", "folder for CPU profiles of what is measured")
	flag.Parse()
	o.only = strings.Split(only, ",")
	if programs != "" {
		o.programs = strings.Split(programs, ",")
	}
	for word := range strings.SplitSeq(rates, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			fmt.Fprintf(os.Stderr, "bench: -rates: %q is no number of changes\n", word)
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
	text := b.markdown(fmt.Sprintf("%s/%s, %d CPUs, %s, %s %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), etcd.Name, etcd.Version))
	if _, err := io.WriteString(out, text); err != nil || o.output == "" {
		return err
	}
	return document.ReplaceMeasured(o.output, "bench-follow", text)
}

// build compiles kitescope as it is released.
func build(ctx context.Context, repo, path string) error {
	cmd := exec.CommandContext(ctx, "go", "-C", repo, "build", "-pgo=auto", "-trimpath", "-ldflags", "-s -w", "-o", path, "./cmd/kitescope")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build kitescope: %w\n%s", err, out)
	}
	return nil
}

// serve starts an etcd on a copy of the generated cluster: the cached one stays as it was generated.
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

// bench is a running etcd and what was measured on it.
type bench struct {
	options
	server   *dataset.Server
	shape    metagen.Shape
	scratch  string
	progress io.Writer
	rows     []row
}

// row is one way to follow at one rate: the share of a core that each program took, in percent.
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
			_, _ = fmt.Fprintf(b.progress, "bench: %s, %d changes a second\n", what, rate) // for people; the table is what counts
			r, err := b.follow(ctx, what, rate)
			if err != nil {
				return fmt.Errorf("%s at %d changes a second: %w", what, rate, err)
			}
			b.rows = append(b.rows, r)
		}
	}
	return nil
}

// warm is how long the followers run before they are measured: reading leaves garbage, which is collected meanwhile.
const warm = 10 * time.Second

// follow runs all programs beside one writer.
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
	if err := rest(ctx, warm); err != nil {
		return r, err
	}
	began := time.Now()
	before, err := used(followers)
	if err == nil {
		err = rest(ctx, b.length)
	}
	if err != nil {
		return r, err
	}
	after, err := used(followers)
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

func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// markdown is the table.
func (b *bench) markdown(machine string) string {
	var t strings.Builder
	fmt.Fprintf(&t, "Following %d segments for %v, %s. CPU time of the process, in percent of one core; the bar is %d%%.\n\n", b.segments, b.length, machine, bar)
	t.WriteString("| who follows | changes a second |")
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

// bar is what the first program may take of a core, in percent.
const bar = 4
