package rules

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// imbalanceLeaders reports query nodes that lead far more shards than others.
var imbalanceLeaders = &check.Check{
	ID:       "imbalance-leaders",
	Title:    "Shard leaders are spread unevenly over query nodes",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "node_lost:querynode node_joined:querynode | collection_loaded config_changed:autoBalance",
	Doc: `During inserts every search waits for the node that leads the most shards. The leader of a shard (delegator)
consumes its channel, holds all its growing rows and deletes, searches them by brute force, forwards each search to
the nodes with the sealed segments and merges the results. A node that leads many shards is the slowest one during
inserts, whatever its segments.

The check counts the leader views of query nodes over all replicas of a resource group; since 2.6, those of the query
nodes inside streaming nodes. Reported: a node with at least twice the mean and at least three more, if there are two
shards per node or more. Warning if three or more of its shards would be elsewhere with an even spread of each
collection, or if searching its growing rows takes 5% or more of all search work; otherwise info. Shards never spread
as evenly as segments: one of twelve moved while Milvus 2.3.5 rebalanced, and Milvus compares the shards of one
collection only. In a cluster of collections with one shard each, new nodes lead none.

If measured searches wait for growing rows on the node, the finding includes the time: in its kernels, and the part of
its queue caused by them. The gain assumes shards spread over all nodes of each collection, or over all but one.`,
	Remedy: `Set ` + "`queryCoord.autoBalanceChannel`" + ` (2.3.4 and later) to let QueryCoord move channels. In older
versions release and load a collection to spread them again. By hand: POST
` + "`/management/querycoord/transfer/channel`" + ` on the proxy's metrics port (2.3.13, 2.4 and later; fails on
clusters with several collections up to 2.6.19, Milvus issue 51687). In 2.6 a shard is on the node of its WAL: see
imbalance-channels.`,
	Parts:  model.PartServing | model.PartSessions,
	Needs:  check.NeedDistribution,
	Phases: []latency.Name{latency.WaitForNodes, latency.KernelGrowing},
	Run:    runImbalanceLeaders,
	Roles:  []string{"querycoord"},
	FollowsFrom: []check.Cause{
		{Check: "auto-balance-off"},
		{Check: "balancing-suspended"},
		{Check: "node-idle", Applies: check.SameResourceGroup},
	},
}

const (
	leadersTimes  = 2
	leadersMore   = 3
	leadersCostly = 0.05
	// channelSwitch is the setting that lets QueryCoord move channels.
	channelSwitch = "queryCoord.autoBalanceChannel"
)

func runImbalanceLeaders(p *check.Pass) {
	for _, r := range resourceGroups(p) {
		nodes := r.nodes
		if p.Streaming != nil {
			nodes = streamingShares(p)
		}
		var sum int
		var most *balance.Share
		known := 0
		for _, n := range nodes {
			if n.FromMetrics {
				continue
			}
			known++
			sum += n.Leaders
			if most == nil || n.Leaders > most.Leaders {
				most = n
			}
		}
		if known < 2 || sum < 2*known {
			continue
		}
		mean := float64(sum) / float64(known)
		if over := float64(most.Leaders); over < leadersTimes*mean || over < mean+leadersMore {
			continue
		}
		reportLeaders(p, r, nodes, most, mean, sum)
		if p.Streaming != nil {
			break // streaming nodes serve all resource groups
		}
	}
}

// streamingShares returns the query nodes inside streaming nodes, which lead all shards since 2.6.
func streamingShares(p *check.Pass) []*balance.Share {
	var list []*balance.Share
	for _, n := range p.Balance.Nodes {
		if n.Streaming && n.Known {
			list = append(list, n)
		}
	}
	return list
}

func reportLeaders(
	p *check.Pass, r *resourceGroup, nodes []*balance.Share, most *balance.Share, mean float64, sum int,
) {
	f := check.Finding{
		Severity: check.Info, Object: facts.RefNode("querynode", most.Node),
		Message: fmt.Sprintf("%s leads %d of %d shards, the others of %s lead %.1f on average; it holds %s",
			most.Name(), most.Leaders, sum, groupName(r.name),
			(float64(sum)-float64(most.Leaders))/float64(len(nodes)-1), words.Plural(most.GrowingRows, "growing row")),
		Evidence: []check.Evidence{
			check.Count("shards led", most.Leaders, most.Name()+" GetDataDistribution"),
			check.Factf("mean per node", "query nodes", "%s", check.Number(mean, "count", "%.1f")),
			check.Count("growing rows", most.GrowingRows, most.Name()+" GetDataDistribution"),
		},
		Impact: "Searches of those shards wait for this node, and longer while rows are inserted.",
		Fix:    leadersFix(p),
	}
	if s, ok := p.Setting(channelSwitch, "querycoord", "mixcoord"); ok {
		f.Evidence = append(f.Evidence, check.Fact(channelSwitch, s.Value, s.From))
	}
	var growing int64
	for _, n := range nodes {
		growing += n.GrowingRows
	}
	if total := r.cost(); total > 0 && growing > 0 {
		f.Cost = min(1, most.GrowingCost/total)
	}
	crowded := r.excessLeaders(nodes, most.Node)
	if f.Cost >= leadersCostly || crowded >= leadersMore {
		f.Severity = check.Warning
	}
	f.Evidence = append(f.Evidence, check.Count("shards above an even spread of each collection", crowded, "computed"))
	addLeaderSlowdown(p, &f, most)
	p.Report(f)
}

// leadersFix returns the steps that turn on the balancing of channels if it is known to be off.
func leadersFix(p *check.Pass) []check.Step {
	look := check.Shell(check.Kitescope("balance")).Does("shows leaders and growing rows per node")
	s, ok := p.Setting(channelSwitch, "querycoord", "mixcoord")
	if !ok || s.Value != "false" || p.Streaming != nil {
		return check.Fix(look)
	}
	key, _ := p.DynamicKey(channelSwitch)
	return check.Fix(check.Shell(check.Etcdctl("put").Arg(key, "true")).
		Does("lets QueryCoord move channels between query nodes").
		Interrupting(5*time.Minute, "nothing"), look)
}

// excessLeaders returns the number of shards that a node leads beyond an even spread of each replica's shards over
// its nodes.
func (r *resourceGroup) excessLeaders(nodes []*balance.Share, id model.NodeID) (sum int) {
	for _, g := range r.groups {
		shards, led, members := 0, 0, 0
		for _, s := range g.Shares {
			shards += s.Leaders
			if s.Node == id {
				led = s.Leaders
			}
			if slices.ContainsFunc(nodes, func(n *balance.Share) bool { return n.Node == s.Node }) {
				members++
			}
		}
		if members > 0 {
			sum += max(0, led-(shards+members-1)/members)
		}
	}
	return sum
}
