package main

import (
	"bufio"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/render"
)

func explainCommand(a *cli.App) *cobra.Command {
	var f cli.DocumentFlags
	cmd := &cobra.Command{
		Use: "explain [CHECK]",
		Long: `Explain a check: what is looked at, what is a finding and what is not, why it matters, and
what to do. Without a check all are listed. Nothing is read; docs/CHECKS.md has the same.`,
		Example: `  kitescope explain
  kitescope explain growing-flushed`,
		Args: cli.Args(0, 1, "one check at a time", "kitescope explain growing-flushed"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeChecks(nil, nil, "")
		},
		RunE: func(_ *cobra.Command, args []string) error { return explain(a, &f, args) },
	}
	f.Register(cmd)
	return cmd
}

func explain(a *cli.App, f *cli.DocumentFlags, args []string) error {
	o, err := f.Options(a)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return a.Write(func(w *bufio.Writer) error { return render.Checks(w, rules.All(), o) })
	}
	x := check.Find(rules.All(), args[0])
	if x == nil {
		return unknownCheck(args[0])
	}
	return a.Write(func(w *bufio.Writer) error { return render.Explain(w, x, rules.All(), o) })
}
