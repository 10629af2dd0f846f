package enginecmd

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
)

// buildFlags are the flags of "engine build".
type buildFlags struct {
	engineFlags
	m, ef int
	seed  uint64
	out   string
	force bool
}

func engineBuild(a *cli.App) *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use: "build VECTORS",
		Long: `Build an HNSW index of hnswlib from a file of vectors. With one thread the file is
byte-identical to what hnswlib 0.8 saves for the same vectors, parameters and seed where GCC compiled it
for an AMD CPU with AVX-512; other builds' distances differ in the last bits, and so may the choice among
nearly equal neighbours. With more threads the graph depends on timing; its quality is the same.`,
		Example: `  kitescope engine build base.npy --m 16 --ef-construction 200 -O base.hnsw
  kitescope engine build base.fvecs --metric ip --threads 0 -O base.hnsw`,
		Args: cli.Args(1, 1, "exactly one vector file", "kitescope engine build base.npy -O base.hnsw"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "out", "O", "", "the file to write (required)")
	fl.BoolVar(&f.force, "force", false, "replace the file if it exists")
	fl.IntVar(&f.m, "m", 16, "links per node, twice as many on the lowest level")
	fl.IntVar(&f.ef, "ef-construction", 200, "candidates during construction")
	fl.Uint64Var(&f.seed, "seed", 100, "seed of the levels")
	fl.IntVar(&f.threads, "threads", 1, "goroutines, 0 for one per CPU; with one the file is always the same")
	f.registerMetric(cmd)
	return cmd
}

// options converts the flags to build options. It returns a usage error for an invalid combination.
func (f *buildFlags) options() (hnsw.BuildOptions, error) {
	o := hnsw.BuildOptions{M: f.m, EFConstruction: f.ef, Seed: f.seed, Library: engine.HNSWLib}
	hint, err := f.hint()
	if err != nil {
		return o, err
	}
	if hint.Metric != nil {
		o.Metric = *hint.Metric
	}
	if f.m < 2 || f.m > 512 || f.ef < 1 || f.ef > math.MaxInt32 || f.seed == 0 {
		return o, cli.Usagef("--m must be 2 to 512, --ef-construction 1 to %d, --seed 1 or more", math.MaxInt32)
	}
	if f.out == "" {
		return o, cli.Usage(errors.New("no output file"), "give it with -O FILE")
	}
	o.Threads, err = threadsOf(f.threads)
	return o, err
}

func (f *buildFlags) run(a *cli.App, cmd *cobra.Command, path string) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	if f.out == "-" && a.OutTTY {
		return cli.Usage(errors.New("an index is binary and stdout is a terminal"), "give a file with -O FILE")
	}
	if sameFile(path, f.out) {
		return cli.Usagef("-O %s would overwrite the input vectors", f.out)
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
	var said atomic.Int64 // time of the last progress report, in milliseconds; goroutines of the build share it
	o.Progress = func(done int) {
		if at := time.Since(began).Milliseconds(); at-said.Load() >= 200 {
			said.Store(at)
			a.Status("%d of %d rows", done, set.Vectors.Rows)
		}
	}
	x, err := hnsw.Build(cmd.Context(), set.Vectors, o)
	if err != nil {
		return fmt.Errorf("build an index of %s: %w", path, err)
	}
	if err := write(func(w io.Writer) error { return index.WriteHNSWLib(w, x) }); err != nil {
		return err
	}
	a.Warn("HNSW (hnswlib) of %d rows in %s: %s", set.Vectors.Rows, roundDuration(time.Since(began)), f.out)
	return nil
}

// sameFile reports whether two paths name the same file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func roundDuration(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
