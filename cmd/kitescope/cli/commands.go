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

// Groups of commands in the help: about vector indexes, about profiles and benchmarks, and to set up.
const (
	GroupSetup   = "setup"
	GroupEngine  = "engine"
	GroupProfile = "profile"
)

// DefaultEntries is how many entries a table of profiles has for people; scripts get all.
const DefaultEntries = 40

// Fixed completes a flag that has one of a few words.
func Fixed(words ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// Args wants so many arguments of a command; what they are is a noun with its article.
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

// Pattern reads a regular expression of the command line.
func Pattern(what, text string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, Usage(fmt.Errorf("%s %q is not a regular expression: %w", what, text, err), `quote names with ( or *: this is Go regexp syntax, \( matches a parenthesis`)
	}
	return re, nil
}

// FlagValues are the values of a flag that may be given several times.
func FlagValues(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// RedactWords are words of a command line as they can be shown.
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

// LeaveOut takes flags from a command that it has in common with others, and no use for.
func LeaveOut(cmd *cobra.Command, names ...string) {
	all := cmd.Flags()
	cmd.ResetFlags()
	all.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(names, f.Name) {
			cmd.Flags().AddFlag(f)
		}
	})
}

// WithHint gives an error a hint, with that which it has already.
func WithHint(err error, hint string) error {
	if own := hintOf(err); own != "" {
		hint = own + "; " + hint
	}
	return &hints.Error{Err: err, Advice: hint}
}

// Again are the words of a command line that asks the same, without the flags that say where it is shown.
func Again(cmd *cobra.Command, args []string) []string {
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

// ErrNoTerminal is the error of a UI that has none.
func ErrNoTerminal() error {
	return Usage(errors.New("no terminal for the UI"), "omit --ui")
}

// ResourceNames are the words behind get.
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
	return Usage(fmt.Errorf("%s needs a command: %s", cmd.Name(), strings.Join(names, ", ")), "see: "+cmd.CommandPath()+" --help")
}
