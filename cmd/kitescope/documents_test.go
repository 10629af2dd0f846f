package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"kitescope/cmd/kitescope/cli"
)

// TestDocumentedCommandsAreValid checks that each command line in the README and the documents uses a
// command, flags and arguments that exist, and that selectors use columns and values that exist.
func TestDocumentedCommandsAreValid(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	lines := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range documentedCommands(string(text)) {
			lines++
			if err := validateCommand(line); err != nil {
				t.Errorf("%s: %s: %v", file, line, err)
			}
		}
	}
	if lines < 130 {
		t.Errorf("%d command lines in %d documents", lines, len(files))
	}
}

var codeLine = regexp.MustCompile(`^( {4,}|\t)?(kitescope( .*)?)$`)

// documentedCommands returns the command lines in the code blocks of a Markdown text.
func documentedCommands(text string) (lines []string) {
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		m := codeLine.FindStringSubmatch(line)
		if m == nil || m[1] == "" && !fenced {
			continue
		}
		lines = append(lines, unquotedCut(m[2]))
	}
	return lines
}

// unquotedCut cuts a line at the first comment, redirection or other shell operator outside of quotes.
func unquotedCut(line string) string {
	quote := rune(0)
	for i, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
		case r == '\'' || r == '"':
			quote = r
		case strings.ContainsRune("|>&;#", r) && i > 0 && line[i-1] == ' ':
			return strings.TrimRight(line[:i], " ")
		}
	}
	return line
}

// shellWords splits a line into words. It handles quotes and backslashes, but no other shell syntax.
func shellWords(line string) (words []string) {
	var b strings.Builder
	quote, in, escaped := rune(0), false, false
	for _, r := range line {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case quote == 0 && r == '\\':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, in = r, true
		case quote == 0 && r == ' ':
			if in || b.Len() > 0 {
				words = append(words, b.String())
			}
			b.Reset()
			in = false
		default:
			b.WriteRune(r)
		}
	}
	if in || b.Len() > 0 {
		words = append(words, b.String())
	}
	return words
}

// validatingCommands lists the commands that validate their arguments before they look for a cluster.
var validatingCommands = []string{
	"get", "diagnose", "history", "balance", "describe", "tree", "overview", "latency", "why", "metrics", "slow",
}

// validateCommand parses a command line and returns an error if it is invalid. It runs the commands listed in the
// variable asked until they need a cluster.
func validateCommand(line string) error {
	words := shellWords(line)[1:]
	p := newProgram(scriptStreams(io.Discard, io.Discard, nil))
	p.tree.Prepare(words)
	cmd, rest, err := p.tree.Find(words)
	if err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if cmd == p.tree.Root && len(cmd.Flags().Args()) > 0 {
		return cli.UnknownCommand(cmd, cmd.Flags().Args()[0])
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil && !strings.Contains(line, "--help") {
		return err
	}
	if !slices.Contains(validatingCommands, cmd.Name()) || cmd.Parent() != p.tree.Root ||
		slices.Contains(words, "--help") {
		return nil
	}
	return checkNeedsCluster(words)
}

// checkNeedsCluster runs a command line without a cluster. It returns an error if the command fails for any other
// reason.
func checkNeedsCluster(words []string) error {
	var without []string
	for i := 0; i < len(words); i++ {
		switch name := words[i]; {
		case name == "--from", name == "--context", name == "--runtime", name == "--prometheus",
			name == "--since" && words[0] == "diagnose",
			name == "--storage", name == "--baseline", name == "--access-log", name == "-O", name == "--write-baseline":
			i++
		default:
			without = append(without, name)
		}
	}
	var said bytes.Buffer
	p := newProgram(scriptStreams(io.Discard, &said, nil))
	if code := p.run(context.Background(), without); code != 0 && !strings.Contains(said.String(), "no cluster given") {
		return errors.New(strings.TrimSpace(said.String()))
	}
	return nil
}

var (
	guideCommand  = regexp.MustCompile(`^((?:kitescope|export|make|go|etcdctl) .*)$`)
	inlineCommand = regexp.MustCompile("`(kitescope [^`]+)`")
	guideMark     = regexp.MustCompile(` # (needs|opens the UI|until \^C)`)
)

// TestGuides runs every command line of getting-started and the how-to guides on the demo, including those within
// the text. Guides mark the lines that the demo or a test cannot run. The test counts them, so that it fails if
// one is added.
func TestGuides(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/how-to/*.md")
	if err != nil {
		t.Fatal(err)
	}
	run, marked := 0, map[string]int{}
	for _, file := range append(files, "../../docs/getting-started.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script := strings.Builder{}
		script.WriteString("env KITESCOPE_FROM=demo://\n")
		for _, line := range guideCommands(string(text)) {
			name, value, isExport := strings.Cut(strings.TrimPrefix(line, "export "), "=")
			switch mark := guideMark.FindStringSubmatch(line); {
			case mark != nil:
				marked[mark[1]]++
			case strings.HasPrefix(line, "export ") && isExport:
				script.WriteString("env " + name + "=" + strings.Trim(value, "`") + "\n")
			default:
				run++
				script.WriteString("try " + unquotedCut(line) + "\n")
			}
		}
		runScript(t, strings.TrimSuffix(filepath.Base(file), ".md"), script.String())
	}
	if want := map[string]int{"needs": 14, "opens the UI": 3, "until ^C": 2}; run < 100 || !maps.Equal(marked, want) {
		t.Errorf("%d command lines were run; not run, by mark: %v, want %v", run, marked, want)
	}
}

// guideCommands returns the command lines of a guide: in indented or fenced blocks, and between backquotes in the
// text.
func guideCommands(text string) (list []string) {
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		indented := strings.HasPrefix(line, "    ")
		if code := guideCommand.FindString(strings.TrimSpace(line)); code != "" && (fenced || indented) {
			list = append(list, code)
			continue
		}
		for _, m := range inlineCommand.FindAllStringSubmatch(line, -1) {
			list = append(list, m[1])
		}
	}
	return list
}

// runOrFind runs a command line that may exit 3 because it has findings.
func runOrFind(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[0], args[1:]...)
	if found, ok := errors.AsType[*exec.ExitError](err); !ok || found.ExitCode() != 3 {
		ts.Check(err)
	}
}

// runScript runs a script of kitescope command lines.
func runScript(t *testing.T, name, script string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".txtar")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: []string{file},
		Setup: func(env *testscript.Env) error {
			env.Setenv("KITESCOPE_CONFIG", filepath.Join(env.WorkDir, "config.yaml"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"try": runOrFind},
	})
}

var tableCommand = regexp.MustCompile("`(kitescope [^`]+)`")

// TestReadme runs the commands of the README that do not name a cluster on the demo: those in code blocks and
// those in the table of questions.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := documentedCommands(string(text))
	for row := range strings.Lines(string(text)) {
		if strings.HasPrefix(row, "| ") {
			for _, m := range tableCommand.FindAllStringSubmatch(row, -1) {
				lines = append(lines, m[1])
			}
		}
	}
	script, run := strings.Builder{}, 0
	script.WriteString("env KITESCOPE_FROM=demo://\n")
	for _, line := range lines {
		words := shellWords(line)
		if len(words) < 2 || !slices.Contains(validatingCommands, words[1]) || strings.Contains(line, "--from") {
			continue
		}
		run++
		if strings.Contains(line, "--fail-on") { // exits 3 because there are findings
			script.WriteString("! ")
		}
		script.WriteString("exec " + line + "\nstdout .\n")
	}
	if run < 8 {
		t.Fatalf("only %d command lines to run:\n%s", run, script.String())
	}
	runScript(t, "readme", script.String())
}

// TestVersionIsDocumented checks that the newest section of the changelog and the README name the version of the
// program.
func TestVersionIsDocumented(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"../../CHANGELOG.md": `(?s)\A[^#]*# Changelog[^#]*## ` + regexp.QuoteMeta(cli.Version) + `\b`,
		"../../README.md":    `\| Version, license \| ` + regexp.QuoteMeta(cli.Version) + ` `,
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("%s does not name version %s", file, cli.Version)
		}
	}
}
