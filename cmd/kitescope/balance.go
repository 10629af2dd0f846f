package main

import (
	"bufio"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/balance"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/render/clusters"
)

// balanceFlags holds the flags of the balance command.
type balanceFlags struct {
	nodes  *cli.NodeFlags
	plan   bool
	goal   float64
	by     string
	report cli.ReportFlags
}

const helpBalance = `Show how evenly query nodes share the work: segments, rows, bytes, brute force,
shard leaders, memory and CPU per replica and node. A search waits for its slowest
node: max/mean is the largest share over the mean, 1 is even. Cost is rows times
dimensions; with an index, only the vectors a search compares.

Only the nodes know which segments they serve: a file has it if it is a bundle
saved with --live, or with --runtime. Everything else is shown as unknown.

--plan lists few moves of sealed segments that bring max/mean under --goal, with
the pymilvus calls that make them, and what Milvus's own balancer would do.
It changes nothing itself.`

func balanceCommand(a *cli.App) *cobra.Command {
	var f balanceFlags
	cmd := &cobra.Command{
		Use:  "balance [COLLECTION...]",
		Long: helpBalance,
		Example: `  kitescope balance --from etcd://10.0.0.5:2379
  kitescope balance docs tenant_a.orders --plan
  kitescope balance --plan --by rows --goal 1.05 -o json
  kitescope balance --from cluster.kite -o html > balance.html`,
		ValidArgsFunction: a.CompleteCollections,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.plan, "plan", false, "propose the moves that balance it")
	fl.Float64Var(&f.goal, "goal", balance.DefaultGoal, "largest share over the mean that counts as even")
	fl.StringVar(&f.by, "by", balance.ByCost.String(), "what to balance: cost (search work), rows or memory")
	f.report.Register(cmd, clusters.BalanceFormats(), 0, "")
	f.report.List(cmd, clusters.BalanceSchema, "'cost_share_percent>40'", "-cost,node",
		"collection,node,cost; +channels")
	a.AddAt(cmd)
	f.nodes = cli.AddNodeFlags(cmd, true)
	_ = cmd.RegisterFlagCompletionFunc("by",
		cli.FixedCompletions(balance.ByCost.String(), balance.ByRows.String(), balance.ByMemory.String()))
	return cmd
}

// balanceParts lists the parts of the metadata from which the balance is computed.
const balanceParts = model.PartCatalog | model.PartSegments | model.PartLogs | model.PartConfig

func (f *balanceFlags) run(a *cli.App, cmd *cobra.Command, collections []string) error {
	by, ok := balance.MeasureOf(f.by)
	if !ok {
		return cli.Usage(fmt.Errorf("--by must be cost, rows or memory, not %q", f.by), "kitescope balance --by rows")
	}
	if !(f.goal >= 1) || math.IsInf(f.goal, 0) { // also rejects NaN
		return cli.Usage(fmt.Errorf("--goal must be 1 or more, not %g: 1 is perfectly even", f.goal),
			"kitescope balance --goal 1.1")
	}
	format, o, err := f.report.Parse(a, cmd)
	if err != nil {
		return err
	}
	c, err := a.LoadLive(cmd.Context(), f.nodes, meta.Want{Parts: balanceParts})
	if err != nil {
		return err
	}
	env := view.NewEnv(c, a.Now())
	survey := balance.NewSurvey(c)
	groups, err := chosenGroups(env, survey, collections)
	if err != nil {
		_ = a.Completeness(c) // the requested object may be in the part that could not be read
		return err
	}
	b := &clusters.Balance{Env: env, Report: survey.Report(groups, balance.Options{Goal: f.goal, By: by}, f.plan)}
	if err := a.Write(func(w *bufio.Writer) error { return clusters.WriteBalance(w, b, format, o) }); err != nil {
		return err
	}
	if name := format.Name(); !survey.HasRuntime && name != "table" && name != "wide" {
		a.Warn("nodes not queried: which node serves what is unknown (use --live, or --runtime FILE)")
	}
	return a.Completeness(c)
}

// chosenGroups returns the replicas of the named collections, or nil (all replicas) if words is empty.
// It returns an error if a collection is unknown or not loaded.
func chosenGroups(env *view.Env, s *balance.Survey, words []string) ([]*balance.Group, error) {
	if len(words) == 0 {
		return nil, nil
	}
	r, err := view.Find("collections")
	if err != nil {
		return nil, err
	}
	table := r.Table(env)
	var groups []*balance.Group
	for _, word := range words {
		row, err := view.Lookup(table, word)
		if err != nil {
			return nil, err
		}
		found := false
		for _, g := range s.Groups {
			if g.ID.String() != table.Ref(row).ID {
				continue
			}
			if found = true; !slices.Contains(groups, g) {
				groups = append(groups, g)
			}
		}
		switch {
		case found:
		case s.HasRuntime:
			return nil, fmt.Errorf("collection %s is not loaded: no node serves it", word)
		default:
			return nil, fmt.Errorf("collection %s is not loaded", word)
		}
	}
	return groups, nil
}
