package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

// Entry is a command in the command table, with the data that help and completion list.
type Entry struct {
	Name, Short, Group string
	Hidden             bool
	// Build creates the command with its flags. Its name, short text and group are those of the entry.
	Build       func(*App) *cobra.Command
	Subcommands []Entry // subcommands
}

// annotations lists the subcommands before they are built.
func (e *Entry) annotations() map[string]string {
	if len(e.Subcommands) == 0 {
		return nil
	}
	names := make([]string, 0, len(e.Subcommands))
	for i := range e.Subcommands {
		names = append(names, e.Subcommands[i].Name)
	}
	return map[string]string{subcommandsKey: strings.Join(names, " ")}
}

// Tree is a command with all its subcommands. A subcommand stays an Entry until a command line names it,
// because building all subcommands took much of the run time of a short command.
type Tree struct {
	Root    *cobra.Command
	app     *App
	entries map[*cobra.Command]*Entry // commands that are not built yet
}

// NewTree returns a tree with only the root command.
func NewTree(a *App, root *cobra.Command) *Tree {
	return &Tree{Root: root, app: a, entries: map[*cobra.Command]*Entry{}}
}

// Add adds entries below the root.
func (t *Tree) Add(entries []Entry) { t.list(t.Root, entries) }

// list adds entries below a command.
func (t *Tree) list(parent *cobra.Command, entries []Entry) {
	for i := range entries {
		entry := &entries[i]
		cmd := &cobra.Command{
			Use: entry.Name, Short: entry.Short, GroupID: entry.Group, Hidden: entry.Hidden, Args: cobra.ArbitraryArgs,
			// commands that run are built first
			RunE: func(*cobra.Command, []string) error { return errors.New(entry.Name + " was not built") },
		}
		t.entries[cmd] = entry
		cmd.Annotations = entry.annotations()
		parent.AddCommand(cmd)
	}
}

// build replaces a placeholder with the full command.
func (t *Tree) build(cmd *cobra.Command) {
	entry := t.entries[cmd]
	delete(t.entries, cmd)
	full := entry.Build(t.app)
	full.Short, full.GroupID, full.Hidden, full.Annotations = entry.Short, entry.Group, entry.Hidden,
		entry.annotations()
	if len(entry.Subcommands) > 0 {
		full.Args, full.RunE = cobra.ArbitraryArgs, noCommand
	}
	wrapArgsErrors(full)
	parent := cmd.Parent()
	parent.RemoveCommand(cmd)
	parent.AddCommand(full)
	t.list(full, entry.Subcommands)
}

// Find returns the command that words name and the remaining words, like cobra's Find.
func (t *Tree) Find(words []string) (*cobra.Command, []string, error) {
	for {
		cmd, rest, err := t.Root.Find(words)
		if err != nil || t.entries[cmd] == nil {
			return cmd, rest, err
		}
		t.build(cmd)
	}
}

// BuildAll builds every command, for callers that need all flags.
func (t *Tree) BuildAll() {
	for len(t.entries) > 0 {
		for cmd := range t.entries {
			t.build(cmd)
		}
	}
}

// Prepare builds the command that a command line names or completes.
func (t *Tree) Prepare(words []string) {
	if len(words) > 0 && (words[0] == cobra.ShellCompRequestCmd || words[0] == cobra.ShellCompNoDescRequestCmd) {
		words = words[1:]
	}
	_, _, _ = t.Find(words) // errors are reported when the command runs
}

// wrapArgsErrors turns wrong argument counts into usage errors (exit code 2) that name the command.
func wrapArgsErrors(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		var usage *UsageError
		if err != nil && !errors.As(err, &usage) {
			return Usage(err, "see: "+cmd.CommandPath()+" --help")
		}
		return err
	}
}
