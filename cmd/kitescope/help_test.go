package main

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"kitescope/inspect/view"
)

// TestHelpFitsAScreen checks that the help of every command, topic and resource has at most 80 columns, and that
// of commands at most 45 lines.
func TestHelpFitsAScreen(t *testing.T) {
	t.Parallel()
	const columns, rows = 80, 45
	read := func(rows int, args ...string) {
		var out, errs bytes.Buffer
		p := newProgram(scriptStreams(&out, &errs, nil))
		if code := p.run(context.Background(), args); code != 0 || out.Len() == 0 {
			t.Errorf("%q: exit code %d: %s", args, code, errs.String())
			return
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) > rows {
			t.Errorf("%q has %d lines", args, len(lines))
		}
		for _, line := range lines {
			if ansi.StringWidth(line) > columns {
				t.Errorf("%q has a line of %d columns: %s", args, ansi.StringWidth(line), line)
			}
		}
	}
	commands := 0
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		commands++
		read(rows, append(slices.Clone(path), "-h")...)
		for _, sub := range c.Commands() {
			at := append(slices.Clone(path), sub.Name())
			switch {
			case sub.IsAdditionalHelpTopicCommand():
				read(1000, append([]string{"help"}, at...)...)
			case sub.IsAvailableCommand():
				walk(sub, at)
			}
		}
	}
	p := newProgram(scriptStreams(io.Discard, io.Discard, nil))
	p.tree.BuildAll()
	walk(p.tree.Root, nil)
	if commands < 50 {
		t.Errorf("only %d commands", commands)
	}
	for _, r := range view.Resources {
		read(1000, "get", r.Name, "-h")
	}
}
