package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/inspect/view"
	"kitescope/internal/hints"
	"kitescope/profile/pull"
)

// Groups of commands in the help: setup, vector indexes, and profiles and benchmarks.
const (
	GroupSetup   = "setup"
	GroupEngine  = "engine"
	GroupProfile = "profile"
)

// DefaultEntries is the default number of rows of a profile table for people. Structured formats have all rows.
const DefaultEntries = 40

// FixedCompletions completes a flag from a fixed list of words.
func FixedCompletions(words ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// Args returns a check that a command has from `from` to `to` arguments. what names them in the error message, with
// an article.
func Args(from, to int, what, hint string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
		switch {
		case len(args) < from:
			return Usage(fmt.Errorf("%s needs %s", name, what), hint)
		case len(args) > to:
			return Usage(fmt.Errorf("%s takes %s, not %d arguments", name, what, len(args)), hint)
		}
		return nil
	}
}

// Pattern compiles a regular expression from the command line.
func Pattern(what, text string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil,
			Usage(fmt.Errorf("%s %q is not a regular expression: %w", what, text, err),
				`quote names with ( or *: this is Go regexp syntax, \( matches a parenthesis`)
	}
	return re, nil
}

// FlagValues returns all values of a repeatable flag.
func FlagValues(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// RedactWords removes credentials from the words of a command line.
func RedactWords(words []string) []string {
	shown := make([]string, len(words))
	for i, word := range words {
		shown[i] = word
		if strings.Contains(word, "://") {
			shown[i] = pull.RedactWord(word)
		}
	}
	return shown
}

// RemoveFlags removes shared flags from a command that has no use for them.
func RemoveFlags(cmd *cobra.Command, names ...string) {
	all := cmd.Flags()
	cmd.ResetFlags()
	all.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			cmd.Flags().AddFlag(f)
		}
	})
}

// WithHint appends hint to the hint of err.
func WithHint(err error, hint string) error {
	if own := hintOf(err); own != "" {
		hint = own + "; " + hint
	}
	return &hints.Error{Err: err, Advice: hint}
}

// RepeatArgs returns the arguments and flags that repeat a command, without the flags for the output and the UI.
// Credentials are removed.
func RepeatArgs(cmd *cobra.Command, args []string) []string {
	words := RedactWords(args)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "ui", "theme", "output", "color", "debug":
			return
		}
		for _, value := range FlagValues(f) {
			words = append(words, "--"+f.Name+"="+pull.RedactWord(value))
		}
	})
	return words
}

// ErrNoTerminal returns the error of --ui without a terminal.
func ErrNoTerminal() error {
	return Usage(errors.New("no terminal for the UI"), "omit --ui")
}

// ResourceNames returns the resources of kitescope get.
func ResourceNames() []string {
	var names []string
	for _, r := range view.Resources {
		names = append(names, r.Name)
	}
	return names
}

// noCommand rejects a command line without a subcommand, for commands that have only these.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UnknownCommand(cmd, args[0])
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return Usage(fmt.Errorf("%s needs a command: %s", cmd.Name(), strings.Join(names, ", ")),
		"see: "+cmd.CommandPath()+" --help")
}
