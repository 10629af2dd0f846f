package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kitescope/inspect/meta"
	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/words"
)

// completionTimeout bounds what a tab key may cost.
const completionTimeout = 2 * time.Second

// completeFlags completes the flags of get.
func (a *app) completeFlags(cmd *cobra.Command) {
	columns := func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		r, err := view.Find(args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return view.CompleteColumns(r, word), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	_ = cmd.RegisterFlagCompletionFunc("sort", columns)
	_ = cmd.RegisterFlagCompletionFunc("columns", columns)
	_ = cmd.RegisterFlagCompletionFunc("output", fixed(strings.Split(render.FormatNames(), ", ")...))
}

// completeGet completes a resource, then selectors and names of objects.
func (a *app) completeGet(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return resourceNames(), cobra.ShellCompDirectiveNoFileComp
	}
	r, err := view.Find(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, again := view.CompleteSelector(a.completionEnv(cmd.Context(), r), r, word)
	// A shell puts words on the screen as they are.
	list = slices.DeleteFunc(list, func(w string) bool { return words.Harmless(w) != w })
	if again { // a value follows
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// completionEnv reads the cluster for a completion, quietly; nil if it cannot be had in time.
func (a *app) completionEnv(ctx context.Context, r *view.Resource) *view.Env {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	c, err := a.connection()
	if err != nil || c.From == "-" {
		return nil
	}
	if _, stored, err := a.storedPassword(c); err != nil || a.spec(c).WantsPassword() && !stored {
		return nil // it would prompt
	}
	a.flags.quiet = true
	cluster, err := a.load(ctx, a.flags.from, meta.Want{Parts: r.Needs, Records: r.Keyspace})
	if err != nil {
		return nil
	}
	return view.NewEnv(cluster, a.now())
}
