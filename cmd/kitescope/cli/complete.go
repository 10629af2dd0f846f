package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"kitescope/inspect/meta"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// completionTimeout limits the duration of a completion.
const completionTimeout = 2 * time.Second

// CompleteFlags registers the completion of the flags of get.
func CompleteFlags(cmd *cobra.Command) {
	columns := func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		r, err := view.Find(args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return table.CompleteColumns(&r.Schema, word),
			cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	_ = cmd.RegisterFlagCompletionFunc("sort", columns)
	_ = cmd.RegisterFlagCompletionFunc("columns", columns)
}

// CompleteGet completes a resource, followed by selectors and names of objects.
func (a *App) CompleteGet(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return ResourceNames(), cobra.ShellCompDirectiveNoFileComp
	}
	r, err := view.Find(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, again := view.CompleteSelector(a.completionEnv(cmd.Context(), r), r, word)
	// Shells print completions unescaped.
	list = slices.DeleteFunc(list, func(w string) bool { return words.Sanitize(w) != w })
	if again { // a value follows
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// CompleteCollections completes names of collections.
func (a *App) CompleteCollections(cmd *cobra.Command, _ []string, word string) (
	[]string, cobra.ShellCompDirective,
) {
	return a.CompleteGet(cmd, []string{"collections"}, word)
}

// completionEnv reads the cluster for a completion, without any output. It returns nil on errors and after
// completionTimeout.
func (a *App) completionEnv(ctx context.Context, r *view.Resource) *view.Env {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	c, err := a.Connection()
	if err != nil || c.From == "-" {
		return nil
	}
	if _, stored, err := a.storedPassword(c); err != nil || a.Spec(c).WantsPassword() && !stored {
		return nil // it would prompt
	}
	loader := a.Loader()
	loader.OnRead, loader.OnMoment = nil, nil
	src, err := loader.Open(ctx, a.Spec(c))
	if err != nil {
		return nil
	}
	defer src.Close()
	cluster, err := loader.Metadata(ctx, src, meta.Want{Parts: r.Needs, Records: r.Keyspace})
	if err != nil {
		return nil
	}
	return view.NewEnv(cluster, a.Now())
}
