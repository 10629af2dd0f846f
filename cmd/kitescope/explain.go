package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/check/preflight"
	"kitescope/inspect/check/rules"
	"kitescope/render/clusters"
)

func explainCommand(a *cli.App) *cobra.Command {
	var f cli.ReportFlags
	cmd := &cobra.Command{
		Use: "explain [CHECK]",
		Long: `Explain a check: what it reads, what counts as a finding, why it matters, and what to do.
Without a check, list the checks of diagnose. No source is needed; docs/CHECKS.md has the same text,
docs/PREFLIGHT.md the text of the checks of preflight.`,
		Example: `  kitescope explain
  kitescope explain growing-flushed
  kitescope explain --where severity=error --columns id,title`,
		Args: cli.Args(0, 1, "one check at a time", "kitescope explain growing-flushed"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeChecks(nil, nil, "")
		},
		RunE: func(cmd *cobra.Command, args []string) error { return explain(a, cmd, &f, args) },
	}
	f.Register(cmd, clusters.CheckFormats(), 0, "")
	f.List(cmd, clusters.CheckSchema, "severity=error", "severity,id", "id,severity,title; +follows_from")
	return cmd
}

func explain(a *cli.App, cmd *cobra.Command, f *cli.ReportFlags, args []string) error {
	format, o, err := f.Parse(a, cmd)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return a.Write(func(w *bufio.Writer) error { return clusters.Checks(w, rules.All(), format, o) })
	}
	checks := rules.All()
	x := check.Find(checks, args[0])
	if x == nil {
		checks = preflight.All()
		x = check.Find(checks, args[0])
	}
	if x == nil {
		return unknownCheck(args[0])
	}
	switch {
	case o.HasQuery():
		return cli.Usage(errors.New("--where, --sort, --columns and -n work only on the list of checks"),
			"omit them, or the check")
	case !format.Documents() && format.Name() != "table" && format.Name() != "wide":
		return cli.Usage(fmt.Errorf("output format %q is for lists", format.Name()),
			"one check has text, json and yaml")
	}
	o.Format = format
	return a.Write(func(w *bufio.Writer) error { return clusters.Explain(w, x, checks, o.Options) })
}
