package rules

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// imbalanceChannels reports nodes that consume far more channels than others.
var imbalanceChannels = &check.Check{
	ID:       "imbalance-channels",
	Title:    "Channels are spread unevenly over data nodes",
	Severity: check.Warning,
	Symptoms: []string{check.WritesFail},
	Starts:   "node_joined node_lost node_left channel_reassigned | channel_assigned collection_created config_changed",
	Doc: `Inserts are only as fast as the data node with the most channels. A data node consumes the channels that
DataCoord assigns to it, buffers their rows and writes them to storage. Since 2.6 a streaming node does this, and its
query node also leads the shards.

The check counts the watch records of vchannels per data node, or the assignments of pchannels per streaming node,
both from etcd. Reported: a node with at least two more than its fair share (rounded up) and at least twice the mean.
Warning if another node that started ten or more minutes ago has none. DataCoord rebalances every 6 minutes
(` + "`dataCoord.channel.balanceInterval`" + `, 360 s; 2.3.3 and later, ` + "`dataCoord.autoBalance`" + `). Channels
differ in load: one with many inserts has more load than ten without.`,
	Remedy: `Turn ` + "`dataCoord.autoBalance`" + ` on. Data nodes older than 2.3.0 keep DataCoord from balancing:
` + "`kitescope get nodes`" + ` lists versions. More shards (` + "`num_shards`" + ` at creation) spread a single busy
collection. In 2.6 see ` + "`streaming.walBalancer`" + ` in milvus.yaml.`,
	Parts: model.PartObjects | model.PartServing | model.PartSessions | model.PartChannels,
	Run:   runImbalanceChannels,
	Roles: []string{"datacoord"},
}

// channelGrace is the time for which a node may have no channel. It is longer than DataCoord's interval.
const channelGrace = 10 * time.Minute

func runImbalanceChannels(p *check.Pass) {
	role, counts := channelCounts(p)
	if len(counts) < 2 {
		return
	}
	sum, most, least := 0, model.NodeID(0), model.NodeID(0)
	for i, id := range sortedNodes(counts) {
		sum += counts[id]
		if i == 0 || counts[id] > counts[most] {
			most = id
		}
		if i == 0 || counts[id] < counts[least] {
			least = id
		}
	}
	mean := float64(sum) / float64(len(counts))
	if float64(counts[most]) < math.Ceil(mean)+2 || float64(counts[most]) < 2*mean {
		return
	}
	f := check.Finding{
		Severity: check.Info, Object: facts.RefNode(role, most), Objects: []model.Ref{facts.RefNode(role, least)},
		Message: fmt.Sprintf("%s consumes %s of %s, %s consumes %d", facts.RefNode(role, most).ID,
			words.Number(counts[most]), words.Plural(sum, "channel"), facts.RefNode(role, least).ID, counts[least]),
		Evidence: []check.Evidence{
			check.Count("channels of "+facts.RefNode(role, most).ID, counts[most], "etcd"),
			check.Count("channels of "+facts.RefNode(role, least).ID, counts[least], "etcd"),
			check.Factf("mean over "+words.Plural(len(counts), strings.TrimSuffix(role, "node")+" node"), "etcd", "%s",
				check.Number(mean, "count", "%.1f")),
		},
		Impact: "Inserts into those channels share the CPU and network of one node.",
		Fix: check.Fix(
			check.Shell(check.Kitescope("get vchannels").Arg("watcher="+most.String())).Does("lists its channels"),
			check.Do("check that dataCoord.autoBalance is on, and raise num_shards for a single busy collection"),
		),
	}
	if age := ageOf(p, role, least); counts[least] == 0 && age > channelGrace {
		f.Severity = check.Warning
		f.Evidence = append(f.Evidence,
			check.Factf(facts.RefNode(role, least).ID+" started", facts.RefNode(role, least).ID, "%s ago",
				check.Span(age)))
	}
	p.Report(f)
}

// channelCounts returns the role of the nodes that consume channels, and the number of channels per node.
func channelCounts(p *check.Pass) (role string, counts map[model.NodeID]int) {
	counts = make(map[model.NodeID]int)
	role = "datanode"
	if p.Streaming != nil {
		role = "streamingnode"
	}
	for _, s := range p.Sessions {
		if s.Role == role && !s.Stopping {
			counts[s.Node] = 0
		}
	}
	if p.Streaming != nil {
		for _, x := range p.PChannels {
			if _, ok := counts[x.Node]; ok {
				counts[x.Node]++
			}
		}
		return role, counts
	}
	for _, v := range p.VChannels {
		if _, ok := counts[v.Watcher]; ok && v.Watched && p.Collection(v.Collection) != nil {
			counts[v.Watcher]++
		}
	}
	return role, counts
}

func sortedNodes(counts map[model.NodeID]int) []model.NodeID {
	list := make([]model.NodeID, 0, len(counts))
	for id := range counts {
		list = append(list, id)
	}
	slices.Sort(list)
	return list
}

// ageOf returns the time since the process of a session started, or 0 if it is unknown.
func ageOf(p *check.Pass, role string, id model.NodeID) time.Duration {
	at := p.Runtime.LiveNode(role, id).StartedAt()
	if at.IsZero() {
		return 0
	}
	return p.Now.Sub(at)
}
