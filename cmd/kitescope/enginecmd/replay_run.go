package enginecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/cmd/kitescope/cli"
	"kitescope/internal/hints"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/profile/pull"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/log"
)

// runFlags are the flags of "replay run" and "replay sweep".
type runFlags struct {
	in       replayInput
	queries  queryFlags
	load     loadFlags
	vectors  vectorFile
	screen   replayScreen
	sweep    bool
	sessions string // a list for a sweep
	efs      string
	ef       int // of a run, for requests without ef
	rates    string
}

// sessionsFlag returns the name of the flag for sessions.
func (f *runFlags) sessionsFlag() string {
	if f.sweep {
		return "concurrency"
	}
	return "sessions"
}

const helpRun = `Run each query on every segment like the cluster's nodes: growing and unindexed
segments row by row, indexed ones with their own index files; reduced by node and
shard leader, merged like the proxy does. QPS and latency are for this machine, with
all nodes' work on it and no network; "replay whatif" predicts a cluster's. Recall is
measured against the true neighbours of all loaded rows (--truth).

`

func replayRun(a *cli.App) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run COLLECTION",
		Long: helpRun + `With --target a real Milvus (2.1 to 2.6), PostgreSQL with pgvector, OpenSearch or
MariaDB is queried instead, within --rate, --total and --max-time, and its answers are
compared with the engine's. Without a cluster, --vectors has its vectors.`,
		Example: `  kitescope replay run docs --from cluster.kite --storage /backup/milvus
  kitescope replay run docs --queries q.jsonl --sessions 4 -O before.json
  kitescope replay run docs --queries q.npy --target 10.0.0.5:19530 --rate 50`,
		Args: oneCollection("kitescope replay run docs"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args) },
	}
	f.register(a, cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.sessions, "sessions", "1", "concurrent sessions; with --rate at most")
	fl.StringVar(&f.efs, "ef", "", "candidates of an HNSW search, if not in the log")
	fl.StringVar(&f.rates, "rate", "", "requests per second, without waiting for answers")
	fl.StringVar(&f.load.baseline, "baseline", "", "an earlier result to compare with")
	return cmd
}

func replaySweep(a *cli.App) *cobra.Command {
	f := runFlags{sweep: true}
	cmd := &cobra.Command{
		Use: "sweep COLLECTION",
		Long: helpRun + `A sweep measures each combination of --concurrency (or --rate) and --ef, and marks the
Pareto-optimal points in recall and QPS.`,
		Example: `  kitescope replay sweep docs --concurrency 1,4,16 --ef 16,64 -O sweep.json
  kitescope replay sweep docs --rate 100,200,400 --concurrency 64
  kitescope replay sweep docs --target 10.0.0.5:19530 --baseline before.json`,
		Args: oneCollection("kitescope replay sweep docs --concurrency 1,2,4"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args) },
	}
	f.register(a, cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.sessions, "concurrency", "1,2,4,8,16,32,48", "concurrent sessions; with --rate at most")
	fl.StringVar(&f.efs, "ef", "", "candidates of an HNSW search: 16,32,64,128")
	fl.StringVar(&f.rates, "rate", "", "requests per second: 100,200,400")
	fl.StringVar(&f.load.baseline, "baseline", "", "an earlier sweep to compare with")
	return cmd
}

// register adds the flags that run and sweep share.
func (f *runFlags) register(a *cli.App, cmd *cobra.Command) {
	f.in.register(a, cmd)
	f.queries.register(cmd, false)
	f.load.register(cmd)
	f.load.registerTarget(cmd)
	f.vectors.register(cmd)
	f.screen.register(cmd)
}

// grid returns the points that the flags define.
func (f *runFlags) grid() (o replay.RunOptions, err error) {
	if o.Sessions, err = numberList(f.sessionsFlag(), f.sessions); err != nil {
		return o, err
	}
	for _, n := range o.Sessions {
		if n > maxThreads {
			return o, cli.Usagef("%d sessions exceed the limit of %d", n, maxThreads)
		}
	}
	if f.efs != "" {
		if o.EF, err = numberList("ef", f.efs); err != nil {
			return o, err
		}
	}
	if f.rates != "" {
		if o.Rates, err = rateList(f.rates); err != nil {
			return o, err
		}
		f.load.rate = o.Rates[0]
		if len(o.Sessions) > 1 {
			o.Sessions = []int{slices.Max(o.Sessions)} // in an open loop sessions are a maximum
		}
	}
	if f.sweep {
		return o, nil
	}
	for name, n := range map[string]int{"sessions": len(o.Sessions), "ef": len(o.EF), "rate": len(o.Rates)} {
		if n > 1 {
			return o, cli.Usage(fmt.Errorf("--%s takes one number", name), "for several: kitescope replay sweep")
		}
	}
	// In a run --ef applies to requests without ef. In a sweep it applies to all requests.
	if len(o.EF) == 1 {
		f.ef, o.EF = o.EF[0], nil
	}
	return o, nil
}

func (f *runFlags) run(a *cli.App, cmd *cobra.Command, args []string) error {
	o, err := f.grid()
	if err != nil {
		return err
	}
	for _, check := range []func() error{
		f.load.check, f.queries.check, func() error { return f.checkUnusedFlags(cmd) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := f.screen.check(a, cmd); err != nil {
		return err
	}
	format, ro, err := f.load.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	baseline, err := readBaseline(f.load.baseline)
	if err != nil {
		return err
	}
	if err := a.CheckWritable(f.load.save, f.load.force); err != nil {
		return err
	}
	if f.screen.open {
		return f.runReplayUI(a, cmd, o, args)
	}
	ctx := cmd.Context()
	report, clearLine := statusLine(a)
	r, data, err := f.measure(ctx, a, cmd, o, args, report, clearLine)
	if err != nil {
		return err
	}
	defer data.Release()
	if err := f.load.writeResult(a, r, baseline, format, ro); err != nil {
		return err
	}
	return replayOutcome(ctx, a, r, data)
}

// measure loads the segments and the queries, runs the queries and returns the result. The caller releases
// the segments.
func (f *runFlags) measure(
	ctx context.Context, a *cli.App, cmd *cobra.Command, o replay.RunOptions, args []string, report progress,
	clearLine func(),
) (*replay.Result, *loadedData, error) {
	defer clearLine()
	data, err := f.loadData(ctx, a, args[0], report)
	if err != nil {
		return nil, nil, err
	}
	clearLine() // notes get lines of their own
	queries, err := f.queries.readQueries(ctx, a, data)
	if err != nil {
		data.Release()
		return nil, nil, err
	}
	defer queries.Close()
	o.Progress = report.run
	o.Setup.Command = replayCommandLine(cmd, args)
	if f.queries.force && cmd.Flags().Changed("k") {
		f.queries.forceK = true
	}
	r, err := f.measureReplay(ctx, a, o, data, queries)
	if err != nil {
		data.Release()
		return nil, nil, err
	}
	return r, data, nil
}

// loadData loads the segments of a collection, or the file with the vectors of a target.
func (f *runFlags) loadData(ctx context.Context, a *cli.App, name string, report progress) (*loadedData, error) {
	if f.vectors.path != "" {
		if err := f.in.check(); err != nil {
			return nil, err
		}
		return f.vectors.load(ctx, a, name, f.in.metric)
	}
	return f.in.loadSegments(ctx, a, name, report)
}

// checkUnusedFlags returns an error if a flag has no effect in combination with the others.
func (f *runFlags) checkUnusedFlags(cmd *cobra.Command) error {
	return cmp.Or(f.queries.checkUnusedFlags(cmd), f.in.checkUnusedFlags(cmd), f.load.checkUnusedFlags(cmd),
		f.vectors.checkUnusedFlags(cmd, f.load.target, f.in.metric))
}

// measureReplay resolves the requests and the target and runs the requests.
func (f *runFlags) measureReplay(
	ctx context.Context, a *cli.App, o replay.RunOptions, data *loadedData, queries *log.Log,
) (*replay.Result, error) {
	c := &data.Layout.Collection
	var err error
	var server *localServer
	if o.Requests, err = replay.Requests(queries, c, f.requestParams()); err != nil {
		return nil, err
	}
	if err := f.in.readFilters(ctx, a, data, queries); err != nil {
		return nil, err
	}
	o.Loaded, o.Log, o.Truth = data.Loaded, queries, f.queries.truthFrom()
	if o.Truth == replay.LogTruth && queries.Truth == nil {
		return nil,
			cli.Usage(fmt.Errorf("%s has no true neighbours", f.queries.path),
				"use --truth exact to compute them, or --truth FILE")
	}
	o.Engine = replay.TargetOptions{Options: replay.OptionsFor(data.Layout.Version), Replica: f.in.replica}
	o.Plan = f.load.plan(o.Sessions[0], f.queries.draw.seed)
	o.Setup.Program, o.Setup.Storage, o.Setup.LogSeed = cli.Version, absPath(data.place), f.queries.draw.seed
	o.Now = a.Now
	if f.load.target != "" {
		target, err := f.load.openLive(ctx, a, f.in.nodes, data)
		if err != nil {
			return nil, err
		}
		if err := data.matchTarget(target.Description()); err != nil {
			return nil, err
		}
		o.Target, o.Differences = target, true
		if err := f.watchProcesses(a, data, &o); err != nil {
			return nil, err
		}
		if server, err = findServer(ctx, a, target); err != nil && o.Watch == nil {
			a.Note("CPU and context switches of the server are unknown: %v", err)
		} else if server != nil {
			server.setClocks(ctx, &o.Plan)
		}
	}
	running := ctx
	if f.load.maxTime > 0 {
		var stop context.CancelFunc
		running, stop = context.WithTimeout(ctx, f.load.maxTime)
		defer stop()
	}
	a.ExtendGracePeriod()
	r, err := replay.Run(running, o)
	if err == nil && server != nil {
		server.noteCPU(ctx, r)
	}
	return r, err
}

// pointText names a point of a run, e.g. "point 2 of 7: 8 sessions, ef 64".
func pointText(p replay.RunProgress) string {
	text := words.Plural(p.Sessions, "session")
	if p.EF > 0 {
		text += ", ef " + strconv.Itoa(p.EF)
	}
	if p.Points > 1 {
		text = fmt.Sprintf("point %d of %d: %s", p.Point+1, p.Points, text)
	}
	return text
}

// loadText formats the progress of a point and its figures so far.
func loadText(l *load.Progress) string {
	switch {
	case l.Warming:
		return "warming up"
	case l.Asked == 0:
		return ""
	}
	text := fmt.Sprintf("round %d of %d, %.0f QPS, p99 %s", l.Round+1, l.Rounds, l.QPS, words.Latency(l.P99, true))
	if l.Failed > 0 {
		text += fmt.Sprintf(", %d failed", l.Failed)
	}
	return text
}

// replayOutcome returns the error that ends a command after it showed a result.
func replayOutcome(ctx context.Context, a *cli.App, r *replay.Result, data *loadedData) error {
	if ctx.Err() != nil {
		return &cli.CodeError{Code: cli.ExitInterrupted, Err: ctx.Err()}
	}
	for i := range r.Points {
		if p := &r.Points[i]; p.Asked > 0 && p.Failed == p.Asked {
			return errors.New("every request failed")
		}
		if p := &r.Points[i]; p.Asked == 0 && p.Latency.Count == 0 {
			hint := "use longer rounds: --round"
			if p.Total > 0 {
				hint = "--total includes the warm-up: raise it, or use --warmup 0s"
			}
			return &hints.Error{
				Err: fmt.Errorf("nothing was measured: %s",
					cmp.Or(p.Stopped, "no request was sent after the warm-up")),
				Advice: hint,
			}
		}
	}
	if len(r.Cover.Missing) > 0 {
		if a.Flags.Strict {
			return &cli.CodeError{
				Code: cli.ExitIncomplete,
				Err:  fmt.Errorf("%d segments were not loaded completely", len(r.Cover.Missing)),
			}
		}
	}
	if data == nil || data.cluster == nil {
		return nil
	}
	return a.Completeness(data.cluster)
}

// readBaseline reads an earlier result. It returns nil if path is "".
func readBaseline(path string) (*replay.Result, error) {
	if path == "" {
		return nil, nil
	}
	return readResult(path)
}

func readResult(path string) (*replay.Result, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	defer file.Close()
	r, err := replay.ReadResult(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return r, nil
}

// replayCommandLine returns the command line that is recorded in a result, with credentials removed from
// addresses.
func replayCommandLine(cmd *cobra.Command, args []string) string {
	words := append([]string{cmd.CommandPath()}, cli.RedactWords(args)...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, value := range cli.FlagValues(f) {
			if strings.Contains(value, "://") || f.Name == "target" {
				value = pull.RedactWord(value)
			}
			words = append(words, shellquote.Word("--"+f.Name+"="+value))
		}
	})
	return strings.Join(words, " ")
}

// rateList parses a list of rates in requests per second.
func rateList(text string) ([]float64, error) {
	var list []float64
	for word := range strings.SplitSeq(text, ",") {
		r, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(r > 0) || math.IsInf(r, 0) {
			return nil, cli.Usagef("--rate must be comma-separated requests per second above 0, not %q", text)
		}
		list = append(list, r)
	}
	return list, nil
}
