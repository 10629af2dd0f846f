package main

import (
	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

const helpImpact = `Show what clients feel: of each kind of request how many came, failed, were refused
or hang, and whether they take longer than before.

The figures are of the proxies' counters between two scrapes, --window apart: a longer
window sees rare requests. Requests that are refused before they are counted (logins,
limits before 2.4) are not in them.

"kitescope diagnose" begins with the same, and reports where and why.`

func impactCommand(a *cli.App) *cobra.Command {
	var f getFlags
	cmd := &cobra.Command{
		Use:  "impact [selector...]",
		Long: helpImpact,
		Example: `  kitescope impact --from etcd://10.0.0.5:2379
  kitescope impact --watch
  kitescope impact state=failing -o json
  kitescope impact --window 15s -o wide`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			return a.CompleteGet(cmd, append([]string{"impact"}, args...), word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), a, append([]string{"impact"}, args...))
		},
	}
	f.register(cmd, "-failed,request", "request,state; +mean_ms")
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "show changes until interrupted (live sources)")
	a.AddAt(cmd)
	f.nodes = cli.AddNodeFlags(cmd, true)
	return cmd
}
