package main

import (
	"bufio"
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/inspect/why"
	show "kitescope/render/latency"
)

// whyFlags holds the flags of the why command.
type whyFlags struct {
	diagnose diagnoseFlags // reads the same data as diagnose
	report   cli.ReportFlags
	requests []string
}

const helpWhy = `Explain why requests fail, hang or take as long as they do. Problems that
clients notice come first: where they occur, the cause and what to do. Then, for searches,
queries and writes that completed, the phases of a mean request (5% and more), the
largest first, and the finding that explains each, with what to do and how much
time it would save.

It combines the measurements of kitescope latency with the findings of kitescope
diagnose. If a finding has no estimate of its gain, the phase itself is the upper
bound. With --profile or --profiles it also lists the most expensive functions of
the processes waited for longest.`

func whyCommand(a *cli.App) *cobra.Command {
	var f whyFlags
	cmd := &cobra.Command{
		Use:  "why [COLLECTION]",
		Long: helpWhy,
		Example: `  kitescope why --from etcd://10.0.0.5:2379
  kitescope why docs --request search --window 30s
  kitescope why docs --profile 10s
  kitescope why --from support.kite
  kitescope why --runtime metrics/
  kitescope why --from support.kite -o json | jq -r '.verdicts[0].verdict'`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteCollections,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args) },
	}
	fl := cmd.Flags()
	f.report.Register(cmd, show.WhyFormats(), 0, "")
	f.report.List(cmd, show.WhySchema, "'share>0.1'", "-gain_high", "+object")
	fl.StringSliceVar(&f.requests, "request", nil, "only these: search, query, insert, upsert, delete")
	f.diagnose.registerProfiles(fl, "show frames of these profiles")
	a.AddAt(cmd)
	f.diagnose.nodes = cli.AddNodeFlags(cmd, true)
	f.diagnose.nodes.Outage, f.diagnose.nodes.Linger = true, true
	_ = cmd.RegisterFlagCompletionFunc("request", cli.FixedCompletions(requestWords()...))
	return cmd
}

func (f *whyFlags) run(a *cli.App, cmd *cobra.Command, args []string) error {
	q := &latencyQuery{App: a, flags: &latencyFlags{nodes: f.diagnose.nodes, requests: f.requests}}
	if len(args) > 0 {
		q.collection = args[0]
	}
	if err := q.flags.check("why"); err != nil {
		return err
	}
	var err error
	if q.format, q.options, err = f.report.Parse(a, cmd); err != nil {
		return err
	}
	if err := f.diagnose.checkProfileFlags(); err != nil {
		return err
	}
	c, err := f.load(cmd.Context(), a)
	if err != nil {
		return err
	}
	var judge check.Judge
	l := judge.Latency(c)
	budgets, err := q.choose(l)
	if err != nil {
		_ = a.Completeness(c) // the requested object may be in the part that could not be read
		return err
	}
	report := judge.Run(c, view.NewEnv(c, a.Now()).Now, rules.All())
	r := &show.WhyReport{
		Latency: l, Answers: why.Explain(budgets, report), Report: report,
		Where: cmp.Or(c.Origin.Location, strings.Join(f.diagnose.nodes.Recordings, ", ")), Version: cli.Version,
		At: l.Window.To,
	}
	if err := a.Write(func(w *bufio.Writer) error { return show.WriteWhy(w, r, q.format, q.options) }); err != nil {
		return err
	}
	return cmp.Or(q.complete(c, l), cli.CheckRead(c))
}

// load reads the cluster that the checks run on, with profiles if --profile or --profiles is set. Without them,
// /metrics texts alone are enough.
func (f *whyFlags) load(ctx context.Context, a *cli.App) (*model.Cluster, error) {
	if f.diagnose.profile == 0 && f.diagnose.profiles == "" {
		return a.LoadRuntime(ctx, f.diagnose.nodes, meta.Want{Parts: model.PartAll})
	}
	conn, err := a.Connection()
	if err != nil {
		return nil, err
	}
	d := &diagnosis{flags: f.diagnose, want: meta.Want{Parts: model.PartAll}}
	return d.loadJudged(ctx, a, conn)
}
