package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/view"
	"kitescope/internal/hints"
	"kitescope/render"
	"kitescope/render/clusters"
)

// diagnoseFlags holds the flags of diagnose.
type diagnoseFlags struct {
	report        cli.ReportFlags
	only, skip    []string
	failOn        string
	baseline      string
	writeBaseline string
	since         string
	watch         bool
	interval      time.Duration
	all           bool
	profiles      string
	profile       time.Duration
	storage       string
	nodes         *cli.NodeFlags
}

const helpDiagnose = `Run all checks on a cluster: what is wrong, the evidence, the impact, and what to
do. Findings come worst first, each followed by its consequences. A check without its
data is listed as "could not run", with the reason, never as "ok". "kitescope
explain" lists all checks.

--since TIME reports when each finding began and which earlier events may be the
cause; --baseline hides accepted findings.

Exit code 3: findings at or above --fail-on; with --since SOURCE only new or worse
ones count. With --strict a check with missing data exits 4, before 3.`

func diagnoseCommand(a *cli.App) *cobra.Command {
	var f diagnoseFlags
	cmd := &cobra.Command{
		Use:  "diagnose [CHECK...]",
		Long: helpDiagnose,
		Example: `  kitescope diagnose --from etcd://10.0.0.5:2379
  kitescope diagnose growing-flushed 'node-*'
  kitescope diagnose --fail-on warning --baseline accepted.jsonl -o json
  kitescope diagnose --since 09:00 --from etcd_snapshot.db`,
		ValidArgsFunction: completeChecks,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.only = append(f.only, args...)
			return f.run(a, cmd)
		},
	}
	fl := cmd.Flags()
	f.report.Register(cmd, clusters.FindingsFormats(), 0, "")
	f.report.List(cmd, clusters.FindingsSchema, "severity=error", "-cost,check", "check,message; +hint")
	fl.StringSliceVar(&f.only, "only", nil, "run only these checks, like arguments")
	fl.StringSliceVar(&f.skip, "skip", nil, "skip these checks")
	fl.StringVar(&f.failOn, "fail-on", "error", "exit 3 on: info, warning, error, never")
	fl.StringVar(&f.baseline, "baseline", "", "file of accepted findings")
	fl.StringVar(&f.writeBaseline, "write-baseline", "", "write a baseline of the current findings")
	fl.StringVar(&f.since, "since", "", "since a time (09:00, 10m) or another source")
	fl.BoolVarP(&f.watch, "watch", "w", false, "report warnings that come or go; -o wide: all")
	fl.DurationVar(&f.interval, "interval", 5*time.Second, "with --watch: time between rounds")
	fl.BoolVar(&f.all, "all", false, "list passed checks too")
	f.registerProfiles(fl, "check these profiles as well")
	f.registerStorage(fl)
	a.AddAt(cmd)
	f.nodes = cli.AddNodeFlags(cmd, true)
	f.nodes.Outage, f.nodes.Linger = true, true
	for _, name := range []string{"only", "skip"} {
		_ = cmd.RegisterFlagCompletionFunc(name, completeChecks)
	}
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cli.FixedCompletions("info", "warning", "error", "never"))
	return cmd
}

// registerStorage adds the --storage flag.
func (f *diagnoseFlags) registerStorage(fl *pflag.FlagSet) {
	fl.StringVar(&f.storage, "storage", "", "check segment files here (see: help sources)")
}

// registerProfiles adds --profiles, with usage what, and --profile.
func (f *diagnoseFlags) registerProfiles(fl *pflag.FlagSet, what string) {
	fl.StringVar(&f.profiles, "profiles", "", what)
	fl.DurationVar(&f.profile, "profile", 0, "profile all processes for this long: 5s")
}

// completeChecks completes check ids, including the last one of a comma-separated list.
func completeChecks(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	return completeIDs(rules.All())(cmd, args, word)
}

// completeIDs returns a function that completes the ids of checks, including the last one of a
// comma-separated list.
func completeIDs(checks []*check.Check) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		done := word[:strings.LastIndexByte(word, ',')+1]
		var words []string
		for _, x := range checks {
			words = append(words, cobra.CompletionWithDesc(done+x.ID, x.Title))
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// diagnosis is a parsed diagnose command line. It is validated before any source is opened.
type diagnosis struct {
	flags    diagnoseFlags
	checks   []*check.Check
	want     meta.Want
	bar      check.Threshold
	baseline *check.Baseline
	format   render.Format
	options  render.ReportOptions
	// since is the time of --since, and olderSource its source to compare with. At most one of the two is set.
	since       session.At
	olderSource string
	// olderCluster is the cluster read from olderSource, or nil without one.
	olderCluster *model.Cluster
}

func (f *diagnoseFlags) parseDiagnosis(a *cli.App, cmd *cobra.Command) (*diagnosis, error) {
	d := &diagnosis{flags: *f}
	var unknown string
	if d.checks, unknown = check.Choose(rules.All(), f.only, f.skip); unknown != "" {
		return nil, unknownCheck(unknown)
	}
	if len(d.checks) == 0 {
		return nil, cli.Usage(errors.New("no check left to run"), "all checks: kitescope explain")
	}
	// Read all metadata, whatever checks are selected, because serving is derived from all parts. Read the
	// proxies' own reports only for the one check that needs them.
	d.want.Parts = model.PartAll
	if slices.ContainsFunc(d.checks, func(x *check.Check) bool { return x.ID == "dependency-unhealthy" }) {
		d.want.Parts |= model.PartReported
	}
	var err error
	if d.bar.FailOn, d.bar.Never, err = parseSeverity("fail-on", f.failOn); err != nil {
		return nil, err
	}
	if err := d.parseOutput(a, cmd); err != nil {
		return nil, err
	}
	switch {
	case f.interval <= 0:
		return nil, cli.Usagef("--interval must be above 0, not %s", f.interval)
	case f.watch && f.since != "":
		return nil, cli.Usage(errors.New("--watch starts now, --since looks back"), "use only one of them")
	case f.watch && f.writeBaseline != "":
		return nil,
			cli.Usage(errors.New("--watch never ends, so --write-baseline cannot write"), "use only one of them")
	}
	if err := f.checkProfileFlags(); err != nil {
		return nil, err
	}
	if d.since, d.olderSource, err = parseSince(f.since); err != nil {
		return nil, err
	}
	d.baseline, err = readBaseline(f.baseline)
	return d, err
}

func (d *diagnosis) parseOutput(a *cli.App, cmd *cobra.Command) error {
	var err error
	if d.format, d.options, err = d.flags.report.Parse(a, cmd); err != nil {
		return err
	}
	if d.flags.watch && d.options.HasQuery() {
		return cli.Usage(errors.New("--watch prints findings as they appear, not as a list"),
			"omit --where, --sort, --columns and -n")
	}
	if name := d.format.Name(); d.flags.watch && name != "table" && name != "wide" && name != "jsonl" {
		return cli.Usage(fmt.Errorf("--watch cannot write %s: it needs an end", name), "use -o table, wide or jsonl")
	}
	return nil
}

// parseSeverity parses a flag value that is a severity or "never".
func parseSeverity(flag, word string) (s check.Severity, never bool, err error) {
	for _, s := range []check.Severity{check.Info, check.Warning, check.Error} {
		if s.String() == word {
			return s, false, nil
		}
	}
	if word == "never" {
		return 0, true, nil
	}
	return 0, false,
		cli.Usagef("--%s: %w", flag, &hints.UnknownError{
			What: "severity", Word: word, Known: []string{"info", "warning", "error", "never"},
		})
}

func unknownCheck(word string) error {
	return cli.Usage(&view.UnknownError{What: "check", Word: word, Known: check.IDs(rules.All())},
		"see: kitescope explain")
}

// readBaseline reads a baseline file. It returns nil if path is empty.
func readBaseline(path string) (*check.Baseline, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the baseline: %w", err)
	}
	defer file.Close()
	b, err := check.ReadBaseline(bufio.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("read the baseline %s: %w", path, err)
	}
	return b, nil
}

func (f *diagnoseFlags) run(a *cli.App, cmd *cobra.Command) error {
	ctx := cmd.Context()
	d, err := f.parseDiagnosis(a, cmd)
	if err != nil {
		return err
	}
	if err := f.checkMoment(a); err != nil {
		return err
	}
	if f.watch {
		return d.watchDiagnosis(ctx, a)
	}
	var older *check.Report
	if d.olderSource != "" {
		if older, err = d.judgeOlder(ctx, a); err != nil {
			return err
		}
	}
	conn, err := a.Connection()
	if err != nil {
		return err
	}
	if older != nil {
		d.olderCluster = older.Cluster
	}
	c, err := d.loadJudged(ctx, a, conn)
	if err != nil {
		return err
	}
	report := d.judge(a, c, new(check.Judge))
	shown := &clusters.Diagnosis{Bar: d.bar, All: f.all, Version: cli.Version}
	if f.writeBaseline != "" {
		if d.baseline, err = saveBaseline(a, f.writeBaseline, report, d.baseline); err != nil {
			return err
		}
	}
	shown.Report, shown.Stale = d.baseline.Apply(report, rules.All())
	if older != nil {
		accepted, _ := d.baseline.Apply(older, rules.All())
		shown.Since = check.Since(accepted, shown.Report)
	}
	if d.since.IsSet() {
		if _, err := d.addStarts(ctx, a, shown); err != nil {
			return err
		}
	}
	if err := a.Write(func(w *bufio.Writer) error { return clusters.Findings(w, shown, d.format, d.options) }); err !=
		nil && !cli.Closed(err) {
		return err
	}
	if err := d.reportMissing(a, c, report); err != nil {
		return err
	}
	if d.bar.Failing(shown.Report, shown.Since) {
		return &cli.CodeError{Code: cli.ExitFindings}
	}
	return nil
}

// judge runs the checks on a cluster. Ages are measured as in lists: for a file, up to the time of its state.
func (d *diagnosis) judge(a *cli.App, c *model.Cluster, judge *check.Judge) *check.Report {
	return judge.Run(c, view.NewEnv(c, a.Now()).Now, d.checks)
}

// judgeOlder runs the checks on the source that --since names. Data of its processes comes from that source
// alone, not from --runtime.
func (d *diagnosis) judgeOlder(ctx context.Context, a *cli.App) (*check.Report, error) {
	conn, err := a.ConnectionTo(d.olderSource)
	if err != nil {
		return nil, err
	}
	spec, err := a.LiveSpec(conn, d.flags.nodes)
	if err != nil {
		return nil, err
	}
	spec.Recordings, spec.Want = nil, d.want
	c, err := session.LoadProfiled(ctx, a.Loader(), spec, session.ProfileOptions{OnPull: noteProfiles(a)})
	if err != nil {
		return nil, err
	}
	return d.judge(a, c, new(check.Judge)), nil
}

// saveBaseline writes a baseline that accepts all findings. It merges in an older baseline: the one in use,
// or else the one in the file that it replaces. It does not overwrite a file of another kind.
func saveBaseline(a *cli.App, path string, r *check.Report, old *check.Baseline) (*check.Baseline, error) {
	before, err := readBaseline(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, cli.Usage(fmt.Errorf("%s exists and is not a baseline: %w", path, err), "choose another file")
	case old == nil:
		old = before
	}
	b := check.NewBaseline(r, old)
	if err := cli.WriteFileAtomic(path, 0o644, func(f *os.File) error { return b.Write(f) }); err != nil {
		return nil, fmt.Errorf("write the baseline %s: %w", path, err)
	}
	a.Warn("%s accepts %d findings", path, len(b.Entries))
	return b, nil
}

// reportMissing reports data that could not be read. With --strict it returns exit code 4 for missing data, and
// for each check that could not see all of its data. Profile and storage checks count only if their data was
// given or they were selected with --only.
func (d *diagnosis) reportMissing(a *cli.App, c *model.Cluster, r *check.Report) error {
	if err := a.Completeness(c); err != nil {
		return err
	}
	for _, x := range r.Results {
		if x.Check.Needs&check.NeedProfiles != 0 && !d.expectsProfiles(c, x.Check.ID) {
			continue
		}
		if x.Check.Needs&check.NeedStorage != 0 && c.Storage == nil && !slices.Contains(d.flags.only, x.Check.ID) {
			continue
		}
		if all, _ := r.Judged(x.Check.ID); !all && a.Flags.Strict {
			return &cli.CodeError{Code: cli.ExitIncomplete}
		}
	}
	return nil
}
