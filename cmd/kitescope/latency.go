package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/history"
	"kitescope/inspect/latency"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/render"
	show "kitescope/render/latency"
)

// latencyFlags holds the flags of the latency command.
type latencyFlags struct {
	nodes    *cli.NodeFlags
	report   cli.ReportFlags
	requests []string
	watch    bool
	interval time.Duration
}

const helpLatency = `Show where the time of searches, queries and writes goes, from the metrics of all
processes: the largest part, then the phases of a mean request. Phases of one level
add up to the one above; unexplained time is a phase of its own.

A request waits for its slowest shard, worker and segment, and Milvus does not
report which was the slowest: phases below wait_for_nodes are estimates (~), with
bounds in -o wide. Nodes do not report metrics per collection: a collection's
phases are split by what is known about it.

A live cluster is queried twice, --window apart. A file, a recording or /metrics
texts (--runtime FOLDER, no --from needed) cover the time between two scrapes of a
process, or else since its start. Failed requests are counted, not measured.`

func latencyCommand(a *cli.App) *cobra.Command {
	var f latencyFlags
	cmd := &cobra.Command{
		Use:  "latency [COLLECTION]",
		Long: helpLatency,
		Example: `  kitescope latency --from etcd://10.0.0.5:2379
  kitescope latency docs --request search --window 30s
  kitescope latency --runtime metrics/
  kitescope latency --from support.kite -o html > latency.html`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteCollections,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args) },
	}
	fl := cmd.Flags()
	f.report.Register(cmd, show.Formats(), 0, "")
	f.report.List(cmd, show.Schema, "'share>0.1'", "-mean_ms", "+why")
	fl.StringSliceVar(&f.requests, "request", nil, "only these: search, query, insert, upsert, delete")
	fl.BoolVarP(&f.watch, "watch", "w", false, "print a line per round until interrupted (live sources)")
	fl.DurationVar(&f.interval, "interval", 10*time.Second, "with --watch: time between two rounds")
	a.AddAt(cmd)
	f.nodes = cli.AddNodeFlags(cmd, true)
	_ = cmd.RegisterFlagCompletionFunc("request", cli.FixedCompletions(requestWords()...))
	return cmd
}

// latencyParts lists the parts of the metadata that latency reads in addition to metrics, to describe collections.
const latencyParts = model.PartCatalog | model.PartSegments

// latencyQuery is a parsed latency command line. It is validated before the source is opened.
type latencyQuery struct {
	*cli.App
	flags      *latencyFlags
	collection string
	format     render.Format
	options    render.ReportOptions
	shown      time.Time // end of the last window printed
}

func (f *latencyFlags) run(a *cli.App, cmd *cobra.Command, args []string) error {
	if err := f.check("latency"); err != nil {
		return err
	}
	q := &latencyQuery{App: a, flags: f}
	if len(args) > 0 {
		q.collection = args[0]
	}
	var err error
	if q.format, q.options, err = f.report.Parse(a, cmd); err != nil {
		return err
	}
	if f.watch {
		return q.watch(cmd.Context())
	}
	c, err := a.LoadRuntime(cmd.Context(), f.nodes, meta.Want{Parts: latencyParts})
	if err != nil {
		return err
	}
	l := latency.Compute(c)
	budgets, err := q.choose(l)
	if err != nil {
		_ = a.Completeness(c) // the requested object may be in the part that could not be read
		return err
	}
	if err := a.Write(func(w *bufio.Writer) error {
		return show.Write(w, q.newReport(c, l, budgets), q.format, q.options)
	}); err != nil {
		return err
	}
	return q.complete(c, l)
}

// requestWords returns the names of the kinds of requests.
func requestWords() []string {
	return []string{
		string(latency.Search), string(latency.Query), string(latency.Insert), string(latency.Upsert),
		string(latency.Delete),
	}
}

// check returns a usage error if --request names an unknown kind of request.
func (f *latencyFlags) check(command string) error {
	for _, word := range f.requests {
		if known := requestWords(); !slices.Contains(known, word) {
			return cli.Usage(&view.UnknownError{What: "kind of request", Word: word, Known: known},
				"see: kitescope "+command+" --help")
		}
	}
	return nil
}

// complete prints the parts of the metadata that could not be read. Under --strict it returns exit code 4 if
// there are any, or if a process that handles requests did not respond. The report itself lists these processes.
// It ignores missing responses of other processes.
func (q *latencyQuery) complete(c *model.Cluster, l *latency.Latency) error {
	if err := q.Completeness(c.WithRuntime(nil)); err != nil || !q.Flags.Strict || len(l.Unknown) == 0 {
		return err
	}
	return &cli.CodeError{Code: cli.ExitIncomplete}
}

// newReport returns the report that is written for a cluster.
func (q *latencyQuery) newReport(c *model.Cluster, l *latency.Latency, budgets []*latency.Budget) *show.Report {
	return &show.Report{
		Latency: l, Budgets: budgets, Where: cmp.Or(c.Origin.Location, strings.Join(q.flags.nodes.Recordings, ", ")),
		Version: cli.Version, At: l.Window.To,
	}
}

// choose returns the budgets that match the collection and the kinds of requests on the command line. It returns
// an error if the collection is unknown or has no requests.
func (q *latencyQuery) choose(l *latency.Latency) ([]*latency.Budget, error) {
	var list []*latency.Budget
	known := false
	var names []string
	for _, b := range l.Budgets {
		if b.Name != "" && !slices.Contains(names, b.Name) {
			names = append(names, b.Name)
		}
		named := q.collection == "" || b.Name == q.collection || b.Database+"."+b.Name == q.collection
		known = known || named
		if named && (len(q.flags.requests) == 0 || slices.Contains(q.flags.requests, string(b.Request))) {
			list = append(list, b)
		}
	}
	if !known && q.collection != "" {
		if len(names) == 0 {
			return nil, fmt.Errorf("no requests to collection %s: %s", q.collection, show.EmptyText(l))
		}
		return nil, &view.UnknownError{What: "collection with requests", Word: q.collection, Known: names}
	}
	return list, nil
}

// watch writes the full report once, and after that one line per budget and round. Structured formats get all
// items of each round instead.
func (q *latencyQuery) watch(ctx context.Context) error {
	switch {
	case q.flags.interval <= 0:
		return cli.Usagef("--interval must be above 0, not %s", q.flags.interval)
	case !slices.Contains([]string{"table", "wide", "jsonl"}, q.format.Name()):
		return cli.Usage(fmt.Errorf("--watch cannot write %s: it needs an end", q.format.Name()),
			"use -o table, wide or jsonl")
	case len(q.flags.nodes.Recordings) > 0 || !q.flags.nodes.Live:
		return cli.Usage(errors.New("--watch queries live processes: it cannot be combined with --runtime or "+
			"--live=false"), "use only one of them")
	}
	lost := newLossReporter(q.App)
	f := watchedSource{App: q.App, nodes: q.flags.nodes, want: meta.Want{Parts: latencyParts}, every: q.flags.interval}
	return f.run(ctx, func(u history.Update) error {
		lost.handle(u)
		if u.Cluster == nil || u.Cluster.Runtime == nil {
			return nil
		}
		return q.round(u.Cluster)
	})
}

// round writes the report of a round, unless its window was already shown.
func (q *latencyQuery) round(c *model.Cluster) error {
	l := latency.Compute(c)
	first := q.shown.IsZero()
	if !first && !l.Window.To.After(q.shown) {
		return nil
	}
	budgets, err := q.choose(l)
	if err != nil { // the collection may not have had a request yet
		budgets = nil
	}
	q.shown = l.Window.To
	if first || q.format.Structured() {
		return q.Write(func(w *bufio.Writer) error {
			return show.Write(w, q.newReport(c, l, budgets), q.format, q.options)
		})
	}
	return q.Write(func(w *bufio.Writer) error { return show.Round(w, l, budgets, q.Now(), q.options) })
}
