package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/inspect/view"
	"kitescope/internal/hints"
)

// subcommandsKey annotates a command group with the names of its subcommands, because these are built on demand.
const subcommandsKey = "kitescope_below"

// equivalentCommands maps command names of other tools to commands of kitescope.
var equivalentCommands = map[string]string{
	"ls": "get", "list": "get", "show": "get", "logs": "history", "events": "history", "log": "history",
	"status": "overview", "health": "diagnose",
	"check": "diagnose", "doctor": "diagnose", "info": "overview", "backup": "snapshot save", "save": "snapshot save",
	"dump":  "snapshot save",
	"pprof": "profile", "flamegraph": "profile flame", "config": "context", "login": "context add", "shell": "ui",
	"repl": "ui", "bench": "engine bench",
}

// UnknownCommand returns the error for an unknown command. Its hint suggests commands with similar names,
// subcommands of a group, resources, and equivalents of other tools' commands.
func UnknownCommand(cmd *cobra.Command, word string) error {
	err := fmt.Errorf("unknown command %q", word)
	if instead := removedCommands[strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")+" "+word]; instead !=
		"" {
		return Usage(fmt.Errorf("command %q was removed", word), instead)
	}
	meant := suggestCommands(cmd, word)
	if len(meant) == 0 {
		return Usage(err, "see: "+cmd.CommandPath()+" --help")
	}
	return Usage(err, "did you mean: "+strings.Join(meant, ", "))
}

func suggestCommands(cmd *cobra.Command, word string) (meant []string) {
	path := cmd.CommandPath() + " "
	add := func(what string) {
		if !slices.Contains(meant, what) {
			meant = append(meant, what)
		}
	}
	if r, err := view.Find(word); err == nil && !cmd.HasParent() {
		add(path + "get " + r.Name)
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
		if slices.Contains(strings.Fields(c.Annotations[subcommandsKey]), word) {
			add(path + c.Name() + " " + word)
		}
	}
	if !cmd.HasParent() {
		if what := equivalentCommands[strings.ToLower(word)]; what != "" {
			add(path + what)
		}
	}
	if len(meant) > 0 {
		return meant
	}
	for _, name := range hints.Similar(word, names) {
		add(path + name)
	}
	if !cmd.HasParent() {
		for _, name := range hints.Similar(word, ResourceNames()) {
			add(path + "get " + name)
		}
	}
	return meant
}

// FlagError adds a hint to the error of an unknown flag: flags with similar names, or the replacement of a
// removed flag.
func FlagError(cmd *cobra.Command, err error) error {
	hint := "see: " + cmd.CommandPath() + " --help"
	bad, isBad := errors.AsType[*pflag.InvalidValueError](err)
	if number, ok := errors.AsType[*strconv.NumError](err); ok && isBad {
		what := map[string]string{"ParseFloat": "a number"}[number.Func]
		return Usage(fmt.Errorf("--%s: %q is not %s", bad.GetFlag().Name, number.Num,
			cmp.Or(what, "a whole number in range")), hint)
	}
	missing, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return Usage(err, hint)
	}
	if instead := replacement(cmd, missing.GetSpecifiedName()); instead != "" {
		return Usage(fmt.Errorf("flag %s was removed", missing.GetSpecifiedName()), instead)
	}
	if missing.GetSpecifiedShortnames() != "" {
		return Usage(err, hint)
	}
	var all []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			all = append(all, f.Name)
		}
	})
	if alike := hints.Similar(missing.GetSpecifiedName(), all); len(alike) > 0 {
		hint = "did you mean: --" + strings.Join(alike, ", --")
	}
	return Usage(err, hint)
}
