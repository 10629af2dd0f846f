package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

// Entry is a command in the table of commands: what help and completion list of it.
type Entry struct {
	Name, Short, Group string
	Hidden             bool
	// Build makes the command with its flags; its name, text and group are those of the entry.
	Build func(*App) *cobra.Command
	Below []Entry // its subcommands
}

// annotations tell which commands are below, before they are built.
func (e *Entry) annotations() map[string]string {
	if len(e.Below) == 0 {
		return nil
	}
	names := make([]string, 0, len(e.Below))
	for i := range e.Below {
		names = append(names, e.Below[i].Name)
	}
	return map[string]string{belowKey: strings.Join(names, " ")}
}

// Tree is a command and all below it. Of those a command line needs one, so each is an entry until it is named: to build
// them all took a short command a good part of its time.
type Tree struct {
	Root    *cobra.Command
	app     *App
	entries map[*cobra.Command]*Entry // of what is not built yet
}

// NewTree is a tree of root, which is built, with nothing below it yet.
func NewTree(a *App, root *cobra.Command) *Tree {
	return &Tree{Root: root, app: a, entries: map[*cobra.Command]*Entry{}}
}

// Add puts commands below the root.
func (t *Tree) Add(below []Entry) { t.list(t.Root, below) }

// list puts entries below a command.
func (t *Tree) list(parent *cobra.Command, below []Entry) {
	for i := range below {
		entry := &below[i]
		cmd := &cobra.Command{
			Use: entry.Name, Short: entry.Short, GroupID: entry.Group, Hidden: entry.Hidden, Args: cobra.ArbitraryArgs,
			RunE: func(*cobra.Command, []string) error { return errors.New(entry.Name + " was not built") }, // what runs is listed
		}
		t.entries[cmd] = entry
		cmd.Annotations = entry.annotations()
		parent.AddCommand(cmd)
	}
}

// build puts a command in the place of its entry.
func (t *Tree) build(cmd *cobra.Command) {
	entry := t.entries[cmd]
	delete(t.entries, cmd)
	full := entry.Build(t.app)
	full.Short, full.GroupID, full.Hidden, full.Annotations = entry.Short, entry.Group, entry.Hidden, entry.annotations()
	if len(entry.Below) > 0 {
		full.Args, full.RunE = cobra.ArbitraryArgs, noCommand
	}
	usageOnly(full)
	parent := cmd.Parent()
	parent.RemoveCommand(cmd)
	parent.AddCommand(full)
	t.list(full, entry.Below)
}

// Find is the command that words name, with the words behind it, as cobra finds it.
func (t *Tree) Find(words []string) (*cobra.Command, []string, error) {
	for {
		cmd, rest, err := t.Root.Find(words)
		if err != nil || t.entries[cmd] == nil {
			return cmd, rest, err
		}
		t.build(cmd)
	}
}

// All builds every command, for what tells of all their flags.
func (t *Tree) All() {
	for len(t.entries) > 0 {
		for cmd := range t.entries {
			t.build(cmd)
		}
	}
}

// Prepare builds what a command line is about: what it names, or wants to be completed.
func (t *Tree) Prepare(words []string) {
	if len(words) > 0 && (words[0] == cobra.ShellCompRequestCmd || words[0] == cobra.ShellCompNoDescRequestCmd) {
		words = words[1:]
	}
	_, _, _ = t.Find(words) // what is wrong with them is said when they are run
}

// usageOnly makes wrong argument counts usage errors (exit 2), with the command named.
func usageOnly(cmd *cobra.Command) {
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
