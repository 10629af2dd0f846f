package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/redact"
	"kitescope/internal/shellquote"
	"kitescope/replay/log"
)

// slowFlags holds the flags of the slow command.
type slowFlags struct {
	getFlags
	where      []string
	logs       []string
	formats    []string
	strictLog  bool
	slowerThan time.Duration
}

// helpSlow is the text of "kitescope slow --help".
const helpSlow = `List slow requests, slowest first: what they requested, from which collection, and how long
they took.

Proxies of 2.5 and later keep the last 20 searches and queries that took 5 s
(proxy.slowQuerySpanInSeconds) or longer, for 15 minutes. Clients of 3.0 report their
slowest calls (source=client). With authorization, 2.5.27, 2.6.10 and later require
--milvus-user. --access-log reads access logs of proxies (2.3 and later), plain or
compressed; no cluster is needed.

Filter values may be personal: kitescope shows "?" for each, and never the user.
"kitescope get slow-requests --help" lists the columns.`

func slowCommand(a *cli.App) *cobra.Command {
	var f slowFlags
	cmd := &cobra.Command{
		Use:  "slow [COLLECTION] [selector...]",
		Long: helpSlow,
		Example: `  kitescope slow --from etcd://10.0.0.5:2379
  kitescope slow docs --sort -ended_at
  kitescope slow 'took>10s' request=Search -o json
  kitescope slow --access-log access.log --slower-than 500ms`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			return a.CompleteGet(cmd, append([]string{"slow-requests"}, args...), word)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args) },
	}
	fl := cmd.Flags()
	f.register(cmd, "-ended_at,collection", "lasted,collection,expr; +sdk")
	fl.StringArrayVar(&f.where, "where", nil, "only rows that match: 'took>10s'; repeatable")
	fl.StringArrayVar(&f.logs, "access-log", nil, "read this access log of a proxy; repeatable")
	fl.StringArrayVar(&f.formats, "log-format", nil, "line format, if not a default; repeatable")
	fl.BoolVar(&f.strictLog, "strict-log", false, "stop at the first line in no known format")
	fl.DurationVar(&f.slowerThan, "slower-than", 0, "only requests that took longer")
	f.nodes = cli.AddNodeFlags(cmd, true)
	return cmd
}

func (f *slowFlags) run(ctx context.Context, a *cli.App, args []string) error {
	if f.slowerThan < 0 {
		return cli.Usagef("--slower-than must be 0 or more, not %s", f.slowerThan)
	}
	if len(f.logs) == 0 && (len(f.formats) > 0 || f.strictLog) {
		return cli.Usagef("--log-format and --strict-log need --access-log")
	}
	q, err := f.parseQuery(a, slices.Concat([]string{"slow-requests"}, f.words(args), f.where))
	if err != nil {
		return err
	}
	c, err := f.load(ctx, a, q)
	if err != nil {
		return err
	}
	grid, err := q.write(a, c)
	if err != nil {
		return err
	}
	f.printNextCommands(a, grid, q)
	if c.Runtime.Kind == accessLogKind {
		return nil // no process had to be queried
	}
	return q.complete(a, c)
}

// words converts the arguments to selector words. A bare word is a collection; "shop.orders" is the collection
// orders of the database shop.
func (f *slowFlags) words(args []string) []string {
	var words []string
	for _, arg := range args {
		if arg == "" || strings.ContainsAny(arg, "=<>~!*") {
			words = append(words, arg)
			continue
		}
		if database, name, found := strings.Cut(arg, "."); found {
			words, arg = append(words, "database="+database), name
		}
		words = append(words, "collection="+arg)
	}
	if f.slowerThan > 0 {
		words = append(words, "took_seconds>"+f.slowerThan.String())
	}
	return words
}

// maxLogRequests is the maximum number of requests kept from access logs.
const maxLogRequests = 1000

// accessLogKind is the Kind of a Runtime that holds only access logs.
const accessLogKind = "access log"

// load reads the slow requests of the proxies and of the access logs. If only access logs are given, it does not
// need a cluster.
func (f *slowFlags) load(ctx context.Context, a *cli.App, q *getQuery) (*model.Cluster, error) {
	logged, err := f.readLogs(ctx, a)
	if err != nil {
		return nil, err
	}
	if len(f.logs) > 0 && !a.NamesCluster() && len(f.nodes.Recordings) == 0 {
		var nobody *model.Runtime
		return model.Build(model.Parts{}).WithRuntime(nobody.WithLogged(logged)), nil
	}
	q.want.Parts |= model.PartSessions // whether a proxy keeps a list depends on its version
	c, err := a.LoadRuntime(ctx, &q.nodes, q.want)
	if err != nil || len(f.logs) == 0 {
		return c, err
	}
	return c.WithRuntime(c.Runtime.WithLogged(logged)), nil
}

// readLogs returns the slowest requests of the access logs, at most maxLogRequests.
func (f *slowFlags) readLogs(ctx context.Context, a *cli.App) ([]model.SlowRequest, error) {
	if len(f.logs) == 0 {
		return nil, nil
	}
	s, err := log.SlowestFiles(ctx, f.logs, log.SlowestOptions{
		Formats: f.formats, Strict: f.strictLog, From: f.slowerThan, Limit: maxLogRequests,
	})
	if err != nil {
		return nil, err
	}
	for _, note := range s.Notes {
		a.Note("%s", note)
	}
	list := make([]model.SlowRequest, len(s.Requests))
	for i := range s.Requests {
		list[i] = slowRequest(&s.Requests[i])
	}
	return list, nil
}

// slowRequest converts a line of an access log to a request of the model, without the values in its filter.
func slowRequest(l *log.AccessEntry) model.SlowRequest {
	expr := redact.BriefExpression(l.Expr)
	s := model.SlowRequest{
		Source: model.FromAccessLog, EndedAt: l.EndedAt, Database: l.Database, Collection: l.Collection,
		Partitions: l.Partitions, Type: l.Method,
		Expr: expr, NQ: int64(l.NQ), TopK: int64(l.K), Consistency: l.Consistency, Took: l.Took, Trace: l.Trace,
		SDK: l.SDK, Status: l.Status,
	}
	if l.HasExpr {
		s.Filtered = model.TristateOf(expr != "")
	}
	return s
}

// printNextCommands prints the commands that analyze and replay the collection of the slowest request. It prints
// nothing if the output is a document.
func (f *slowFlags) printNextCommands(a *cli.App, g *view.Grid, q *getQuery) {
	if g.Len() == 0 || q.options.Format.Documents() {
		return
	}
	name := g.Table.Cell(g.Row(0), q.resource.Column("collection")).Text
	if name == "" || strings.HasPrefix(name, "-") {
		return
	}
	a.Warn("to see where the time of %s goes: %s", name, shellquote.Shell("kitescope", "latency", name))
	from := "ACCESS-LOG"
	if len(f.logs) > 0 {
		from = f.logs[0]
	}
	a.Warn("to replay its searches: %s, then %s",
		shellquote.Shell("kitescope", "replay", "capture", from, "--collection", name, "--vectors", "QUERIES", "-O",
			name+".jsonl"),
		shellquote.Shell("kitescope", "replay", "run", name, "--queries", name+".jsonl", "--timed"))
}
