package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/view"
)

// helpCommand replaces cobra's help command, which prints the root help and exits 0 if a word is unknown, and has
// no help for resources.
func helpCommand(tree *cli.Tree) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND|TOPIC|RESOURCE]", Short: "Help about a command, a topic or a resource",
		GroupID: cli.GroupSetup,
		Example: `  kitescope help get
  kitescope help selectors
  kitescope help segments`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return completeHelp(tree, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			about, rest, err := tree.Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 && !about.HasParent() {
				if _, err := view.Find(rest[0]); err != nil {
					return cli.UnknownCommand(about, rest[0])
				}
				about, _, _ = tree.Find([]string{"get"})
			}
			if len(rest) > 0 && about.HasSubCommands() {
				return cli.UnknownCommand(about, rest[0])
			}
			about.InitDefaultHelpFlag()
			if err := about.ParseFlags(rest); err != nil {
				return about.FlagErrorFunc()(about, err)
			}
			return about.Help()
		},
	}
}

// completeHelp completes the names of commands and help topics, one level at a time.
func completeHelp(tree *cli.Tree, args []string) ([]string, cobra.ShellCompDirective) {
	about, rest, err := tree.Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, sub := range about.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			words = append(words, cobra.CompletionWithDesc(sub.Name(), sub.Short))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// getHelp returns the help function of get. It prints the columns of a resource if the command line names one.
func getHelp(a *cli.App) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		for _, word := range cmd.Flags().Args() {
			if r, err := view.Find(word); err == nil {
				_, _ = io.WriteString(a.Out, resourceHelp(r, a.HelpWidth()))
				return
			}
		}
		cmd.Parent().HelpFunc()(cmd, args)
	}
}

// resourceHelp returns the help text of a resource and its columns, wrapped to width.
func resourceHelp(r *view.Resource, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nColumns of %s", r.Doc, r.Name)
	if len(r.Aliases) > 0 {
		fmt.Fprintf(&b, " (short: %s)", strings.Join(r.Aliases, ", "))
	}
	b.WriteString(":\n")
	short := map[string][]string{}
	for _, s := range slices.Sorted(maps.Keys(r.Shorthands)) {
		short[r.Shorthands[s]] = append(short[r.Shorthands[s]], s)
	}
	for _, c := range r.Columns {
		names := append([]string{c.Name}, short[c.Name]...)
		if label := strings.ReplaceAll(c.Label(), " ", "_"); !slices.Contains(names, label) && r.Column(label) >= 0 {
			names = append(names, label) // the column header in tables
		}
		fmt.Fprintf(&b, "  %-24s %s\n", strings.Join(names, ", "), c.Doc)
	}
	return cli.WrapHelp(b.String(), width)
}
