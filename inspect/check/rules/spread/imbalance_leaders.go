package spread

import (
	"fmt"
	"slices"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/words"
)

// imbalanceLeaders finds query nodes that lead far more shards than others.
var imbalanceLeaders = &check.Check{
	ID:       "imbalance-leaders",
	Title:    "Shard leaders are spread unevenly over query nodes",
	Severity: check.Warning,
	Since:    "0.3",
	Doc: `The leader of a shard (delegator) consumes its channel, holds all its growing rows and its deletes, searches them by brute force, sends each search on to the nodes with the sealed segments and merges
what they answer. A node that leads many shards is the slowest under inserts, whatever its segments.

Counted are the leader views that query nodes have, over all replicas of a resource group; from 2.6 on those of the query nodes inside streaming nodes. A finding is a node with twice the mean or
more and at least three above it, where there are two shards a node or more; a warning if three of its shards or more would be elsewhere were those of each collection spread over its nodes, or if searching the
growing rows on it is a twentieth of all search work; else an information. Shards are never spread as evenly as segments: one of twelve moved when we watched Milvus 2.3.5 rebalance, and Milvus compares the
shards of one collection only, so that nodes that join a cluster of collections with one shard each lead none of them.

Where searches were measured and wait for growing rows there, it says how long: what the node's kernels take of them, and the part of its queue that they make. Spread over all nodes of the collections, or over all but one, the busiest would have so much less of it.`,
	Remedy: `` + "`queryCoord.autoBalanceChannel`" + ` (2.3.4 and later) lets QueryCoord move channels; before that, only releasing and loading a collection spreads them anew. By hand: POST
` + "`/management/querycoord/transfer/channel`" + ` on the proxy's metrics port (2.3.13, 2.4 and later; fails on clusters with several collections up to 2.6.19, milvus issue 51687). In 2.6 a shard is where its WAL is: see imbalance-channels.`,
	Parts:       model.PartServing | model.PartSessions,
	Needs:       check.NeedDistribution,
	Phases:      []latency.Name{latency.WaitForNodes, latency.KernelGrowing},
	Run:         runImbalanceLeaders,
	Roles:       []string{"querycoord"},
	FollowsFrom: []check.Cause{{Check: "auto-balance-off"}, {Check: "node-idle", Of: check.InOneRegion}},
}

const (
	leadersTimes  = 2
	leadersMore   = 3
	leadersCostly = 0.05
)

func runImbalanceLeaders(p *check.Pass) error {
	for _, r := range regions(p) {
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
			break // they serve all resource groups alike
		}
	}
	return nil
}

// streamingShares are the query nodes inside streaming nodes, which lead all shards from 2.6 on.
func streamingShares(p *check.Pass) []*balance.Share {
	var list []*balance.Share
	for _, n := range p.Balance.Nodes {
		if n.Streaming && n.Known {
			list = append(list, n)
		}
	}
	return list
}

func reportLeaders(p *check.Pass, r *region, nodes []*balance.Share, most *balance.Share, mean float64, sum int) {
	f := check.Finding{
		Severity: check.Info, Object: facts.RefNode("querynode", most.Node),
		Message: fmt.Sprintf("%s leads %d of %d shards, the others of %s %.1f on average; %s are growing on it",
			most.Name(), most.Leaders, sum, groupName(r.name), (float64(sum)-float64(most.Leaders))/float64(len(nodes)-1), words.Plural(most.GrowingRows, "row")),
		Evidence: []check.Evidence{
			check.Count("shards it leads", most.Leaders, most.Name()+" GetDataDistribution"),
			check.Measured("mean of the nodes", "query nodes", "%s", check.Number(mean, "count", "%.1f")),
			check.Count("growing rows on it", most.GrowingRows, most.Name()+" GetDataDistribution"),
		},
		Impact: "Searches of those shards wait for this node, the more so while rows are inserted.",
		Hint:   "kitescope balance shows leaders and growing rows per node",
	}
	if s, ok := p.Setting("queryCoord.autoBalanceChannel", "querycoord", "mixcoord"); ok {
		f.Evidence = append(f.Evidence, check.Fact("queryCoord.autoBalanceChannel", s.Value, s.From))
	}
	var growing int64
	for _, n := range nodes {
		growing += n.GrowingRows
	}
	if total := r.cost(); total > 0 && growing > 0 {
		f.Cost = min(1, most.GrowingCost/total)
	}
	crowded := r.crowded(nodes, most.Node)
	if f.Cost >= leadersCostly || crowded >= leadersMore {
		f.Severity = check.Warning
	}
	f.Evidence = append(f.Evidence, check.Count("of them beyond an even spread of their collections", crowded, "worked out"))
	slowed(p, &f, most)
	p.Report(f)
}

// crowded counts the shards of a node that would be elsewhere were those of each replica spread over its nodes.
func (r *region) crowded(nodes []*balance.Share, id model.NodeID) (sum int) {
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
