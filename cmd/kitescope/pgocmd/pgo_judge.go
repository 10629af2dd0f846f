package pgocmd

import (
	"bufio"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile/pgo"
	"kitescope/render"
	"kitescope/render/builds"
	"kitescope/tui/profiles"
	"kitescope/tui/replays"
)

// judgeFlags holds the flags of "pgo judge".
type judgeFlags struct {
	input      Profiles
	report     cli.ReportFlags
	failOn     string
	ui         cli.UIFlags
	openUI     bool
	thresholds judgeThresholds
}

// judgeThresholds holds the thresholds for profiles: ceiling in percent of CPU time, samples as a count.
type judgeThresholds struct {
	ceiling float64
	samples int64
}

// judgeFailures lists the values of --fail-on: the best verdict for which the command exits with code 3.
var judgeFailures = []string{"little-gain", "unfit", "never"}

func pgoJudge(a *cli.App, input Profiles) *cobra.Command {
	f := judgeFlags{input: input}
	cmd := &cobra.Command{
		Use: "judge [PROFILE...]",
		Long: `Report whether a Go build with these CPU profiles is worthwhile: whether Go would
accept them (sample type, start lines, names), whether there are enough samples, and
what PGO can reach: the share of the time in code that Go compiles. The bound is 14%
of that share, the maximum in Go's documentation. No gain is predicted: no method we
tried predicts it, and PGO can make a program slower.

Exit code 3: not worth building: unfit, or little to gain (--fail-on).`,
		Example: `  kitescope pgo judge before                     all CPU profiles of a folder
  kitescope pgo judge cpu.pb.gz -o json
  kitescope pgo judge http://service:6060 --seconds 30 -o json`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args) },
	}
	f.input.Register(cmd)
	cli.RemoveFlags(cmd, "kind")
	fl := cmd.Flags()
	f.report.Register(cmd, render.ReportFormats(), defaultHotCalls, "maximum number of hot calls, 0 for all")
	f.report.List(cmd, builds.JudgementSchema, "usable=false", "-go_percent,name", "name,samples; +go_version")
	fl.StringVar(&f.failOn, "fail-on", judgeFailures[0], "exit 3 on: little-gain (and unfit), unfit or never")
	fl.Float64Var(&f.thresholds.ceiling, "min-ceiling", 5, "smallest bound worth building for, in percent of CPU time")
	fl.Int64Var(&f.thresholds.samples, "min-samples", 2000, "minimum number of samples")
	fl.BoolVar(&f.openUI, "ui", false, "open it in the terminal UI")
	fl.StringVar(&f.ui.Theme, "theme", "auto", "auto, terminal, dark, light, mono")
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cli.FixedCompletions(judgeFailures...))
	return cmd
}

// defaultHotCalls is the number of hot calls shown by default.
const defaultHotCalls = 10

func (b *judgeThresholds) options(limit int) (pgo.JudgeOptions, error) {
	if !(b.ceiling >= 0 && b.ceiling <= 100) { // also rejects NaN
		return pgo.JudgeOptions{}, cli.Usagef("--min-ceiling must be 0 to 100 percent, not %g", b.ceiling)
	}
	if b.samples < 0 {
		return pgo.JudgeOptions{}, cli.Usagef("--min-samples must be 0 or more, not %d", b.samples)
	}
	o := pgo.JudgeOptions{Hot: limit, MinCeiling: b.ceiling / 100, MinEvents: b.samples}
	// A flag set to 0 disables its threshold. In pgo.JudgeOptions -1 does that, because zero selects the default.
	if b.ceiling == 0 {
		o.MinCeiling = -1
	}
	if b.samples == 0 {
		o.MinEvents = -1
	}
	return o, nil
}

// verdictFails reports whether the command exits with code 3 for a verdict. It returns an error if failOn is invalid.
func verdictFails(v pgo.Verdict, failOn string) (bool, error) {
	switch failOn {
	case judgeFailures[0]:
		return v != pgo.WorthBuilding, nil
	case judgeFailures[1]:
		return v == pgo.Unfit, nil
	case judgeFailures[2]:
		return false, nil
	}
	return false, cli.Usagef("--fail-on must be %s, not %q", strings.Join(judgeFailures, ", "), failOn)
}

func (f *judgeFlags) run(a *cli.App, cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	format, ro, err := f.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	if _, err := verdictFails(pgo.Unfit, f.failOn); err != nil {
		return err
	}
	if !cmd.Flags().Changed("limit") { // structured output has as many calls as the text
		ro.Limit = defaultHotCalls
	}
	hot := ro.Limit
	if f.openUI || hot == 0 {
		hot = -1
	}
	o, err := f.thresholds.options(hot)
	if err != nil {
		return err
	}
	if f.openUI && !a.OutTTY {
		return cli.ErrNoTerminal()
	}
	inputs, err := f.input.Inputs(ctx, a, args)
	if err != nil {
		return err
	}
	j, err := pgo.Judge(ctx, inputs, o)
	if err != nil {
		return err
	}
	if f.openUI {
		return f.judgementUI(a, cmd, j, args)
	}
	err = a.Write(func(w *bufio.Writer) error {
		return builds.WriteJudgement(w, j, format, ro)
	})
	if fails, _ := verdictFails(j.Verdict, f.failOn); err == nil && fails {
		err = &cli.CodeError{Code: cli.ExitFindings}
	}
	return err
}

func (f *judgeFlags) judgementUI(a *cli.App, cmd *cobra.Command, j *pgo.Judgement, args []string) error {
	cfg, err := a.FileUI(&f.ui, args)
	if err != nil {
		return err
	}
	cfg.Args, cfg.Pages = cli.RepeatArgs(cmd, args), replays.Pages(nil)
	return profiles.RunJudgement(cmd.Context(), cfg, j)
}
