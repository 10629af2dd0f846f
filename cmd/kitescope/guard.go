package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// opensUI reports whether a command line opens the UI.
func opensUI(s *streams, args []string) bool {
	a := &app{streams: s, nodesOf: map[*cobra.Command]*nodeFlags{}}
	cmd, _, err := a.rootCommand().Find(args)
	if err != nil {
		return false
	}
	switch {
	case !cmd.HasParent(), cmd.Name() == "ui":
		return true
	case cmd.Name() == "demo":
		return !slices.Contains(args, "--serve")
	}
	return slices.ContainsFunc(args, func(word string) bool { return word == "--ui" || strings.HasPrefix(word, "--ui=") })
}
