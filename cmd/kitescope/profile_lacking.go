package main

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile/pull"
	"kitescope/words/hints"
)

// strictly makes a command end with cli.ExitIncomplete under --strict, where something was missing from what it has shown.
func strictly(build func(*cli.App) *cobra.Command) func(*cli.App) *cobra.Command {
	return func(a *cli.App) *cobra.Command {
		cmd := build(a)
		run := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			err := run(cmd, args)
			if err == nil && a.Flags.Strict && a.Lacking {
				return &cli.CodeError{Code: cli.ExitIncomplete}
			}
			return err
		}
		return cmd
	}
}

// warnMissing tells of the profiles that a record was made to have, and has not.
func (c *chooser) warnMissing(r *pull.Record, path string) {
	for _, p := range r.Problems {
		c.Lacking = true
		c.Note("incomplete: %s: %s: %s", path, p.Where, p.Reason)
	}
	var asked pull.Manifest
	for _, round := range r.Rounds {
		if round.Manifest == nil {
			continue
		}
		for i := range round.Manifest.Profiles {
			e := &round.Manifest.Profiles[i]
			ofKind := c.kind == "" || e.Kind == c.kind
			ofNode := len(c.in.nodes) == 0 || slices.Contains(c.in.nodes, e.Node)
			if ofKind && ofNode {
				asked.Profiles = append(asked.Profiles, *e)
			}
		}
	}
	c.Lacking = c.Lacking || asked.Failed() > 0
	warnFailed(c.App, &asked)
}

// noSuchFile is the error of a word that is no file. It may be an address, with credentials in it.
func noSuchFile(word string) error {
	shown := word
	host, port, err := net.SplitHostPort(strings.SplitN(word, "/", 2)[0])
	isAddress := err == nil && host != "" && port != ""
	if isAddress || strings.Contains(word, ":") {
		shown = pull.RedactWord(word)
	}
	err = fmt.Errorf("read %s: there is no such file", shown)
	if isAddress {
		return &hints.Error{Err: err, Advice: "if it is a service: http://" + shown}
	}
	return err
}

// completeNodes are the nodes of the folders that a command line names.
func completeNodes(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var nodes []string
	for _, dir := range args {
		record, err := pull.Read(dir)
		if err != nil {
			continue // no folder, or none of profiles
		}
		for _, item := range record.Items {
			if !slices.Contains(nodes, item.Node) {
				nodes = append(nodes, item.Node)
			}
		}
	}
	return nodes, cobra.ShellCompDirectiveNoFileComp
}
