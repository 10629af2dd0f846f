package main

import (
	"slices"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile/pull"
)

// withStrict wraps build so that the command exits with cli.ExitIncomplete under --strict if data was missing from
// its output.
func withStrict(build func(*cli.App) *cobra.Command) func(*cli.App) *cobra.Command {
	return func(a *cli.App) *cobra.Command {
		cmd := build(a)
		run := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			err := run(cmd, args)
			if err == nil && a.Flags.Strict && a.ProfilesMissing {
				return &cli.CodeError{Code: cli.ExitIncomplete}
			}
			return err
		}
		return cmd
	}
}

// completeNodes completes the names of nodes, from the folders of profiles on the command line.
func completeNodes(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var nodes []string
	for _, dir := range args {
		record, err := pull.Read(dir)
		if err != nil {
			continue // not a folder, or not one with profiles
		}
		for _, item := range record.Items {
			if !slices.Contains(nodes, item.Node) {
				nodes = append(nodes, item.Node)
			}
		}
	}
	return nodes, cobra.ShellCompDirectiveNoFileComp
}
