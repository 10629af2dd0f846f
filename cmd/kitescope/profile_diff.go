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

func profileDiff(a *cli.App) *cobra.Command {
	var f profileTable
	var normalize bool
	cmd := &cobra.Command{
		Use: "diff BASE NEW",
		Long: `Print what each function gained or lost from BASE to NEW. flat and cum are those of
"go tool pprof -diff_base".

A profile is a sample: a difference that sampling the same program twice could
produce is noise, shown in grey. The test compares samples per time; with
--normalize, or if the sampling time is unknown, shares of all samples. P is
corrected for the number of functions; at or above 0.01 it is noise. Two runs with
other data or machines vary more than the test assumes.`,
		Example: `  kitescope profile diff before.pb.gz after.pb.gz
  kitescope profile diff before after --node querynode-3 --normalize
  kitescope profile diff before after --where cum_verdict=more --sort -cum`,
		Args: cli.Args(2, 2, "two profiles, BASE and NEW", "kitescope profile diff before.pb.gz after.pb.gz"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.parseTable(a, cmd)
			if err != nil {
				return err
			}
			base, p, err := f.input.twoProfiles(cmd.Context(), a, args[0], args[1:])
			if err != nil {
				return err
			}
			// Two profiles and their combination are in memory: collect more often, because the time costs less
			// than the memory.
			defer debug.SetGCPercent(debug.SetGCPercent(50))
			o := report.CompareOptions{Options: s.options, Normalize: normalize}
			comparison, err := report.NewComparison(base, p, o)
			if err != nil {
				return err
			}
			return a.Write(func(w *bufio.Writer) error { return profiles.WriteDiff(w, comparison, s.format, s.render) })
		},
	}
	f.register(cmd)
	f.report.List(cmd, profiles.DiffSchema, "flat_verdict=more", "-flat_after,function", "function,flat; +file")
	cmd.Flags().BoolVar(&normalize, "normalize", false, "scale NEW to BASE's total first")
	return cmd
}

// twoProfiles reads both sides of a comparison and merges the profiles of each.
func (in *profileInput) twoProfiles(
	ctx context.Context, a *cli.App, base string, words []string,
) (before, after *profile.Profile, err error) {
	if before, err = in.Merged(ctx, a, []string{base}, false); err != nil {
		return nil, nil, fmt.Errorf("base: %w", err)
	}
	after, err = in.Merged(ctx, a, words, false)
	return before, after, err
}
