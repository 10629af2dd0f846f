package enginecmd

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine"
	"kitescope/engine/flat"
	"kitescope/replay/log"
)

// sampleFlags are the flags for drawing queries.
type sampleFlags struct {
	count, nq    int
	noise        float64
	seed         uint64
	k            int
	searchParams engine.SearchParams
	rate         float64
	poisson      bool
}

func (f *sampleFlags) options(collection string) log.SampleOptions {
	return log.SampleOptions{
		From: collection, Count: f.count, NQ: f.nq, Seed: f.seed, Noise: f.noise, K: f.k, SearchParams: f.searchParams,
		Collection: collection, Rate: f.rate, Poisson: f.poisson,
	}
}

func replaySample(a *cli.App) *cobra.Command {
	var in replayInput
	f := sampleFlags{count: 1000, nq: 1, noise: defaultNoise, seed: 1}
	var out string
	var force bool
	cmd := &cobra.Command{
		Use: "sample COLLECTION",
		Long: `Draw queries similar to a collection's own vectors: each is a row plus noise. --noise is the standard
deviation of the noise per component, relative to the deviation of that component over rows: 0 draws
the rows themselves, 1 is as far away as rows are from their mean. The same seed draws the same
queries.

Real user queries are better, if you have any: this draws rows uniformly.`,
		Example: `  kitescope replay sample docs --storage /backup/milvus --out queries.jsonl
  kitescope replay sample docs --noise 0.3 --seed 7 --out queries.npy`,
		Args: oneCollection("kitescope replay sample docs --out queries.jsonl"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			npy := strings.HasSuffix(out, ".npy")
			write, err := a.NewOutput(out, force)
			if err != nil {
				return err
			}
			report, clearLine := statusLine(a)
			defer clearLine()
			data, err := in.loadSegments(cmd.Context(), a, args[0], report)
			if err != nil {
				return err
			}
			defer data.Release()
			l, err := data.sample(cmd, f.options(args[0]))
			if err != nil {
				return err
			}
			clearLine()
			warnSample(a, data, l)
			writer := log.Write
			if npy {
				writer = log.WriteNPY
			}
			return write(func(w io.Writer) error { return writer(w, l) })
		},
	}
	in.register(a, cmd)
	cli.RemoveFlags(cmd, "replica", "node-cores")
	fl := cmd.Flags()
	fl.IntVarP(&f.count, "count", "n", f.count, "number of requests")
	fl.IntVar(&f.nq, "nq", f.nq, "vectors per request")
	fl.Float64Var(&f.noise, "noise", f.noise,
		"noise added to the rows, see above; for binary vectors the share of flipped bits")
	fl.Uint64Var(&f.seed, "seed", f.seed, "seed of the random numbers")
	fl.IntVarP(&f.k, "k", "k", 0, "k of the requests; 0 leaves it to the run")
	fl.IntVar(&f.searchParams.EF, "ef", 0, "ef of the requests; 0 leaves it to the run")
	fl.IntVar(&f.searchParams.NProbe, "nprobe", 0, "nprobe of the requests; 0 leaves it to the run")
	fl.Float64Var(&f.rate, "rate", 0, "give requests arrival times at this rate per second")
	fl.BoolVar(&f.poisson, "poisson", false, "with --rate: Poisson arrivals")
	fl.StringVarP(&out, "out", "O", "", "output file, .jsonl or .npy; default: .jsonl to standard output")
	fl.BoolVar(&force, "force", false, "replace the file if it exists")
	return cmd
}

// defaultNoise is the default noise of drawn queries: near a row but not equal to it.
const defaultNoise = 0.2

func (f *sampleFlags) check() error {
	switch {
	case f.count < 1:
		return cli.Usagef("--count must be 1 or more, not %d", f.count)
	case f.nq < 1:
		return cli.Usagef("--nq must be 1 or more, not %d", f.nq)
	case !(f.noise >= 0): // also rejects NaN
		return cli.Usagef("--noise must be 0 or more, not %g", f.noise)
	case f.k < 0 || f.k > flat.MaxK || f.searchParams.EF < 0 || f.searchParams.NProbe < 0:
		return cli.Usagef("--k must be 0 to %d, --ef and --nprobe 0 or more", flat.MaxK)
	case !(f.rate >= 0):
		return cli.Usagef("--rate must be requests per second above 0, not %g", f.rate)
	case f.poisson && f.rate == 0:
		return cli.Usage(errors.New("--poisson needs --rate"), "for example: --rate 100")
	}
	return nil
}

// warnSample writes notes about segments that are missing from the sample and about the sample.
func warnSample(a *cli.App, data *loadedData, l *log.Log) {
	for _, m := range data.Coverage.Missing {
		a.Note("segment %d: %s", m.Segment, m.Reason)
	}
	for _, n := range l.Notes {
		a.Note("%s", n)
	}
}

// sample draws queries from the loaded segments.
func (d *loadedData) sample(cmd *cobra.Command, o log.SampleOptions) (*log.Log, error) {
	return log.Sample(cmd.Context(), d.Sources(), o)
}
