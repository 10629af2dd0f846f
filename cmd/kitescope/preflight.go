package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/check/preflight"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/render/clusters"
)

// preflightFlags holds the flags of the preflight command.
type preflightFlags struct {
	to, running string
	back        bool
	diagnosis   diagnoseFlags
}

const helpPreflight = `Check what an upgrade or rollback of Milvus would break: versions that cannot be
skipped, the order of components, settings that are removed or get a new
default, records, index files and grants that the other version reads
differently, unfinished tasks, and space in etcd. The errors of
"kitescope diagnose" are included. Reads only; a saved snapshot is enough.

The rules come from Milvus's code, documents and issues up to 3.0.1, and from
real upgrades of 2.1 to 2.2; "kitescope explain CHECK" names the source of each.
A check without its data is skipped, with the reason.

Exit code 3: findings at or above --fail-on. With --strict a check with missing
data exits 4, before 3.`

func preflightCommand(a *cli.App) *cobra.Command {
	var f preflightFlags
	d := &f.diagnosis
	cmd := &cobra.Command{
		Use:  "preflight --to VERSION [CHECK...]",
		Long: helpPreflight,
		Example: `  kitescope preflight --to 3.0.2
  kitescope preflight --to 2.6.22 --from mailed.kite
  kitescope preflight --to 2.1.0 --back --from etcd_snapshot.db
  kitescope preflight --to 3.0.2 --fail-on warning -o json`,
		ValidArgsFunction: completeIDs(preflight.All()),
		RunE: func(cmd *cobra.Command, args []string) error {
			d.only = args
			return f.run(a, cmd)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.to, "to", "", "target version: 2.6.22, 3.0.2")
	fl.StringVar(&f.running, "running", "", "running version, if the source does not have it")
	fl.BoolVar(&f.back, "back", false, "check a rollback to an older version")
	d.report.Register(cmd, clusters.FindingsFormats(), 0, "")
	d.report.List(cmd, clusters.FindingsSchema, "severity=error", "-cost,check", "check,message; +hint")
	fl.StringVar(&d.failOn, "fail-on", "error", "exit 3 on: info, warning, error, never")
	fl.BoolVar(&d.all, "all", false, "list passed checks too")
	d.registerStorage(fl)
	a.AddAt(cmd)
	d.nodes = cli.AddNodeFlags(cmd, true)
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cli.FixedCompletions("info", "warning", "error", "never"))
	_ = cmd.RegisterFlagCompletionFunc("to", cli.FixedCompletions(preflight.SuggestedTargets()...))
	return cmd
}

func (f *preflightFlags) run(a *cli.App, cmd *cobra.Command) error {
	plan := preflight.Plan{Back: f.back}
	var err error
	if f.to == "" {
		return cli.Usage(errors.New("--to is required: the target version"), "for example --to 3.0.2")
	}
	if plan.To, err = preflight.ParseVersion(f.to); err != nil {
		return cli.Usage(fmt.Errorf("--to: %w", err), "for example --to 2.6.22")
	}
	if f.running != "" {
		if plan.From, err = preflight.ParseVersion(f.running); err != nil {
			return cli.Usage(fmt.Errorf("--running: %w", err), "for example --running 2.5.16")
		}
	}
	d := &diagnosis{flags: f.diagnosis}
	d.want.Parts = model.PartAll
	if d.bar.FailOn, d.bar.Never, err = parseSeverity("fail-on", d.flags.failOn); err != nil {
		return err
	}
	if d.format, d.options, err = d.flags.report.Parse(a, cmd); err != nil {
		return err
	}
	if _, unknown := check.Choose(preflight.Checks(plan), d.flags.only, nil); unknown != "" {
		return cli.Usage(&view.UnknownError{What: "check", Word: unknown, Known: check.IDs(preflight.Checks(plan))},
			"see: kitescope preflight --to "+plan.To.String()+" --all")
	}
	conn, err := a.Connection()
	if err != nil {
		return err
	}
	c, err := d.loadJudged(cmd.Context(), a, conn)
	if err != nil {
		return err
	}
	if err := completePlan(&plan, c); err != nil {
		return err
	}
	d.checks, _ = check.Choose(preflight.Checks(plan), d.flags.only, nil)
	report := d.judge(a, c, new(check.Judge))
	shown := &clusters.Diagnosis{Report: report, Bar: d.bar, All: d.flags.all, Version: cli.Version}
	shown.Preflight = &clusters.Preflight{
		From: plan.From.String(), To: plan.To.String(), Next: plan.Next().String(), Back: plan.Back,
	}
	if err := a.Write(func(w *bufio.Writer) error { return clusters.Findings(w, shown, d.format, d.options) }); err !=
		nil && !cli.Closed(err) {
		return err
	}
	if err := d.reportMissing(a, c, report); err != nil {
		return err
	}
	if d.bar.Failing(report, nil) {
		return &cli.CodeError{Code: cli.ExitFindings}
	}
	return nil
}

// completePlan completes the plan with the running version. It returns a usage error if the direction or the target
// version does not fit the running version.
func completePlan(plan *preflight.Plan, c *model.Cluster) error {
	var unfit *preflight.PlanError
	if *plan, unfit = plan.For(c); unfit == nil {
		return nil
	}
	hint := map[preflight.PlanProblem]string{
		preflight.RunningUnknown: "add --running 2.5.16",
		preflight.TargetOlder:    "add --back to check a rollback",
		preflight.TargetNewer:    "omit --back",
		preflight.AlreadyRunning: "name another version with --to",
		preflight.PatchMissing:   "name the whole version, such as --to " + plan.To.String() + ".1",
	}
	return cli.Usage(unfit, hint[unfit.Why])
}
