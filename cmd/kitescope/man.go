package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"kitescope/cmd/kitescope/cli"
)

// manCommand returns the command that writes the manual pages of all commands.
func manCommand(tree *cli.Tree) *cobra.Command {
	return &cobra.Command{
		Use: "man FOLDER", Short: "Write manual pages of all commands into a folder", GroupID: cli.GroupSetup,
		Long:    "Write manual pages of all commands into a folder that exists.",
		Example: "  kitescope man /usr/local/share/man/man1",
		Args:    cli.Args(1, 1, "the folder", "for example: kitescope man /usr/local/share/man/man1"),
		RunE: func(_ *cobra.Command, args []string) error {
			tree.BuildAll()
			verbatim(tree.Root)
			return doc.GenManTree(tree.Root, &doc.GenManHeader{Section: "1", Source: "kitescope " + cli.Version},
				args[0])
		},
	}
}

// verbatim marks the texts of commands as code, because Markdown would join the lines of their tables.
func verbatim(c *cobra.Command) {
	if c.Long != "" {
		c.Long = "```\n" + cli.WrapHelp(c.Long, 80) + "\n```"
	}
	for _, below := range c.Commands() {
		verbatim(below)
	}
}
