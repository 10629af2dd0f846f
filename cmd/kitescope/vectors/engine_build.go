package vectors

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
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
nearly equal neighbours. With more threads the graph depends on timing; its quality is the same.`,
		Example: `  kitescope engine build base.npy --index HNSW --m 16 --ef-construction 200 -O base.hnsw
  kitescope engine build base.fvecs --metric ip --format faiss --threads 0 -O base.faiss`,
		Args: cli.Args(1, 1, "exactly one vector file", "kitescope engine build base.npy -O base.hnsw"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "out", "O", "", "the file to write (required)")
	fl.BoolVar(&f.force, "force", false, "replace the file if it exists")
	fl.StringVar(&f.kind, "index", "HNSW", "HNSW or FLAT")
	fl.StringVar(&f.format, "format", "", "hnswlib or faiss; default hnswlib, faiss for FLAT")
	fl.IntVar(&f.m, "m", 16, "links per node, twice as many on the lowest level")
	fl.IntVar(&f.ef, "ef-construction", 200, "candidates during construction")
	fl.Uint64Var(&f.seed, "seed", 100, "seed of the levels of HNSW")
	fl.IntVar(&f.threads, "threads", 1, "goroutines, 0 for one per CPU; with one the file is always the same")
	f.registerMetric(cmd)
	_ = cmd.RegisterFlagCompletionFunc("index", cli.Fixed("HNSW", "FLAT"))
	_ = cmd.RegisterFlagCompletionFunc("format", cli.Fixed(target.BuildFormats()...))
	return cmd
}

// plan is what the flags ask for.
func (f *buildFlags) plan() (target.BuildPlan, error) {
	p := target.BuildPlan{M: f.m, EFConstruction: f.ef, Seed: f.seed}
	switch strings.ToUpper(f.kind) {
	case "HNSW":
	case "FLAT":
		p.Flat = true
	case "IVF_FLAT", "IVF_SQ8":
		return p, cli.Usage(fmt.Errorf("%s is searched, and not built any more", strings.ToUpper(f.kind)), "build HNSW or FLAT here, or lists with faiss: faiss.index_factory, faiss.write_index")
	default:
		return p, cli.Usagef("--index must be HNSW or FLAT, not %q", f.kind)
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
