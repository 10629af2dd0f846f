// Command engines measures kitescope's query engine against hnswlib and faiss, in one run on one machine. It
// writes a table of ratios, in Markdown or JSON.
//
//  1. It creates a Python environment with the peers, with hnswlib built from source for this CPU, in the
//     user's cache.
//  2. It draws vectors, and the peers build index files of them. Both are cached.
//  3. Each job runs alternately on our side and on the peer's. Both measure the CPU time of their own thread
//     unless the table says otherwise. All answers are compared.
//  4. The table goes to standard output and, with -o, between the markers of a file.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"kitescope/engine"
	"kitescope/tools/bench/document"
)

type options struct {
	repo, output string
	rounds       int
	buildRounds  int
	rows         int
	only         string
	json         bool
	prepare      bool
	resident     string
	resume       bool
}

// The parts of a run that -only can choose.
const (
	partHNSWLib = "hnswlib"
	partFaiss   = "faiss"
	partDims    = "dims"
	partTies    = "ties"
	partHard    = "hard"
	partCores   = "cores"
	partBuild   = "build"
	partFlat    = "flat"
	partHalf    = "half"
	partSparse  = "sparse"
	partLoad    = "load"
	partRSS     = "rss"
	partKernels = "kernels"
	partIVF     = "ivf"
	partFilters = "filters"
)

// hardRows is the number of rows of the harder set, which is larger than any level 3 cache.
const hardRows = 1_000_000

func main() {
	var o options
	flag.StringVar(&o.repo, "repo", ".", "kitescope's repository")
	flag.StringVar(&o.output, "o", "", "file whose table, between its markers, is replaced")
	flag.IntVar(&o.rounds, "rounds", 7, "pairs of each job that are measured")
	flag.IntVar(&o.buildRounds, "build-rounds", 1, "pairs of each build, which take minutes")
	flag.IntVar(&o.rows, "rows", 100_000, "rows of the sets; fewer for a quick check")
	flag.StringVar(&o.only, "only", "",
		"comma-separated parts to run: hnswlib, faiss, dims, ties, hard, cores, build, flat, half, ivf, filters, "+
			"sparse, load, rss, kernels; all by default")
	flag.BoolVar(&o.json, "json", false, "print JSON instead of Markdown")
	flag.BoolVar(&o.resume, "resume", false, "reuse the results of earlier runs; with -only, for the parts left out")
	flag.BoolVar(&o.prepare, "prepare", false, "only prepare the cached environment, vectors and index files")
	flag.StringVar(&o.resident, "resident", "", "set whose index is loaded to measure its memory; used by the "+
		"program itself")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench holds the state that the parts of a run share.
type bench struct {
	options
	ctx      context.Context //nolint:containedctx // the context of the run
	peer     *peer
	python   string
	cache    string // of vectors and index files
	scratch  string
	progress io.Writer
	report   report

	truthOf string // base path of the set that truths belongs to
	truths  [][]engine.Hit
}

// part is a part that -only can select, with the files that it needs before it runs.
type part struct {
	name    string
	run     func(context.Context) error
	prepare []requirement
}

// requirement is a file of a set: an index file or a file of vectors.
type requirement struct {
	shape  shape
	ensure func(context.Context, files) error
}

func run(ctx context.Context, o options, out, progress io.Writer) (err error) {
	if o.resident != "" {
		return printResident(ctx, o.resident, out)
	}
	b := &bench{options: o, ctx: ctx, progress: progress}
	parts := b.parts()
	if o.only != "" {
		names := strings.Split(o.only, ",")
		chosen := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return !slices.Contains(names, p.name) })
		if len(chosen) != len(names) {
			return fmt.Errorf("-only %s: unknown part", o.only)
		}
		if !o.resume {
			parts = chosen
		}
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.scratch) }() // a temporary directory
	defer func() { _ = b.peer.close() }()          // its answers were all read
	for _, p := range parts {
		for _, n := range p.prepare {
			if err := n.ensure(ctx, n.shape.files(b.cache)); err != nil {
				return fmt.Errorf("prepare %s: %w", p.name, err)
			}
		}
	}
	if o.prepare {
		return nil
	}
	if err := b.measure(ctx, parts); err != nil {
		return err
	}
	if o.json {
		return b.report.json(out)
	}
	text := b.report.markdown()
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	if o.output == "" {
		return nil
	}
	return document.ReplaceMeasured(o.output, "bench-engine", text)
}

// measure runs the parts and records load and available cores before and after.
func (b *bench) measure(ctx context.Context, parts []part) (err error) {
	r := &b.report
	r.Machine, r.Rounds = machine(), b.rounds
	versions, err := b.peer.do("versions", nil)
	if err != nil {
		return err
	}
	r.Peers = versions.Text
	r.Load[0], r.Cores[0] = loadAverage(), control()
	if r.Stream, err = bandwidth(); err != nil {
		return err
	}
	for _, p := range parts {
		chosen := b.only != "" && slices.Contains(strings.Split(b.only, ","), p.name)
		if b.resume && !chosen && (b.loadPart(p.name) || b.only != "") {
			continue
		}
		rows, kernels, load := len(r.Rows), len(r.Kernels), loadAverage()
		if err := p.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := b.savePart(p.name, r.Rows[rows:], r.Kernels[kernels:], load); err != nil {
			return err
		}
	}
	r.Load[1], r.Cores[1] = loadAverage(), control()
	return ctx.Err()
}

// parts returns all parts in the order of the table.
func (b *bench) parts() []part {
	hard := shape{dim: 128, rows: hardRows * b.rows / 100_000, overlap: true}
	small := []int{16, 100, 300}
	search := func(name string, kind fileKind, bars map[int]float64, shapes ...shape) part {
		p := part{name: name, run: func(ctx context.Context) error {
			for _, s := range shapes {
				if err := b.hnswSearch(ctx, name, s.files(b.cache), kind, bars[s.dim]); err != nil {
					return err
				}
			}
			return nil
		}}
		for _, s := range shapes {
			p.prepare = append(p.prepare, requirement{s, b.ensure(kind)})
		}
		return p
	}
	large := b.shapes(128, 768)
	dims := search(partDims, fileHNSWLib, map[int]float64{16: 1, 100: 1.5, 300: 2.2}, b.shapes(small...)...)
	theirs := search(partDims, fileFaiss, map[int]float64{16: 1, 100: 1.5, 300: 1.5}, b.shapes(small...)...)
	return []part{
		search(partHNSWLib, fileHNSWLib, map[int]float64{128: 2.0, 768: 2.2}, large...),
		search(partFaiss, fileFaiss, map[int]float64{128: 1.8, 768: 1.7}, large...),
		{partDims, func(ctx context.Context) error {
			if err := dims.run(ctx); err != nil {
				return err
			}
			return theirs.run(ctx)
		}, append(dims.prepare, theirs.prepare...)},
		{partTies, b.ties, nil},
		search(partHard, fileHNSWLib, map[int]float64{128: 1.8}, hard),
		{partCores, b.cores, nil},
		{partBuild, b.build, nil},
		{partFlat, b.flat, nil},
		{partHalf, b.half, nil},
		{partIVF, b.ivf, nil},
		{partFilters, b.filters, nil},
		{partSparse, b.sparse, nil},
		{partLoad, b.load, []requirement{{b.shapes(768)[0], b.ensureHNSWLib}, {b.shapes(768)[0], b.ensureMilvus}}},
		{partRSS, b.rss, nil},
		{partKernels, func(context.Context) error { return b.kernels() }, nil},
	}
}

func (b *bench) shapes(dims ...int) []shape {
	shapes := make([]shape, len(dims))
	for i, d := range dims {
		shapes[i] = shape{dim: d, rows: b.rows}
	}
	return shapes
}

// set returns the files of the set with a dimension.
func (b *bench) set(dim int) files { return b.shapes(dim)[0].files(b.cache) }

// start creates the environment and starts the peer.
func (b *bench) start(ctx context.Context) error {
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	b.cache = filepath.Join(cache, "engine")
	if b.python, err = ensureVenv(ctx, b.repo, cache, b.progress); err != nil {
		return err
	}
	if b.peer, err = startPeer(ctx, b.python); err != nil {
		return err
	}
	b.scratch, err = os.MkdirTemp("", "kitescope-bench-")
	return err
}

func (b *bench) logf(format string, args ...any) {
	_, _ = fmt.Fprintf(b.progress, "bench: "+format+"\n", args...) // for people; only the table counts
}

// machine describes the machine and the Go version.
func machine() string {
	text := fmt.Sprintf("%s/%s, %d CPUs%s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), cpuName(),
		runtime.Version())
	if pages, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err == nil {
		if _, chosen, ok := strings.Cut(string(pages), "["); ok {
			chosen, _, _ = strings.Cut(chosen, "]")
			text += ", huge pages: " + chosen
		}
	}
	return text
}

// cpuName returns Linux's name of the CPU in parentheses, or "" if it is unknown.
func cpuName() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(info)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return " (" + strings.TrimSpace(strings.TrimLeft(name, "\t :")) + ")"
		}
	}
	return ""
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}
