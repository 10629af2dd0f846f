package main

import (
	"bufio"
	"context"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/render/profiles"
)

// compareFlags say how two profiles are compared.
type compareFlags struct {
	relativeToBase bool
	normalize      bool
	level, effect  float64
}

func profileDiff(a *cli.App) *cobra.Command {
	var f profileTable
	var c compareFlags
	cmd := &cobra.Command{
		Use: "diff BASE NEW",
		Long: `Print for each function what it gained or lost from BASE to NEW. flat and cum are those of
"go tool pprof -diff_base" (or, with --subtract, of -base: percentages of what differs).
Before that NEW is scaled to BASE's total with --normalize, for windows or loads that differ.

A profile is a sample: where two samplings of the same program could differ as much, the
difference is noise, and is grey. What is judged is how many samples a function has in the same
time on either side (rates), so that a busier process has more of everything. With --normalize,
or where nothing tells how long was sampled, it is its share of all samples. P is corrected for
the number of functions, and from --level on it is noise. Samples are taken to be independent;
a program that works in bursts scatters more, and two runs of one (other data, other machine)
differ besides: neither can be told from one profile a side.`,
		Example: `  kitescope profile diff before.pb.gz after.pb.gz
  kitescope profile diff before after --node querynode-3 --normalize -o markdown
  kitescope profile diff before after --where cum_verdict=more --sort -cum
  kitescope profile flame after --base before       the same as a flame graph`,
		Args: cli.Args(2, 2, "two profiles, BASE and NEW", "kitescope profile diff before.pb.gz after.pb.gz"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.settleTable(a, cmd)
			if err != nil {
				return err
			}
			if c.level <= 0 || c.level >= 1 {
				return cli.Usagef("--level is a probability between 0 and 1, not %g", c.level)
			}
			if c.effect < 0 || c.effect > 100 {
				return cli.Usagef("--effect is in percent of the total, 0 to 100, not %g", c.effect)
			}
			base, p, err := f.input.twoProfiles(cmd.Context(), a, args[0], args[1:])
			if err != nil {
				return err
			}
			// Two profiles, and both in one: collecting earlier costs less than the memory is worth.
			defer debug.SetGCPercent(debug.SetGCPercent(50))
			o := report.CompareOptions{Options: s.options, DiffBase: !c.relativeToBase, Normalize: c.normalize, Level: c.level, Effect: c.effect}
			comparison, err := report.NewComparison(base, p, o)
			if err != nil {
				return err
			}
			return a.Write(func(w *bufio.Writer) error { return profiles.WriteDiff(w, comparison, s.format, s.render) })
		},
	}
	f.register(cmd)
	f.report.List(cmd, profiles.DiffSchema, "flat_verdict=more", "-flat_after,function", "function,flat,flat_p; +file")
	fl := cmd.Flags()
	fl.BoolVar(&c.relativeToBase, "subtract", false, "take percentages of the sum of all differences, as pprof's -base, not of BASE's total")
	fl.BoolVar(&c.normalize, "normalize", false, "scale NEW to BASE's total first, as pprof's -normalize")
	fl.Float64Var(&c.level, "level", 0.01, "chance of calling noise a change, over all functions")
	fl.Float64Var(&c.effect, "effect", 0, "the least change that counts, in percent of the total")
	return cmd
}

// twoProfiles reads both sides of a comparison.
func (in *profileInput) twoProfiles(ctx context.Context, a *cli.App, base string, words []string) (was, is *profile.Profile, err error) {
	if was, err = in.merged(ctx, a, []string{base}, false); err != nil {
		return nil, nil, fmt.Errorf("base: %w", err)
	}
	is, err = in.merged(ctx, a, words, false)
	return was, is, err
}
