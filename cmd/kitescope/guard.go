package main

import (
	"slices"
	"strings"
)

// opensUI reports whether a command line opens the UI.
func (p *program) opensUI(args []string) bool {
	cmd, _, err := p.tree.Find(args)
	if err != nil {
		return false
	}
	switch {
	case !cmd.HasParent(), cmd.Name() == "ui", cmd.Name() == "demo":
		return true
	}
	return slices.ContainsFunc(args, func(word string) bool {
		return word == "--ui" || strings.HasPrefix(word, "--ui=")
	})
}
