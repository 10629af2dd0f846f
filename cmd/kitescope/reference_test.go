package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

// generatedNotice is the notice at the top of generated pages.
const generatedNotice = "This page is generated from the code: `go test ./cmd/kitescope -run TestReference -update`.\n"

// TestReference checks that the generated pages in docs/reference and the table of exit codes in the README match
// the code.
func TestReference(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"exit-codes.md":  "# Exit codes\n\n" + generatedNotice + "\n" + exitCodesTable(true),
		"environment.md": "# Environment variables\n\n" + generatedNotice + "\n```text\n" + helpEnvironment + "\n```\n",
		"commands.md":    "# Commands\n\n" + generatedNotice + commandsReference(t),
	} {
		compareFile(t, "../../docs/reference/"+name, func(string) (string, bool) { return want, true })
	}
	compareFile(t, "../../README.md", func(text string) (string, bool) {
		const begin, end = "<!-- exit codes -->\n", "<!-- /exit codes -->\n"
		head, rest, ok := strings.Cut(text, begin)
		_, tail, closed := strings.Cut(rest, end)
		return head + begin + exitCodesTable(false) + end + tail, ok && closed
	})
}

// compareFile compares a file with its expected content, or writes that with -update.
func compareFile(t *testing.T, path string, want func(text string) (string, bool)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	whole, ok := want(string(text))
	switch {
	case !ok:
		t.Errorf("%s has lost its marks", path)
	case *update:
		if err := os.WriteFile(path, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
	case whole != string(text):
		t.Errorf("%s is out of date: go test ./cmd/kitescope -run TestReference -update", path)
	}
}

func exitCodesTable(full bool) string {
	var b strings.Builder
	b.WriteString("| code | meaning |\n|---|---|\n")
	for _, x := range cli.ExitCodes() {
		fmt.Fprintf(&b, "| %d | %s |\n", x.Code, x.Meaning)
	}
	if !full {
		return b.String()
	}
	b.WriteString("\nMeanings specific to a command:\n\n| code | command | meaning |\n|---|---|---|\n")
	for _, x := range cli.ExitCodes() {
		for _, of := range x.ByCommand {
			fmt.Fprintf(&b, "| %d | `%s` | %s |\n", x.Code, strings.ReplaceAll(of[0], "|", "\\|"), of[1])
		}
	}
	return b.String()
}

// commandsReference returns a list of all commands, followed by the help of each.
func commandsReference(t *testing.T) string {
	t.Helper()
	var list, all strings.Builder
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		for _, sub := range c.Commands() {
			if !sub.IsAvailableCommand() {
				continue
			}
			at := slices.Concat(path, []string{sub.Name()})
			name := strings.Join(at, " ")
			fmt.Fprintf(&list, "%s- [`%s`](#%s): %s\n", strings.Repeat("  ", len(path)), name,
				strings.ReplaceAll(name, " ", "-"), sub.Short)
			fmt.Fprintf(&all, "\n## %s\n\n```text\n%s\n```\n", name,
				strings.TrimRight(outputOf(t, slices.Concat(at, []string{"-h"})), "\n"))
			walk(sub, at)
		}
	}
	p := newProgram(scriptStreams(io.Discard, io.Discard, nil))
	p.tree.BuildAll()
	walk(p.tree.Root, nil)
	list.WriteString("\nCommon flags and help topics:\n\n")
	for _, sub := range p.tree.Root.Commands() {
		if sub.IsAdditionalHelpTopicCommand() {
			name := "help " + sub.Name()
			fmt.Fprintf(&list, "- [`%s`](#help-%s): %s\n", name, sub.Name(), sub.Short)
			fmt.Fprintf(&all, "\n## %s\n\n```text\n%s\n```\n", name,
				strings.TrimRight(outputOf(t, []string{"help", sub.Name()}), "\n"))
		}
	}
	return "\n" + list.String() + all.String()
}

// outputOf returns the standard output of a command line.
func outputOf(t *testing.T, args []string) string {
	t.Helper()
	var out, errs bytes.Buffer
	p := newProgram(scriptStreams(&out, &errs, nil))
	if code := p.run(context.Background(), args); code != 0 {
		t.Fatalf("%v: %d: %s", args, code, errs.String())
	}
	return out.String()
}
