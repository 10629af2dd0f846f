package main

import (
	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/impact"
	"kitescope/inspect/view"
)

const helpImpact = `Show the impact on clients: how many requests of each kind came, failed, were refused
or hang, and whether they take longer than before.

The figures come from the proxies' counters between two scrapes, 10 s apart if clients
send requests. --window sets another time: a longer one sees rare requests. Requests
that are refused before they are counted (logins, limits before 2.4) are not included.

"kitescope diagnose" begins with the same figures, and reports where and why.

Exit code 3: requests of a listed kind fail, are refused or hang (--fail-on error), or
are slow too, or a few fail (--fail-on warning). With --strict, unknown figures exit 4.`

func impactCommand(a *cli.App) *cobra.Command {
	var f getFlags
	var failOn string
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
			least, never, err := parseSeverity("fail-on", failOn)
			if err != nil {
				return err
			}
			f.fails = func(g *view.Grid) bool { return !never && hasImpact(g, least) }
			return f.run(cmd.Context(), a, append([]string{"impact"}, args...))
		},
	}
	f.register(cmd, "-failed,request", "request,state; +mean_ms")
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "show changes until interrupted (live sources)")
	cmd.Flags().StringVar(&failOn, "fail-on", "error", "exit 3 on: warning, error, never")
	_ = cmd.RegisterFlagCompletionFunc("fail-on", cli.FixedCompletions("warning", "error", "never"))
	a.AddAt(cmd)
	f.nodes = cli.AddNodeFlags(cmd, true)
	f.nodes.Outage, f.nodes.Linger = true, true
	return cmd
}

// hasImpact reports whether a listed kind of request has a problem that clients see, of the given severity or a
// higher one.
func hasImpact(g *view.Grid, minSeverity check.Severity) bool {
	x := impact.Measure(g.Table.Env().Cluster)
	for i := range g.Len() {
		k := x.Kind(impact.Request(g.Table.Ref(g.Row(i)).ID))
		if k != nil && k.State.AffectsClients() && check.RequestSeverity(k) >= minSeverity {
			return true
		}
	}
	return false
}
