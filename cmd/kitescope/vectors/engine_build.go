package vectors

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine/dist"
	"kitescope/engine/target"
)

// buildFlags are those of "engine build".
type buildFlags struct {
	engineFlags
	kind, format string
	m, ef        int
	lists        target.ListPlan
	seed         uint64
	out          string
	force        bool
}

func engineBuild(a *cli.App) *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use: "build VECTORS",
		Long: `Build an index from a file of vectors, for hnswlib or faiss. With one thread the HNSW file is
byte-identical to what hnswlib 0.8 saves for the same vectors, parameters and seed where GCC compiled it
for an AMD CPU with AVX-512; other builds' distances differ in the last bits, and so may the choice among
nearly equal neighbours. With more threads the graph depends on timing; its quality is the same.

IVF files are faiss's: k-means as faiss does it, from other random numbers. Lists are as good as its own,
and differ. The same seed makes the same file with any number of threads.`,
		Example: `  kitescope engine build base.npy --index HNSW --m 16 --ef-construction 200 -O base.hnsw
  kitescope engine build base.fvecs --metric ip --format faiss --threads 0 -O base.faiss
  kitescope engine build base.npy --index IVF_PQ --nlist 1024 --parts 32 --threads 0 -O base.ivfpq`,
		Args: cli.Args(1, 1, "exactly one vector file", "kitescope engine build base.npy -O base.hnsw"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "out", "O", "", "the file to write (required)")
	fl.StringVarP(&f.out, "o", "o", "", "")
	cli.Renamed(cmd, "o", "out")
	fl.BoolVar(&f.force, "force", false, "replace the file if it exists")
	fl.StringVar(&f.kind, "index", "HNSW", strings.Join(buildKinds(), ", "))
	fl.StringVar(&f.format, "format", "", "hnswlib or faiss; default hnswlib, faiss for FLAT and IVF")
	fl.IntVar(&f.m, "m", 16, "links per node, twice as many on the lowest level")
	fl.IntVar(&f.ef, "ef-construction", 200, "candidates during construction")
	fl.IntVar(&f.lists.Lists, "nlist", 0, "lists of an IVF index; default: 4 times the square root of the rows, at most one for 39 rows")
	fl.IntVar(&f.lists.Parts, "parts", 0, "parts of IVF_PQ (Milvus's m), a divisor of the dimension; default: one for 4 dimensions, if that divides it")
	fl.IntVar(&f.lists.Bits, "bits", 8, "bits of a part of IVF_PQ (Milvus's nbits), 4 to 8")
	fl.Uint64Var(&f.seed, "seed", 100, "seed of the levels of HNSW, of the clusters of IVF")
	fl.IntVar(&f.threads, "threads", 1, "goroutines, 0 for one per CPU; with one the file is always the same")
	accumulationGone(cmd)
	f.registerMetric(cmd)
	_ = cmd.RegisterFlagCompletionFunc("index", cli.Fixed(buildKinds()...))
	_ = cmd.RegisterFlagCompletionFunc("format", cli.Fixed(target.BuildFormats()...))
	return cmd
}

// buildKinds are the indexes that can be built.
func buildKinds() []string { return append([]string{"HNSW", "FLAT"}, target.ListKinds()...) }

// plan is what the flags ask for.
func (f *buildFlags) plan() (target.BuildPlan, error) {
	p := target.BuildPlan{M: f.m, EFConstruction: f.ef, Seed: f.seed}
	switch strings.ToUpper(f.kind) {
	case "HNSW":
	case "FLAT":
		p.Flat = true
	default:
		if slices.Contains(target.ListKinds(), strings.ToUpper(f.kind)) {
			f.lists.Kind, p.Lists = strings.ToUpper(f.kind), &f.lists
			break
		}
		return p, cli.Usagef("--index must be one of %s, not %q", strings.Join(buildKinds(), ", "), f.kind)
	}
	if f.lists.Lists < 0 || f.lists.Parts < 0 {
		return p, cli.Usage(errors.New("--nlist and --parts must be 1 or more"), "")
	}
	if f.format == "" {
		f.format = p.DefaultFormat()
	}
	var ok bool
	if p.Library, ok = target.BuildFormatOf(f.format); !ok {
		return p, cli.Usagef("--format must be %s, not %q", strings.Join(target.BuildFormats(), " or "), f.format)
	}
	if f.metric != "" {
		m, err := dist.ParseMetric(f.metric)
		if err != nil {
			return p, cli.Usage(fmt.Errorf("--metric: %w", err), "")
		}
		p.Metric = m
	}
	if f.m < 2 || f.m > 512 || f.ef < 1 || f.ef > math.MaxInt32 || f.seed == 0 {
		return p, cli.Usagef("--m must be 2 to 512, --ef-construction 1 to %d, --seed 1 or more", math.MaxInt32)
	}
	if f.out == "" {
		return p, cli.Usage(errors.New("no output file"), "give it with -O FILE")
	}
	var err error
	p.Threads, err = threadsOf(f.threads)
	return p, err
}

func (f *buildFlags) run(a *cli.App, cmd *cobra.Command, path string) error {
	plan, err := f.plan()
	if err != nil {
		return err
	}
	if f.out == "-" && a.OutTTY {
		return cli.Usage(errors.New("an index is binary and stdout is a terminal"), "give a file with -O FILE")
	}
	if sameFile(path, f.out) {
		return cli.Usagef("-O %s would overwrite the input vectors", f.out)
	}
	if plan.Flat {
		for _, name := range []string{"m", "ef-construction", "seed"} {
			if cmd.Flags().Changed(name) {
				return cli.Usage(fmt.Errorf("--%s needs an HNSW index", name), "omit it")
			}
		}
	}
	write, err := a.NewOutput(f.out, f.force)
	if err != nil {
		return err
	}
	set, err := openVectors(cmd.Context(), a, path)
	if err != nil {
		return err
	}
	defer set.Close()
	began := time.Now()
	defer a.Transient.Clear()
	var said atomic.Int64 // milliseconds: goroutines of a build tell how far it is
	plan.Progress = func(done int) {
		if at := time.Since(began).Milliseconds(); at-said.Load() >= 200 {
			said.Store(at)
			a.Status("%d of %d rows", done, set.Vectors.Rows)
		}
	}
	b, err := target.Build(cmd.Context(), set.Vectors, plan)
	if err != nil {
		return fmt.Errorf("build an index of %s: %w", path, err)
	}
	if err := write(func(w io.Writer) error { return b.Write(w) }); err != nil {
		return err
	}
	a.Warn("%s of %s in %s: %s", b.Name(), fmt.Sprintf("%d rows", set.Vectors.Rows), roundedTook(time.Since(began)), f.out)
	return nil
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func roundedTook(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
