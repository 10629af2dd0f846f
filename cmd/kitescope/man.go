package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

func manCommand(a *cli.App, tree *cli.Tree) *cobra.Command {
	return &cobra.Command{
		Use: "man", Args: cobra.NoArgs,
		Example: `  kitescope man | man -l -
  kitescope man > /usr/local/share/man/man1/kitescope.1`,
		RunE: func(*cobra.Command, []string) error {
			tree.All()
			return a.Write(func(w *bufio.Writer) error {
				_, err := w.WriteString(manual(tree.Root))
				return err
			})
		},
	}
}

// manual is all commands, flags and help topics as one page of man(7) macros.
func manual(root *cobra.Command) string {
	w := &strings.Builder{}
	fmt.Fprintf(w, ".TH KITESCOPE 1 \"\" %q \"User Commands\"\n", roffText("kitescope "+cli.VersionText()))
	fmt.Fprintf(w, ".SH NAME\nkitescope \\- %s\n", roffText(strings.ToLower(root.Short[:1])+root.Short[1:]))
	fmt.Fprint(w, ".SH SYNOPSIS\n.B kitescope\n[flags]\n.br\n.B kitescope\n.I command\n[flags]\n")
	fmt.Fprintf(w, ".SH DESCRIPTION\n%s", roffBlock(root.Long))
	fmt.Fprint(w, ".SH COMMANDS\n")
	var topics []*cobra.Command
	for _, c := range root.Commands() {
		switch {
		case c.IsAdditionalHelpTopicCommand():
			topics = append(topics, c)
		case c.IsAvailableCommand():
			writeManualCommand(w, c)
		}
	}
	fmt.Fprint(w, ".SH OPTIONS\n")
	fmt.Fprint(w, roffBlock(root.PersistentFlags().FlagUsages()))
	topics = slices.DeleteFunc(topics, func(c *cobra.Command) bool { return c.Long == "" }) // flags: those are the options
	for _, c := range topics {
		fmt.Fprintf(w, ".SH %s\n%s", strings.ToUpper(strings.ReplaceAll(c.Name(), "-", " ")), roffBlock(c.Long))
	}
	fmt.Fprintf(w, ".SH EXAMPLES\n%s", roffBlock(root.Example))
	return w.String()
}

func writeManualCommand(w *strings.Builder, c *cobra.Command) {
	if c.HasAvailableSubCommands() {
		for _, sub := range c.Commands() {
			writeManualCommand(w, sub)
		}
		return
	}
	fmt.Fprintf(w, ".SS %s\n", roffText(c.CommandPath()+strings.TrimPrefix(c.Use, c.Name())))
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprint(w, roffBlock(text))
	if usages := c.LocalNonPersistentFlags().FlagUsages(); usages != "" {
		fmt.Fprintf(w, ".PP\nFlags:\n%s", roffBlock(usages))
	}
	if c.Example != "" {
		fmt.Fprintf(w, ".PP\nExamples:\n%s", roffBlock(c.Example))
	}
}

// roffBlock is text as it stands, line by line: help texts are laid out by hand.
func roffBlock(text string) string {
	var b strings.Builder
	b.WriteString(".nf\n")
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		b.WriteString(roffText(line) + "\n")
	}
	b.WriteString(".fi\n")
	return b.String()
}

// roffText escapes what roff would read as a request or a typographic sign; see
// groff_char(7) on the minus and the quotes.
func roffText(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}
