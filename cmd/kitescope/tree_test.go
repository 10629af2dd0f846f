package main

import (
	"io"
	"testing"

	"github.com/spf13/cobra"
)

// TestOnlyNamedCommandIsBuilt checks that only the command named on the command line is built and has its flags.
func TestOnlyNamedCommandIsBuilt(t *testing.T) {
	p := newProgram(scriptStreams(io.Discard, io.Discard, nil))
	if code := p.run(t.Context(), []string{"profile", "top", "--help"}); code != 0 {
		t.Fatalf("exit %d", code)
	}
	var built []string
	var collect func(c *cobra.Command)
	collect = func(c *cobra.Command) {
		if c.Runnable() && c.LocalNonPersistentFlags().Lookup("output") != nil {
			built = append(built, c.CommandPath())
		}
		for _, sub := range c.Commands() {
			collect(sub)
		}
	}
	collect(p.tree.Root)
	if len(built) != 1 || built[0] != "kitescope profile top" {
		t.Errorf("with --output: %q", built)
	}
	built = nil
	p.tree.BuildAll()
	if collect(p.tree.Root); len(built) < 30 {
		t.Errorf("of all commands %d have --output: %q", len(built), built)
	}
}

// TestCommandsHaveTheirNames checks that the names in the table of commands are those of the built commands.
func TestCommandsHaveTheirNames(t *testing.T) {
	p := newProgram(scriptStreams(io.Discard, io.Discard, nil))
	var names func(c *cobra.Command) []string
	names = func(c *cobra.Command) (list []string) {
		for _, sub := range c.Commands() {
			list = append(append(list, sub.CommandPath()), names(sub)...)
		}
		return list
	}
	for _, sub := range p.tree.Root.Commands() {
		if _, _, err := p.tree.Find([]string{sub.Name()}); err != nil {
			t.Error(err)
		}
	}
	listed := names(p.tree.Root) // subcommands are listed but not built
	p.tree.BuildAll()
	built := names(p.tree.Root)
	if len(listed) < 50 || len(listed) != len(built) {
		t.Fatalf("%d are listed, %d built", len(listed), len(built))
	}
	for i := range built {
		if built[i] != listed[i] {
			t.Errorf("%q is listed, and built it is %q", listed[i], built[i])
		}
	}
}
