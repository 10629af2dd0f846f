package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
)

// getFlags holds the flags of the get command and of other commands that list rows.
type getFlags struct {
	cli.ListFlags
	output string
	limit  int
	watch  bool
	noHead bool
	all    bool
	sum    bool
	// unknown shows the values of settings that are not known Milvus settings.
	unknown bool
	nodes   *cli.NodeFlags
	// fails reports whether the rows cause exit code cli.ExitFindings. If nil, no rows do.
	fails func(*view.Grid) bool
}

func getCommand(a *cli.App) *cobra.Command {
	var f getFlags
	cmd := &cobra.Command{
		Use: "get RESOURCE [selector...]",
		Long: `List objects of one kind.

Resources: ` + strings.Join(cli.ResourceNames(), ", ") + `

"kitescope help resources" explains them, "kitescope get RESOURCE --help" lists the
columns of one, "kitescope help selectors" shows how to choose rows.`,
		Example: `  kitescope get collections --from etcd://10.0.0.5:2379
  kitescope get segments coll=docs state=growing 'rows>1e6' --sort -rows
  kitescope get vchannels 'checkpoint_age>5m' -o json
  kitescope get nodes --watch`,
		Args: cli.Args(1, math.MaxInt, "a resource",
			"available: "+strings.Join(cli.ResourceNames(), ", ")),
		ValidArgsFunction: a.CompleteGet,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), a, args)
		},
	}
	fl := cmd.Flags()
	f.register(cmd, "-rows,id", "id,rows,state; +created_at")
	fl.BoolVarP(&f.watch, "watch", "w", false, "show changes until interrupted (live sources)")
	fl.BoolVarP(&f.all, "all", "a", false,
		"also list what is hidden: dropped segments and collections, deleted indexes")
	fl.BoolVar(&f.sum, "sum", false, "keys only: totals by prefix, like get etcd-prefixes")
	cli.AddUnknownSettings(cmd, &f.unknown)
	a.AddAt(cmd)
	f.nodes = cli.AddNodeFlags(cmd, false)
	cli.CompleteFlags(cmd)
	cmd.SetHelpFunc(getHelp(a))
	return cmd
}

// register adds the flags shared by all commands that list rows.
func (f *getFlags) register(cmd *cobra.Command, sorted, columns string) {
	fl := cmd.Flags()
	fl.StringVarP(&f.output, "output", "o", "table", strings.Join(render.ListFormats().Names(), ", "))
	f.Register(cmd, sorted, columns)
	fl.IntVarP(&f.limit, "limit", "n", 0, "maximum number of rows; 0 for all")
	fl.BoolVar(&f.noHead, "no-headers", false, "no header line in table, wide and csv")
	_ = cmd.RegisterFlagCompletionFunc("output", cli.FixedCompletions(render.ListFormats().Names()...))
}

func resourceList() string {
	var b strings.Builder
	for _, r := range view.Resources {
		fmt.Fprintf(&b, "  %-19s  %s\n", r.Name, r.Doc)
	}
	return b.String()
}

// getQuery is a parsed get command line. It is validated before the source is opened.
type getQuery struct {
	resource  *view.Resource
	selection view.Query
	options   render.Options
	want      meta.Want
	nodes     cli.NodeFlags
	// judge runs the checks if the output has a findings column, and is nil otherwise.
	judge  *check.Judge
	report *check.Report
}

func (f *getFlags) parseQuery(a *cli.App, args []string) (*getQuery, error) {
	if r, names, ok := view.ParseNames(args); ok {
		args = append([]string{r.Name}, names...)
	}
	r, err := view.Find(args[0])
	if err != nil {
		return nil, cli.Usage(err, "see: kitescope get --help")
	}
	if f.sum {
		if r, err = sumResource(r); err != nil {
			return nil, err
		}
	}
	if f.limit < 0 {
		return nil, cli.Usagef("--limit must be 0 or more, not %d", f.limit)
	}
	where, err := view.ParseSelection(r, args[1:])
	if err != nil {
		return nil,
			cli.Usage(err,
				"see: kitescope help selectors; columns: "+
					shellquote.Shell("kitescope", "get", r.Name, "--help").String())
	}
	options, err := a.RenderOptions(f.output)
	if err != nil {
		return nil, err
	}
	options.NoHeader, options.KeepColumns, options.Dropped = f.noHead, len(f.Columns) > 0, new(render.DroppedColumns)
	q := &getQuery{resource: r, options: options}
	q.selection = view.Query{
		Where: where, Sort: f.Sort, Columns: f.Columns, Show: options.Format.Show(), Limit: f.limit,
		Omit: !f.all,
	}
	needs, err := q.selection.Needs(r)
	if err != nil {
		return nil, cli.Usage(err, "columns: "+shellquote.Shell("kitescope", "get", r.Name, "--help").String())
	}
	q.nodes = *f.nodes
	q.nodes.Live = q.nodes.Live || q.selection.NeedsRuntime(r) // the query needs data that only nodes have
	q.want = meta.Want{
		Parts: needs &^ view.PartFindings, Collection: where.Collection(), Records: r.Keyspace,
		UnknownSettings: f.unknown,
	}
	if needs.Has(view.PartFindings) || options.Format.Name() == "wide" && len(f.Columns) == 0 {
		q.judge = new(check.Judge)
		q.want.Parts, q.want.Collection = q.want.Parts|model.PartAll, "" // checks on one object read all others
	}
	return q, nil
}

// sumResource returns the resource whose rows are sums of the rows of r. It returns an error unless r is keys.
func sumResource(r *view.Resource) (*view.Resource, error) {
	if r.Name != "keys" {
		return nil, cli.Usagef("--sum adds up keys, not %s", r.Name)
	}
	return view.Find("etcd-prefixes")
}

func (f *getFlags) run(ctx context.Context, a *cli.App, args []string) error {
	q, err := f.parseQuery(a, args)
	if err != nil {
		return err
	}
	if f.watch {
		return q.watch(ctx, a)
	}
	load := a.LoadLive
	if q.resource.Needs == model.PartRuntime && q.judge == nil { // needs no metadata
		load = a.LoadRuntime
	}
	c, err := load(ctx, &q.nodes, q.want)
	if err != nil {
		return err
	}
	grid, err := q.write(a, c)
	if err != nil {
		return err
	}
	if err := cmp.Or(q.complete(a, c), cli.CheckRead(c)); err != nil {
		return err
	}
	if f.fails != nil && f.fails(grid) {
		return &cli.CodeError{Code: cli.ExitFindings}
	}
	return nil
}

// write writes the selected rows to stdout and the footnotes to stderr.
func (q *getQuery) write(a *cli.App, c *model.Cluster) (*view.Grid, error) {
	grid, err := q.selectRows(a, c)
	if err != nil {
		return nil, err
	}
	if err := a.Write(func(w *bufio.Writer) error { return clusters.Grid(w, grid, q.options) }); err != nil {
		return nil, err
	}
	for _, line := range q.footnotes(grid) {
		a.Warn("%s", line)
	}
	return grid, nil
}

// complete prints the parts that could not be read. If there are any, --strict makes it return exit code 4.
func (q *getQuery) complete(a *cli.App, c *model.Cluster) error {
	return a.WarnMissing(q.missingParts(c))
}

// missingParts returns a line for each part that could not be read. For a resource that is read from processes, these
// are the missing responses that the resource needs (at most five lines), and not every session that did not respond.
func (q *getQuery) missingParts(c *model.Cluster) []string {
	if q.resource.Missing == nil {
		return cli.MissingParts(c)
	}
	const most = 5
	lines := cli.MissingParts(c.WithRuntime(nil))
	missing := q.resource.Missing(c)
	for i, line := range missing {
		if i == most {
			return append(lines, fmt.Sprintf("incomplete: and %d more", len(missing)-i))
		}
		lines = append(lines, "incomplete: "+line)
	}
	return lines
}

func (q *getQuery) selectRows(a *cli.App, c *model.Cluster) (*view.Grid, error) {
	env := view.NewEnv(c, a.Now())
	if q.judge != nil {
		q.report = q.judge.Run(c, env.Now, rules.All())
		env = env.WithJudgement(clusters.JudgementOf(q.report))
	}
	return view.Select(q.resource.Table(env), q.selection)
}

// hiddenData returns a line for each kind of data that a table hides, with the flag that shows it: skipped rows,
// columns that do not fit the terminal, and checks that could not run in full.
func (q *getQuery) hiddenData(g *view.Grid) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if g.Skipped > 0 {
		say("%s hidden (--all shows them)", words.Plural(g.Skipped, q.resource.Omits+" "+q.resource.Singular))
	}
	if fit := q.options.Dropped; len(fit.Hidden) > 0 {
		say("hidden to fit the terminal: %s (-o wide shows them)", strings.Join(fit.Hidden, ", "))
	}
	if q.report == nil || q.options.Format.Structured() {
		return lines
	}
	skipped := 0
	for _, x := range q.report.Results {
		if all, _ := q.report.Judged(x.Check.ID); !all {
			skipped++
		}
	}
	if skipped > 0 {
		say("findings are from %d of %d checks: the others could not run in full (kitescope diagnose lists them)",
			len(q.report.Results)-skipped, len(q.report.Results))
	}
	return lines
}

// footnotes returns the lines printed below the rows: selectors without a match, missing values, and hidden rows.
func (q *getQuery) footnotes(g *view.Grid) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	unmatched, strays := q.selection.Where.Unmatched(g.Table), q.selection.Where.UnmatchedValues(g.Table)
	for _, word := range unmatched {
		say("%s", view.NotFound(g.Table, word))
	}
	for _, stray := range strays {
		say("%s", stray)
	}
	if text := view.MissingTasks(g); text != "" {
		say("%s", text)
	}
	for _, text := range []string{view.SharedProcessWarning(g), view.Windows(g)} {
		if text != "" && !q.options.Format.Documents() { // documents have the id and the window in each row
			say("%s", text)
		}
	}
	lines = append(lines, q.hiddenData(g)...)
	switch {
	case g.NotRead():
		say("%s: not read", q.resource.Name)
	case g.Len() == 0 && g.Matched == 0 && len(view.MissingReasons(q.resource, g.Table.Env())) > 0:
		say("%s: none found in the data that was read", q.resource.Name)
	case g.Len() == 0 && len(unmatched)+len(strays) == 0: // otherwise the reason is already in lines
		say("%s: none found", q.resource.Name)
	case g.Len() < g.Matched:
		say("%d of %d %s shown", g.Len(), g.Matched, q.resource.Name)
	}
	return lines
}
