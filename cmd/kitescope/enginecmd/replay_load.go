package enginecmd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine"
	"kitescope/engine/flat"
	"kitescope/internal/table"
	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/log"
)

// queryFlags are the flags that define the queries.
type queryFlags struct {
	path         string
	draw         sampleFlags
	limit, skip  int
	k            int
	params       paramFlags
	searchParams engine.SearchParams // the values of params, set by check
	force        bool
	forceK       bool // --k was given as well
	strict       bool
	truth        string
	shuffle      bool
	column       string
}

// register adds the flags. It adds --ef only if ef is set, because some commands define their own --ef.
func (f *queryFlags) register(cmd *cobra.Command, ef bool) {
	fl := cmd.Flags()
	fl.StringVar(&f.path, "queries", "", "query log: .jsonl, .npy, .fvecs, .bvecs or .parquet")
	fl.IntVar(&f.draw.count, "draw", 1000, "without --queries: draw so many")
	fl.IntVarP(&f.k, "k", "k", 10, "number of neighbours, if not in the log")
	cli.WithSection(fl, cli.SectionReplay, func() { f.registerMore(fl, ef) })
}

func (f *queryFlags) registerMore(fl *pflag.FlagSet, ef bool) {
	fl.Float64Var(&f.draw.noise, "noise", defaultNoise, "noise of drawn queries (see: replay sample)")
	fl.Uint64Var(&f.draw.seed, "seed", 1, "seed of all random choices")
	fl.IntVar(&f.draw.nq, "nq", 1, "vectors per request, for drawn queries and vector files")
	fl.IntVar(&f.limit, "limit-queries", 0, "replay only the first N requests of the log; 0 for all")
	fl.IntVar(&f.skip, "skip-queries", 0, "skip the first N requests")
	fl.BoolVar(&f.shuffle, "shuffle", false, "shuffle the requests with --seed")
	fl.StringVar(&f.column, "column", "", "column of a .parquet file, if several have vectors")
	fl.BoolVar(&f.strict, "strict-log", false,
		"stop at the first broken request; otherwise broken ones are counted and skipped")
	f.params.register(fl, func(p *engine.SearchParam) string {
		if p.Trait == engine.HasGraph && !ef {
			return ""
		}
		return logUsage(p)
	})
	fl.BoolVar(&f.force, "override", false, "--k and the flags of search parameters override the log")
	fl.StringVar(&f.truth, "truth", "exact",
		"true neighbours for recall: exact (computed here, row by row), log (the log's own), none, or a file of ids "+
			"(.ivecs, .npy)")
}

// fileTruth returns the path of a truth file, or "" for the other values of --truth.
func (f *queryFlags) fileTruth() string {
	switch f.truth {
	case exactTruth, "log", "none", "":
		return ""
	}
	return f.truth
}

func (f *queryFlags) truthFrom() replay.TruthFrom {
	switch f.truth {
	case exactTruth:
		return replay.ExactTruth
	case "none", "":
		return replay.NoTruth
	}
	return replay.LogTruth
}

func (f *queryFlags) check() error {
	if f.k < 1 || f.k > flat.MaxK {
		return cli.Usagef("--k must be 1 to %d, not %d", flat.MaxK, f.k)
	}
	if f.path == "" && f.truth == "log" {
		return cli.Usage(errors.New("--truth log needs a log"), "give it with --queries")
	}
	if f.limit < 0 || f.skip < 0 {
		return cli.Usagef("--limit-queries and --skip-queries must be 0 or more")
	}
	var err error
	if f.searchParams, err = f.params.read(true); err != nil {
		return err
	}
	return f.draw.check()
}

// checkUnusedFlags returns an error for flags of a log without a log, and for flags of drawn queries with a log.
func (f *queryFlags) checkUnusedFlags(cmd *cobra.Command) error {
	if f.path == "" {
		return requireFlag(cmd, "queries", "limit-queries", "skip-queries", "column", "strict-log", "override")
	}
	return rejectFlags(cmd, "queries", "draw", "noise")
}

// requireFlag returns an error for the first of the given flags that is set, because they need the flag other.
func requireFlag(cmd *cobra.Command, other string, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return cli.Usage(fmt.Errorf("--%s needs --%s", name, other), "omit it, or give both")
		}
	}
	return nil
}

// rejectFlags returns an error for the first of the given flags that is set, because these flags cannot be
// combined with the flag other.
func rejectFlags(cmd *cobra.Command, other string, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return cli.Usage(fmt.Errorf("--%s cannot be combined with --%s", name, other), "use only one of them")
		}
	}
	return nil
}

// readQueries reads the log, or draws queries from the loaded segments.
func (f *queryFlags) readQueries(ctx context.Context, a *cli.App, data *loadedData) (*log.Log, error) {
	name, c := data.Layout.Collection.Name, &data.Layout.Collection
	var l *log.Log
	var err error
	if f.path == "" {
		if l, err = log.Sample(ctx, data.Sources(), f.draw.options(name)); err != nil {
			return nil, err
		}
		a.Warn("no --queries: drawing %d from %s with noise %g and seed %d", f.draw.count, name, f.draw.noise,
			f.draw.seed)
	} else if l, err = log.Open(ctx, f.path, log.Options{
		Skip: f.skip, Limit: f.limit, Element: &c.Element, Dim: c.Dim, Strict: f.strict, Batch: f.draw.nq,
		Column: f.column,
	}); err != nil {
		return nil, err
	}
	if f.shuffle {
		l = l.Shuffle(f.draw.seed)
	}
	if path := f.fileTruth(); path != "" {
		with, err := l.TruthFrom(ctx, path)
		if err != nil {
			l.Close()
			return nil, err
		}
		l = with
	}
	for _, n := range l.Notes {
		a.Note("%s: %s", l.Name, n)
	}
	return l, nil
}

// loadFlags are the flags that define the load.
type loadFlags struct {
	rate          float64
	timed         bool
	speed         float64
	poisson       bool
	warmup, round time.Duration
	rounds        int
	requests      int
	deadline      time.Duration
	total         int
	maxTime       time.Duration
	save          string
	force         bool
	report        cli.ReportFlags
	baseline      string
	target        string
	targetTable   string
	targetField   string
	targetKey     string
	consistency   string
	passwordFile  string
	ignoreGrowing bool
}

func (f *loadFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	cli.WithSection(fl, cli.SectionReplay, func() { f.registerMore(fl) })
	fl.StringVarP(&f.save, "out", "O", "", "write the result to this file")
	fl.BoolVar(&f.force, "force", false, "replace the file if it exists")
	f.report.Register(cmd, render.ReportFormats(), 10, "maximum number of rows; 0 for all")
	f.report.List(cmd, func(o render.ReportOptions) *table.Schema { return resultSchema(f.baseline)(o) },
		"'recall>=0.95'", "-qps,recall", "qps; +latency_max_seconds")
	_ = cmd.RegisterFlagCompletionFunc("truth", cli.FixedCompletions(exactTruth, "log", "none"))
}

func (f *loadFlags) registerMore(fl *pflag.FlagSet) {
	fl.BoolVar(&f.timed, "timed", false, "send requests at the log's times, without waiting for answers")
	fl.Float64Var(&f.speed, "speed", 1, "with --timed: speed factor")
	fl.BoolVar(&f.poisson, "poisson", false, "with --rate: Poisson arrivals, drawn from --seed")
	fl.DurationVar(&f.warmup, "warmup", time.Second, "warm-up time, not measured")
	fl.DurationVar(&f.round, "round", 3*time.Second, "duration of each round")
	fl.IntVar(&f.requests, "requests", 0, "requests per round, instead of --round")
	fl.IntVar(&f.rounds, "rounds", 3, "measured rounds: the basis of the QPS interval")
	fl.DurationVar(&f.deadline, "deadline", 30*time.Second, "deadline per request: a later answer is a failure")
	fl.IntVar(&f.total, "total", 0, "maximum number of requests in total; 0 for no limit")
	fl.DurationVar(&f.maxTime, "max-time", 0, "stop after this time, with results so far; 0 for no limit")
}

func (f *loadFlags) registerTarget(cmd *cobra.Command) {
	fl := cmd.Flags()
	cli.WithSection(fl, cli.SectionReplay, func() { f.registerTargetMore(fl) })
	_ = cmd.RegisterFlagCompletionFunc("consistency",
		cli.FixedCompletions("strong", "bounded", "session", "eventually"))
}

func (f *loadFlags) registerTargetMore(fl *pflag.FlagSet) {
	fl.StringVar(&f.target, "target", "", "query this server instead, see above")
	fl.StringVar(&f.passwordFile, "target-password-file", "", "file with the target's password")
	fl.StringVar(&f.targetTable, "target-collection", "",
		"its collection, table or index; default: that of the address, or the same name")
	fl.StringVar(&f.targetField, "target-field", "", "its vector field or column, if there are several")
	fl.StringVar(&f.targetKey, "target-key", "", "key column, or field of OpenSearch; default: the primary key, or _id")
	fl.StringVar(&f.consistency, "consistency", "", "strong, bounded, session or eventually; default: the collection's")
	fl.BoolVar(&f.ignoreGrowing, "ignore-growing", false, "make Milvus ignore growing segments (2.2.3 and later)")
}

func (f *loadFlags) check() error {
	switch {
	case f.rounds < 1:
		return cli.Usagef("--rounds must be 1 or more, not %d", f.rounds)
	case f.round <= 0 && f.requests <= 0:
		return cli.Usagef("--round must be above 0, not %s", f.round)
	case f.rate < 0 || math.IsNaN(f.rate) || math.IsInf(f.rate, 0):
		return cli.Usagef("--rate must be requests per second above 0, not %g", f.rate)
	case !(f.speed > 0):
		return cli.Usagef("--speed must be above 0, not %g", f.speed)
	case f.timed && f.rate > 0:
		return cli.Usage(errors.New("--timed and --rate both set the times"), "use only one of them")
	case f.poisson && f.rate == 0:
		return cli.Usage(errors.New("--poisson needs --rate"), "for example: --rate 100")
	case f.deadline <= 0:
		return cli.Usagef("--deadline must be above 0, not %s", f.deadline)
	case f.warmup < 0 || f.total < 0 || f.requests < 0 || f.maxTime < 0:
		return cli.Usagef("--warmup, --total, --requests and --max-time must be 0 or more")
	}
	return nil
}

// checkUnusedFlags returns an error if a flag has no effect.
func (f *loadFlags) checkUnusedFlags(cmd *cobra.Command) (err error) {
	if !f.timed {
		err = requireFlag(cmd, "timed", "speed")
	}
	if f.save == "" {
		err = cmp.Or(err, requireFlag(cmd, "out", "force"))
	}
	if f.requests > 0 {
		err = cmp.Or(err, rejectFlags(cmd, "requests", "round"))
	}
	if f.target != "" {
		return err
	}
	return cmp.Or(err,
		requireFlag(cmd, "target", "target-password-file", "target-collection", "target-field", "target-key",
			"consistency", "ignore-growing"))
}

func (f *loadFlags) plan(sessions int, seed uint64) load.Plan {
	p := load.Plan{
		Sessions: sessions, Rate: f.rate, Timed: f.timed, Speed: f.speed, Poisson: f.poisson, Seed: seed,
		Warmup: f.warmup, Round: f.round,
		Requests: f.requests, Rounds: f.rounds, Deadline: f.deadline, Total: f.total,
	}
	if f.target == "" { // for a server see findServer
		p.CPU, p.Switches = cli.CPUClock(), cli.SwitchClock()
	}
	if f.requests > 0 {
		p.Round = 0
	}
	return p
}

// writeResult saves a result and shows it. It shows the result even if saving fails, e.g. on a full disk.
// With a baseline, text output has both the result and the comparison. Structured formats have only the
// comparison because they hold a single document.
func (f *loadFlags) writeResult(
	a *cli.App, r, baseline *replay.Result, format render.Format, o render.ReportOptions,
) error {
	unsaved := f.saveResult(a, r)
	return errors.Join(a.Write(func(w *bufio.Writer) error { return writeComparison(w, r, baseline, format, o) }),
		unsaved)
}

func (f *loadFlags) saveResult(a *cli.App, r *replay.Result) error {
	return a.SaveResult(f.save, f.force, func(w io.Writer) error { return replay.WriteResult(w, r) })
}

// resultSchema returns the schema of the list of a result: the points, or the figures of the comparison with a
// baseline.
func resultSchema(baseline string) func(o render.ReportOptions) *table.Schema {
	if baseline != "" {
		return replays.ComparisonSchema
	}
	return replays.PointSchema
}

func writeComparison(w *bufio.Writer, r, baseline *replay.Result, format render.Format, o render.ReportOptions) error {
	if baseline == nil {
		return replays.WriteResult(w, r, format, o)
	}
	if !format.Structured() {
		if err := replays.WriteResult(w, r, format, *o.WithoutQuery()); err != nil {
			return err
		}
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return replays.WriteComparison(w, baseline, r, format, o)
}
