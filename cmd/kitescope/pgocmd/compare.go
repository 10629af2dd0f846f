package pgocmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/internal/hints"
	"kitescope/profile/bench"
	"kitescope/profile/bench/read"
	"kitescope/render"
	"kitescope/render/builds"
	"kitescope/tui/profiles"
	"kitescope/tui/replays"
)

// benchFlags holds the flags of "compare".
type benchFlags struct {
	report             cli.ReportFlags
	out                string
	force              bool
	pairing, control   string
	level              float64
	effect, failOn     string
	better, only, skip []string
	match              string
	ui                 cli.UIFlags
	openUI             bool
}

// pairings maps the values of --pair.
var pairings = map[string]bench.Pairing{"name": bench.ByName, "order": bench.ByOrder, "none": bench.Unpaired}

// compareFailures lists the values of --fail-on. With the first, the exit code is 3 if any metric got worse.
var compareFailures = []string{"worse", "change", "never"}

func compareCommand(a *cli.App) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use: "compare BEFORE AFTER",
		Long: `Compare benchmark results. Each side is a file, a folder of runs, a comma-separated
list, or -; one file is enough if it holds both. "kitescope help benchmarks" lists
the formats, and how files become runs.

Runs that were made in pairs (A B A B ...) are tested with Wilcoxon's signed-rank
test, others with the Mann-Whitney test. A change counts if it is significant
(--level, over all metrics), large enough to matter (--effect) and, with --control,
if the program differs less from itself. One run per side proves nothing.

Exit code 3: a metric got worse (--fail-on). 1: nothing could be compared.`,
		Example: `  kitescope compare before.txt after.txt           go test -bench . -count 10
  kitescope compare runs/a runs/b --pair order --effect 2%
  kitescope compare a.json b.json -o markdown      hyperfine --export-json
  kitescope compare milvus.json pgvector.json --match 'case \d+'`,
		Args: cli.Args(1, 2, "two sides, BEFORE and AFTER", "kitescope compare before.txt after.txt"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args) },
	}
	fl := cmd.Flags()
	f.report.Register(cmd, builds.ComparisonFormats(), 0, "")
	f.report.List(cmd, builds.ComparisonSchema, "verdict=worse", "-p,metric", "metric,change_percent; +p")
	fl.StringVarP(&f.out, "out", "O", "", "write to this file")
	fl.BoolVar(&f.force, "force", false, "replace the file if it exists")
	fl.StringVar(&f.pairing, "pair", "name", "pair runs by name, order or none")
	fl.StringVar(&f.control, "control", "", "more runs of BEFORE's program, as a control")
	fl.Float64Var(&f.level, "level", 0.05, "significance level")
	fl.StringVar(&f.effect, "effect", "1%", "smallest change that counts")
	fl.StringArrayVar(&f.better, "better", nil, "METRIC=lower or METRIC=higher; repeatable")
	fl.StringVar(&f.match, "match", "", "match names by this part of them (regexp)")
	fl.StringArrayVar(&f.only, "only", nil, "only metrics that match (regexp); repeatable")
	fl.StringArrayVar(&f.skip, "skip", nil, "skip metrics that match (regexp); repeatable")
	fl.StringVar(&f.failOn, "fail-on", compareFailures[0], "exit 3 on: worse, change, never")
	fl.BoolVar(&f.openUI, "ui", false, "open it in the terminal UI")
	fl.StringVar(&f.ui.Theme, "theme", "auto", "auto, terminal, dark, light, mono")
	_ = cmd.RegisterFlagCompletionFunc("pair", cli.FixedCompletions("name", "order", "none"))
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cli.FixedCompletions(compareFailures...))
	return cmd
}

// FormatDoc returns the list of result formats that compare reads, one format a line with its name and description.
func FormatDoc() string {
	var b strings.Builder
	for _, f := range read.Formats() {
		fmt.Fprintf(&b, "  %-20s %s\n", f.Name, f.Doc)
	}
	return b.String()
}

// comparisonOptions holds the validated options of "compare". They are checked before any input is read.
type comparisonOptions struct {
	options bench.Options
	read    read.Options
	format  render.Format
	render  render.ReportOptions
	only    bench.Filter
	match   *regexp.Regexp // nil: keep names as they are
}

func (f *benchFlags) parseComparison(a *cli.App, cmd *cobra.Command) (*comparisonOptions, error) {
	s := &comparisonOptions{options: bench.Options{Level: f.level}}
	var ok bool
	if s.options.Pairing, ok = pairings[f.pairing]; !ok {
		return nil, cli.Usagef("--pair must be name, order or none, not %q", f.pairing)
	}
	if f.level <= 0 || f.level >= 1 {
		return nil, cli.Usagef("--level must be between 0 and 1, not %g", f.level)
	}
	if !slices.Contains(compareFailures, f.failOn) {
		return nil, cli.Usagef("--fail-on must be %s, not %q", strings.Join(compareFailures, ", "), f.failOn)
	}
	var err error
	if s.options.Effect, err = parseEffect(f.effect); err != nil {
		return nil, err
	}
	if s.options.Better, err = parseDirections(f.better); err != nil {
		return nil, err
	}
	if s.only, err = metricFilter(f.only, f.skip); err != nil {
		return nil, err
	}
	if f.match != "" {
		if s.match, err = cli.Pattern("--match", f.match); err != nil {
			return nil, err
		}
	}
	s.read.Better = s.options.Better
	s.format, s.render, err = f.report.Parse(a, cmd)
	return s, err
}

// parseEffect parses an --effect value such as "1%", "0.01" or "0". It returns a fraction below 1, or -1 for 0,
// which counts any change.
func parseEffect(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		x /= 100
	}
	if err != nil || !(x >= 0 && x < 1) {
		return 0, cli.Usage(fmt.Errorf("--effect %q is not a percentage", text), "for example: --effect 2%")
	}
	if x == 0 {
		x = -1 // any change counts
	}
	return x, nil
}

func parseDirections(words []string) (map[string]bench.Direction, error) {
	directions := map[string]bench.Direction{}
	for _, word := range words {
		name, direction, _ := cutLast(word, "=")
		switch direction {
		case "lower":
			directions[name] = bench.LowerIsBetter
		case "higher":
			directions[name] = bench.HigherIsBetter
		default:
			return nil,
				cli.Usage(fmt.Errorf("--better %q is not METRIC=lower or METRIC=higher", word),
					`for example: --better "rows scanned=lower"`)
		}
	}
	return directions, nil
}

func (f *benchFlags) run(a *cli.App, cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	s, err := f.parseComparison(a, cmd)
	if err != nil {
		return err
	}
	to, err := a.NewOutput(f.out, f.force)
	if err != nil {
		return err
	}
	before, after, err := readSides(ctx, a, args, s.read)
	if err != nil {
		return err
	}
	if f.control != "" {
		control, err := readSide(ctx, a, f.control, s.read)
		if err != nil {
			return fmt.Errorf("control: %w", err)
		}
		s.options.Control = [2]*bench.Set{before, control}
	}
	bench.NameSettings(before, after, s.options.Control[1])
	s.only.Apply(s.options.Control[1])
	if err := applyFilter(&s.only, before, after); err != nil {
		return err
	}
	if s.match != nil {
		for _, side := range []*bench.Set{before, after, s.options.Control[1]} {
			if err := side.MatchNames(s.match); err != nil {
				return fmt.Errorf("--match: %w", err)
			}
		}
	}
	c, err := bench.Compare(before, after, s.options)
	if err != nil {
		return err
	}
	if f.openUI {
		cfg, err := a.FileUI(&f.ui, args)
		if err != nil {
			return err
		}
		cfg.Args, cfg.Pages = cli.RepeatArgs(cmd, args), replays.Pages(nil)
		return profiles.RunComparison(ctx, cfg, c)
	}
	if f.out == "" {
		err = a.Write(func(w *bufio.Writer) error { return builds.WriteComparison(w, c, s.format, s.render) })
	} else {
		err = to(func(w io.Writer) error { return builds.WriteComparison(w, c, s.format, s.render) })
	}
	switch {
	case err != nil:
		return err
	case !c.Compared():
		hint := "check that both sides ran the same benchmark and succeeded; the table has what only one side has; " +
			"if only names differ, match them by a common part with --match 'REGEXP'"
		return &hints.Error{Err: errors.New("nothing to compare: no metric has values on both sides"), Advice: hint}
	case f.failOn == compareFailures[0] && c.Worse(), f.failOn == compareFailures[1] && c.Changed():
		return &cli.CodeError{Code: cli.ExitFindings}
	}
	return nil
}
