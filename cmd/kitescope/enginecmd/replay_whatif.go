package enginecmd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine/segment"
	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/replay"
	"kitescope/replay/whatif"
	pages "kitescope/tui/replays"
)

// whatIfFlags are the flags of "replay whatif".
type whatIfFlags struct {
	in        replayInput
	queries   queryFlags
	changes   []string
	at        int
	rate      float64
	calibrate string
	buildRows int64
	save      string
	force     bool
	report    cli.ReportFlags
	screen    replayScreen
}

func replayWhatIf(a *cli.App) *cobra.Command {
	var f whatIfFlags
	cmd := &cobra.Command{
		Use: "whatif COLLECTION",
		Long: `Predict how the queries would run on the current cluster and on each --change of it.
Segment costs are measured here, on the real vectors: missing indexes are built, up
to --build-rows; other segments cost in proportion. A model of queues turns costs
into queries per second and latencies. Its accuracy is at the end.

A change is a comma-separated list of these words, applied in this order. Without one
the likely causes are tried: growing segments, imbalance, index, ef.

` + changeWords(),
		Example: `  kitescope replay whatif docs --storage /backup/milvus
  kitescope replay whatif docs --change index --change index,balance --rate 200
  kitescope replay whatif docs --change scale=100,nodes=+30,balance`,
		Args: oneCollection("kitescope replay whatif docs --change index"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args) },
	}
	f.in.register(a, cmd)
	f.queries.register(cmd, true)
	cli.RemoveFlags(cmd, "truth", "override", "strict-log", "replica")
	f.screen.register(cmd)
	fl := cmd.Flags()
	fl.StringArrayVar(&f.changes, "change", nil, "a change: index,balance; repeatable")
	fl.IntVar(&f.at, "at", 0, "number of sessions; default 16")
	fl.Float64Var(&f.rate, "rate", 0, "or requests per second")
	cli.WithSection(fl, cli.SectionReplay, func() {
		fl.StringVar(&f.calibrate, "calibrate", "", "overheads from this result of replay run --target")
		fl.Int64Var(&f.buildRows, "build-rows", 200000, "maximum number of rows to build indexes of")
	})
	fl.StringVarP(&f.save, "out", "O", "", "write the prediction to this file")
	fl.BoolVar(&f.force, "force", false, "replace the file if it exists")
	f.report.Register(cmd, render.ReportFormats(), 10, "maximum number of nodes; 0 for all")
	f.report.List(cmd, replays.WhatIfSchema, "'gain>1.1'", "-gain,change", "gain; +critical_node")
	return cmd
}

// changeWords lists the words of --change.
func changeWords() string {
	names, _ := whatif.Words()
	return strings.Join(names, ", ") + " (see: help changes)"
}

func (f *whatIfFlags) run(a *cli.App, cmd *cobra.Command, args []string) error {
	format, ro, err := f.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	in, err := f.input()
	if err == nil {
		err = cmp.Or(f.queries.checkUnusedFlags(cmd), f.in.checkUnusedFlags(cmd))
	}
	if err == nil && f.save == "" {
		err = requireFlag(cmd, "out", "force")
	}
	if err != nil {
		return err
	}
	if err := cmp.Or(a.CheckWritable(f.save, f.force), f.screen.check(a, cmd)); err != nil {
		return err
	}
	if f.calibrate != "" {
		live, err := readResult(f.calibrate)
		if err != nil {
			return err
		}
		if in.Calibration, err = whatif.Calibrate(live); err != nil {
			return err
		}
	}
	if f.screen.open {
		return f.whatIfUI(a, cmd, in, args)
	}
	report, clearLine := statusLine(a)
	r, data, err := f.predict(cmd.Context(), a, cmd, in, args, report, clearLine)
	if err != nil {
		return err
	}
	defer data.Release()
	unsaved := a.SaveResult(f.save, f.force, func(w io.Writer) error { return whatif.WriteReport(w, r) })
	shown := a.Write(func(w *bufio.Writer) error { return replays.WriteWhatIf(w, r, format, ro) })
	if err := errors.Join(shown, unsaved); err != nil {
		return err
	}
	if len(r.Cover.Missing) > 0 && a.Flags.Strict {
		return &cli.CodeError{Code: cli.ExitIncomplete, Err: errors.New("some segments were not loaded completely")}
	}
	return a.Completeness(data.cluster)
}

// whatIfUI predicts while the UI shows the progress.
func (f *whatIfFlags) whatIfUI(a *cli.App, cmd *cobra.Command, in whatif.Input, args []string) error {
	return f.screen.replayUI(a, cmd, args, func(ctx context.Context, report progress) (pages.Data, error) {
		r, data, err := f.predict(ctx, a, cmd, in, args, report, func() {})
		if err != nil {
			return pages.Data{}, err
		}
		data.Release()
		return pages.Data{Report: r},
			a.SaveResult(f.save, f.force, func(w io.Writer) error { return whatif.WriteReport(w, r) })
	})
}

// input returns the input of the prediction, by the flags.
func (f *whatIfFlags) input() (in whatif.Input, err error) {
	if err := f.queries.check(); err != nil {
		return in, err
	}
	if f.at < 0 || !(f.rate >= 0) || f.buildRows < 0 {
		return in, cli.Usagef("--at, --rate and --build-rows must be 0 or more")
	}
	if f.at > 0 && f.rate > 0 {
		return in, cli.Usage(errors.New("--at and --rate both set the load"), "use only one of them")
	}
	for _, text := range f.changes {
		c, err := whatif.ParseChange(text)
		if err != nil {
			return in, cli.Usage(err, "see: kitescope replay whatif --help")
		}
		in.Changes = append(in.Changes, c)
	}
	in.Params = segment.Params{K: f.queries.k, SearchParams: f.queries.searchParams}
	in.Load = whatif.Load{Rate: f.rate, Sessions: f.at}
	in.Seed, in.Limits.BuildRows = f.queries.draw.seed, f.buildRows
	if f.buildRows == 0 {
		in.Limits.BuildRows = -1
	}
	return in, nil
}

// predict loads the segments and the queries and predicts the changes. The caller releases the segments.
func (f *whatIfFlags) predict(
	ctx context.Context, a *cli.App, cmd *cobra.Command, in whatif.Input, args []string, report progress,
	clearLine func(),
) (*whatif.Report, *loadedData, error) {
	defer clearLine()
	data, err := f.in.loadSegments(ctx, a, args[0], report)
	if err != nil {
		return nil, nil, err
	}
	clearLine() // notes get lines of their own
	r, err := f.predictLoaded(ctx, a, in, data, replayCommandLine(cmd, args), report)
	if err != nil {
		data.Release()
		return nil, nil, err
	}
	return r, data, nil
}

func (f *whatIfFlags) predictLoaded(
	ctx context.Context, a *cli.App, in whatif.Input, data *loadedData, command string, report progress,
) (*whatif.Report, error) {
	if len(in.Changes) == 0 {
		in.Changes, in.SkipInvalid = whatif.Causes(data.Layout, cmp.Or(in.Params.EF, 64)), true
	}
	queries, err := f.queries.readQueries(ctx, a, data)
	if err != nil {
		return nil, err
	}
	defer queries.Close()
	if err := f.in.readFilters(ctx, a, data, queries); err != nil {
		return nil, err
	}
	c := &data.Layout.Collection
	in.Loaded, in.Log, in.Progress = data.Loaded, queries, report.step
	in.Setup = replay.Setup{
		Command: command, Program: cli.Version, Source: data.Layout.Source, Storage: absPath(data.place),
		Target:     "engine",
		Collection: c.Name, Milvus: data.Layout.Version, Metric: c.Metric.String(), Dim: c.Dim,
		Element: c.Element.String(), Log: queries.Name,
		LogFormat: queries.Format, LogDigest: queries.Digest, LogSeed: f.queries.draw.seed, Queries: queries.Queries(),
		Machine: replay.ThisMachine(),
	}
	return whatif.Predict(ctx, in)
}
