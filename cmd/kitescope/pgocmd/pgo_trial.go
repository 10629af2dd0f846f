package pgocmd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/cmd/kitescope/cli"
	"kitescope/internal/hints"
	"kitescope/internal/shellquote"
	"kitescope/profile/bench"
	"kitescope/profile/pull"
	"kitescope/profile/trial"
	"kitescope/render"
	"kitescope/render/builds"
)

// trialFlags holds the flags of "pgo trial".
type trialFlags struct {
	plan   trial.Plan
	effect float64
	report cli.ReportFlags
	failOn string
}

// trialFailures lists the values of --fail-on.
var trialFailures = []string{"never", "worse", "not-better"}

const helpTrial = `Build a Go program without and with a profile of its load, run both in random order,
and report what the profile gains. --load is the program at work, from start to end;
with --serve it is a service, --load the client that keeps it busy, and --pprof where
its profiles are. Command lines are split like in a shell but run without one, in
--dir. Placeholders, also in the environment as KITESCOPE_BIN and so on:

  {bin}      the program, without or with PGO
  {pgo}      in --build: -pgo=off, or -pgo=FILE
  {profile}  the file the program writes its CPU profile to
  {dir}      the module's folder
  {run}      the number of the run
  {out}      an empty folder for the run's output

-O gets the binaries, profiles, outputs, default.pgo and the report.

Exit code 3: the result matches --fail-on.`

func pgoTrial(a *cli.App) *cobra.Command {
	var f trialFlags
	p := &f.plan
	cmd := &cobra.Command{
		Use: "trial", Long: helpTrial,
		Example: `  kitescope pgo trial --load '{bin} -cpuprofile {profile} big.json' -O trial
  kitescope pgo trial --serve '{bin} -addr :8080' --ready localhost:8080 \
    --pprof http://localhost:8080 --load 'ab -t 10 http://localhost:8080/'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p.Repeat = trialLine(cmd)
			return f.run(cmd.Context(), a, cmd)
		},
	}
	f.register(cmd)
	return cmd
}

func (f *trialFlags) register(cmd *cobra.Command) {
	p, fl := &f.plan, cmd.Flags()
	fl.StringVar(&p.Dir, "dir", ".", "folder of the module")
	fl.StringVar(&p.Package, "package", "", "its main package, if there are several: ./cmd/service")
	fl.StringVar(&p.Build, "build", "", "command that builds {bin} with {pgo}")
	fl.StringVar(&p.Load, "load", "", "command to measure, with {bin} in it")
	fl.StringVar(&p.Serve, "serve", "", "command that starts the program as a service")
	fl.StringArrayVar(&p.Profiles, "profile", nil, "build with this CPU profile instead; repeatable")
	fl.IntVar(&p.Pairs, "pairs", trial.DefaultPairs, "number of runs of both programs")
	cli.WithSection(fl, cli.SectionTrial, func() { f.registerMore(fl) })
	fl.StringVarP(&p.Folder, "out", "O", "pgo-trial", "output folder, new or empty")
	fl.StringVar(&f.failOn, "fail-on", trialFailures[0], "exit 3 on: "+strings.Join(trialFailures, ", "))
	f.report.Register(cmd, builds.TrialFormats(), 0, "")
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cli.FixedCompletions(trialFailures...))
	_ = cmd.MarkFlagDirname("dir")
	_ = cmd.MarkFlagDirname("out")
}

func (f *trialFlags) registerMore(fl *pflag.FlagSet) {
	p := &f.plan
	fl.StringVar(&p.ProfileLoad, "profile-load", "", "command to run instead of --load to take profiles")
	fl.StringVar(&p.Ready, "ready", "", "URL or host:port that responds when the service is up")
	fl.StringVar(&p.PProf, "pprof", "", "base URL of the service's pprof: http://127.0.0.1:6060")
	fl.IntVar(&p.Control, "control", 0, "pairs of the program without PGO and its own copy")
	fl.Lookup("control").NoOptDefVal = "-1"
	fl.IntVar(&p.Warmup, "warmup", trial.DefaultWarmup, "warm-up runs of each program, not counted")
	fl.Int64Var(&p.Events, "samples", trial.DefaultEvents, "target number of samples per program")
	fl.IntVar(&p.Rounds, "rounds", trial.DefaultRounds, "maximum number of profiling runs per program")
	fl.IntVar(&p.Seconds, "seconds", trial.DefaultSeconds, "window of a profile of a service, in seconds")
	fl.DurationVar(&p.Timeout, "run-timeout", trial.DefaultTimeout, "time limit of a build or run")
	fl.DurationVar(&p.ReadyTimeout, "ready-timeout", trial.DefaultReadyTimeout, "time limit until a service responds")
	fl.Float64Var(&f.effect, "min-effect", 1, "smallest change that counts, in percent")
	fl.Float64Var(&p.Level, "level", 0.05, "significance level, over all metrics together")
	fl.Uint64Var(&p.Seed, "seed", 0, "seed of the order of runs; default: from the clock; the report has it")
	fl.BoolVar(&p.Force, "anyway", false, "continue with profiles judged unfit")
}

// trialLine returns the command line to repeat the trial. Secrets are removed, including those in the given commands.
func trialLine(cmd *cobra.Command) string {
	line := []string{cmd.CommandPath()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, value := range cli.FlagValues(f) {
			switch f.Name {
			case "build", "load", "profile-load", "serve":
				value = trial.RedactLine(value)
			default:
				value = pull.RedactWord(value)
			}
			line = append(line, shellquote.Word("--"+f.Name+"="+value))
		}
	})
	return strings.Join(line, " ")
}

// check validates the flags that trial.Plan does not validate, and sets the effect and the number of control pairs.
func (f *trialFlags) check() error {
	p := &f.plan
	switch {
	case p.Control < -1:
		return cli.Usagef("--control must be a number of pairs, not %d", p.Control)
	case f.effect < 0 || f.effect > 100:
		return cli.Usagef("--min-effect must be 0 to 100 percent, not %g", f.effect)
	case p.Level <= 0 || p.Level >= 1:
		return cli.Usagef("--level must be between 0 and 1, not %g", p.Level)
	case p.Pairs < 1:
		return cli.Usagef("--pairs must be 1 or more, not %d", p.Pairs)
	case p.Rounds < 1 || p.Seconds < 1 || p.Events < 1:
		return cli.Usagef("--rounds, --seconds and --samples must be 1 or more")
	case p.Timeout <= 0 || p.ReadyTimeout <= 0:
		return cli.Usagef("--run-timeout and --ready-timeout must be above 0s")
	}
	if _, err := f.fails(bench.Worse); err != nil {
		return err
	}
	if p.Control == -1 {
		p.Control = p.Pairs
	}
	if p.Effect = f.effect / 100; p.Effect == 0 {
		p.Effect = -1 // any change counts
	}
	return nil
}

// fails reports whether the command exits with code 3 for a verdict. It returns an error if --fail-on is invalid.
func (f *trialFlags) fails(v bench.Verdict) (bool, error) {
	switch f.failOn {
	case trialFailures[0]:
		return false, nil
	case trialFailures[1]:
		return v == bench.Worse, nil
	case trialFailures[2]:
		return v != bench.Better, nil
	}
	return false, cli.Usagef("--fail-on must be %s, not %q", strings.Join(trialFailures, ", "), f.failOn)
}

func (f *trialFlags) run(ctx context.Context, a *cli.App, cmd *cobra.Command) error {
	format, o, err := f.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	f.plan.Tool, f.plan.Now = cli.Version, a.Now
	a.ExtendGracePeriod()
	r, err := trial.Run(ctx, f.plan, func(e trial.Event) { showTrial(a, e) })
	a.Transient.Clear()
	if err != nil {
		return f.trialError(ctx, a, err)
	}
	if err := saveReport(r); err != nil {
		return err
	}
	if err := a.Write(func(w *bufio.Writer) error { return builds.WriteTrial(w, r, format, o.Options) }); err != nil {
		return err
	}
	if fails, _ := f.fails(r.Verdict()); fails {
		return &cli.CodeError{Code: cli.ExitFindings}
	}
	return nil
}

// saveReport writes the report into the trial's folder as Markdown, HTML and JSON.
func saveReport(r *trial.Report) error {
	keep := func(name string, write func(w io.Writer) error) error {
		return cli.WriteFileAtomic(filepath.Join(r.Folder, name), 0o644, func(f *os.File) error {
			w := bufio.NewWriter(f)
			return cmp.Or(write(w), w.Flush())
		})
	}
	for _, x := range [][2]string{{"report.md", "markdown"}, {"report.html", "html"}, {"report.json", "json"}} {
		format, err := builds.TrialFormats().Parse(x[1])
		if err != nil {
			return err
		}
		err = keep(x[0], func(w io.Writer) error { return builds.WriteTrial(w, r, format, render.Options{}) })
		if err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	return nil
}

// trialError prints the output of a program that failed. It turns errors in the plan into usage errors.
func (f *trialFlags) trialError(ctx context.Context, a *cli.App, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if said, ok := errors.AsType[*trial.OutputError](err); ok && said.Output != "" {
		a.PrintOutput(said.Output)
		if said.File != "" {
			a.Notef("  (full output: %s)", cli.OneLine(said.File))
		}
	}
	if _, ok := errors.AsType[*trial.PlanError](err); ok {
		return cli.Usage(err, hints.Of(err))
	}
	if unfit, ok := errors.AsType[*trial.UnfitError](err); ok {
		showUnfit(a, unfit)
	}
	return err
}

// showUnfit prints the reasons why the profiles taken are unfit.
func showUnfit(a *cli.App, unfit *trial.UnfitError) {
	for _, r := range unfit.Judgement.Refusals {
		a.Warn("%s", r.Message)
	}
	for i := range unfit.Judgement.Profiles {
		p := &unfit.Judgement.Profiles[i]
		for _, r := range p.Refusals {
			a.Warn("%s: %s", p.Input.Name, r.Message)
		}
	}
}

// showTrial prints the progress of a trial, and its warnings as they occur.
func showTrial(a *cli.App, e trial.Event) {
	if a.Flags.Quiet {
		return
	}
	if e.Remark != "" {
		a.Warn("%s", e.Remark)
		a.PrintOutput(e.Output)
		return
	}
	a.Status("step %d of 8: %s", e.Step, e.What)
}
