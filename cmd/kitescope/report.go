package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/cmd/kitescope/enginecmd"
	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/view"
	"kitescope/profile/flame"
	"kitescope/profile/pull"
	"kitescope/render"
	"kitescope/render/cases"
	"kitescope/render/clusters"
)

// reportFlags holds the flags of the report command.
type reportFlags struct {
	diagnose diagnoseFlags // reads the same data as diagnose
	format   string
	out      string
	force    bool
	replays  []string
	events   int
}

const helpReport = `Write a report of a case as one document to mail or attach to a ticket: what is
wrong, the impact, since when, the command that fixes it, and the gain; then where
the time of requests goes, the findings, the balance with one script of moves, the
flame graph of the busiest process, recent events, and replays.

It reads the same data as diagnose and why. Profiles come from --profile,
--profiles, or the bundle or recording itself. Events and start times come from
the history that etcd or its file keeps; a bundle has none.

The page needs no network and no other file.`

func reportCommand(a *cli.App) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:  "report",
		Long: helpReport,
		Example: `  kitescope report --from etcd://10.0.0.5:2379 --profile 5s -O report.html
  kitescope report --from support.kite -o markdown
  kitescope report --from rec/ --since 09:00 --replay before.json -O report.html`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.format, "output", "o", "", "html or markdown; default: by the extension of -O, else html")
	fl.StringVarP(&f.out, "out", "O", "", "write to this file; default: standard output")
	fl.BoolVar(&f.force, "force", false, "replace the file if it exists")
	fl.StringVar(&f.diagnose.since, "since", "1h", "show events since this time: 09:00, 10m, rev:24519")
	fl.IntVar(&f.events, "events", 200, "maximum number of events, the newest; 0 for all")
	fl.StringArrayVar(&f.replays, "replay", nil, "show this saved result of kitescope replay; repeatable")
	fl.StringVar(&f.diagnose.baseline, "baseline", "", "file of accepted findings")
	f.diagnose.registerProfiles(fl, "check these profiles as well")
	fl.StringVar(&f.diagnose.storage, "storage", "", "check segment files in this place, as diagnose does")
	a.AddAt(cmd)
	f.diagnose.nodes = cli.AddNodeFlags(cmd, true)
	_ = cmd.RegisterFlagCompletionFunc("output", cli.FixedCompletions("html", "markdown"))
	return cmd
}

// parse validates the flags before the source is opened. It returns the diagnosis, the format and the output.
func (f *reportFlags) parse(
	a *cli.App,
) (d *diagnosis, format render.Format, write func(func(io.Writer) error) error, err error) {
	word := f.format
	if word == "" && f.out != "" {
		word = map[string]string{"md": "markdown"}[cli.Extension(f.out)]
	}
	if word == "" {
		word = "html"
	}
	if format, err = cases.Formats().Parse(word); err != nil {
		return nil, format, nil, cli.Usage(err, "one of: html, markdown")
	}
	if word == "html" && f.out == "" && a.OutTTY {
		return nil, format, nil, cli.Usage(errors.New("an HTML page is unreadable in a terminal"),
			"write it to a file: -O report.html; or: -o markdown")
	}
	if f.events < 0 {
		return nil, format, nil, cli.Usagef("--events must be 0 or more, not %d", f.events)
	}
	if err = f.diagnose.checkProfileFlags(); err == nil {
		err = f.diagnose.checkMoment(a)
	}
	if err != nil {
		return nil, format, nil, err
	}
	d = &diagnosis{flags: f.diagnose, checks: rules.All()}
	d.want.Parts = model.PartAll
	if err := d.since.Set(f.diagnose.since); err != nil {
		return nil, format, nil, cli.Usagef("--since: %v", err)
	}
	if d.baseline, err = readBaseline(f.diagnose.baseline); err != nil {
		return nil, format, nil, err
	}
	write, err = a.NewOutput(f.out, f.force)
	return d, format, write, err
}

func (f *reportFlags) run(ctx context.Context, a *cli.App) error {
	d, format, write, err := f.parse(a)
	if err != nil {
		return err
	}
	c := &cases.Case{Version: cli.Version}
	if c.Replays, c.WhatIf, err = enginecmd.ReadSeries(f.replays); err != nil {
		return err
	}
	cluster, err := f.load(ctx, a, d, c)
	if err != nil {
		return err
	}
	env := view.NewEnv(cluster, a.Now())
	judge := new(check.Judge)
	report := d.judge(a, cluster, judge)
	c.Where = cluster.Origin.Location
	c.Diagnosis = &clusters.Diagnosis{Bar: check.Threshold{Never: true}}
	c.Diagnosis.Report, c.Diagnosis.Stale = d.baseline.Apply(report, d.checks)
	c.Measure(env, judge.Latency(cluster))
	if err := f.addHistory(ctx, a, d, c); err != nil {
		return err
	}
	if err := write(func(w io.Writer) error { return cases.Write(w, c, format) }); err != nil {
		return err
	}
	return d.reportMissing(a, cluster, report)
}

// load reads the cluster with all data that checks need, and builds the flame graph of the busiest process.
// Without a CPU profile, it adds a note instead.
func (f *reportFlags) load(ctx context.Context, a *cli.App, d *diagnosis, c *cases.Case) (*model.Cluster, error) {
	conn, err := a.Connection()
	if err != nil {
		return nil, err
	}
	cluster, err := d.loadWith(ctx, a, conn,
		func(ctx context.Context, record *pull.Record, profiles *model.Profiles) error {
			busiest, err := busiestProcess(ctx, record, profiles)
			c.Busiest = busiest
			return err
		})
	if err == nil && c.Busiest == nil {
		c.Notes = append(c.Notes,
			"No flame graph: no CPU profile was taken (--profile 5s takes some, --profiles reads some).")
	}
	return cluster, err
}

// minFrameShare is the share of the total below which a frame is dropped from the flame graph.
const minFrameShare = 0.005

// busiestProcess returns the flame graph of the process that uses the most CPU time, or nil without CPU profiles.
func busiestProcess(ctx context.Context, record *pull.Record, profiles *model.Profiles) (*cases.Busiest, error) {
	p, x, err := session.Busiest(ctx, record, profiles)
	if p == nil || err != nil {
		return nil, err
	}
	tree, err := flame.New(p.FoldPreempt(), flame.Options{SampleIndex: "cpu", MinShare: minFrameShare})
	if err != nil {
		return nil, fmt.Errorf("build the flame graph of %s: %w", x.Name, err)
	}
	return &cases.Busiest{Process: x.Name, Cores: x.CPU.Cores, Tree: tree}, nil
}

// addHistory adds the timeline of events and the start of each finding to the case, if the source has a history.
// Otherwise it adds a note with the reason.
func (f *reportFlags) addHistory(ctx context.Context, a *cli.App, d *diagnosis, c *cases.Case) error {
	h, err := d.addStarts(ctx, a, c.Diagnosis)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case h == nil:
		c.Notes = append(c.Notes, "No timeline, and when findings began is unknown: "+err.Error()+".")
		return nil
	case err != nil:
		c.Notes = append(c.Notes, "When findings began is unknown: "+err.Error()+".")
	}
	if !h.ToTime.IsZero() || !d.since.IsTime() {
		w := history.Filter{Since: d.since.When(h.ToTime), SinceRevision: d.since.Revision()}
		c.History = &clusters.HistoryReport{History: h, Events: f.recentEvents(h, w), Wanted: w}
	}
	return nil
}

// recentEvents returns the newest matching events. --events limits their number; 0 means no limit.
func (f *reportFlags) recentEvents(h *history.History, w history.Filter) []int {
	events := h.Select(w)
	if f.events > 0 && len(events) > f.events {
		events = events[len(events)-f.events:]
	}
	return events
}
