package rules

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// cpuSkew reports a process that is busy while the others of its role are idle.
var cpuSkew = &check.Check{
	ID:       "cpu-skew",
	Title:    "One node is busy while others of its role are idle",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "node_joined node_lost config_changed:autoBalance | collection_loaded replica_changed",
	Doc: `One query node runs at full CPU while its peers idle. The check compares the CPU time of processes of one
role (query nodes, data nodes, streaming nodes, proxies, index nodes), from the metric
` + "`process_cpu_seconds_total`" + ` at two moments. A single scrape is not enough, because it gives only the average
since the process started.

Reported: a process with at least twice the mean of its role and at least one core, while the others use less than
half of it on average. Info; warning for query nodes, streaming nodes and proxies that also use more than 80% of their
available cores and were measured for 10 seconds or more (` + "`--window 15s`" + `). Never a warning for data and index
nodes: a single build or compaction keeps one busy. Query nodes inside streaming nodes do different work and are not
compared with the others.

Rows, segments and leaders may be even: the cause may be searches of one collection, partition or shard, or clients
that use only one proxy.`,
	Remedy: `Query nodes: run ` + "`kitescope balance`" + ` to see which data only this node serves. Load a small busy
collection with more replicas; a partition key with one hot value sends everything to one shard. Proxies: put a load
balancer in front. Data nodes: see imbalance-channels.`,
	Parts:    model.PartSessions,
	Needs:    check.NeedMetrics,
	Phases:   []latency.Name{latency.WaitForWorkers},
	Slowness: true,
	Run:      runCPUSkew,
	FollowsFrom: []check.Cause{
		{Check: "node-idle", Applies: check.SameResourceGroup},
		{Check: "imbalance-rows", Applies: check.Shares("nodes")},
		{Check: "imbalance-leaders", Applies: check.Shares("nodes")},
		{Check: "imbalance-channels", Applies: check.Shares("nodes")},
	},
}

const (
	busyTimes = 2
	busyCores = 1.0
	busyFull  = 0.8
	// busyLong is the minimum measurement for a warning: over a second or two a single search or garbage collection
	// makes the difference.
	busyLong = 10 * time.Second
)

// cpuUse is the CPU use of one process over a period.
type cpuUse struct {
	node   *model.LiveNode
	cores  float64
	period time.Duration
}

func runCPUSkew(p *check.Pass) {
	roles := []string{"querynode", "datanode", "streamingnode", "proxy", "indexnode"}
	told := false
	for _, role := range roles {
		list := cpuOf(p, role)
		told = told || len(list) > 0
		if len(list) < 2 {
			continue
		}
		top, rest := list[0], 0.0
		for _, x := range list[1:] {
			rest += x.cores / float64(len(list)-1)
		}
		mean := (top.cores + rest*float64(len(list)-1)) / float64(len(list))
		if top.cores < busyCores || top.cores < busyTimes*mean && len(list) > 2 || rest >= top.cores/2 {
			continue
		}
		reportCPU(p, role, list, rest)
	}
	if !told {
		p.Skip("CPU rate unknown: needs two scrapes of each process")
	}
}

// cpuOf returns the CPU use of the processes of a role, the busiest first. A process counts once, so standalone has
// one entry.
func cpuOf(p *check.Pass, role string) []cpuUse {
	var list []cpuUse
	seen := make(map[*model.Process]bool)
	for _, n := range p.Runtime.Nodes {
		if n.Role != role || n.Process == nil || n.Process.Before == nil || seen[n.Process] || embedded(p, n) {
			continue
		}
		seen[n.Process] = true
		if cores, over, ok := n.Process.CPU(); ok {
			list = append(list, cpuUse{n, cores, over})
		}
	}
	slices.SortFunc(list, func(a, b cpuUse) int {
		return cmp.Or(-cmp.Compare(a.cores, b.cores), cmp.Compare(a.node.Node, b.node.Node))
	})
	return list
}

// embedded reports whether a session belongs to a query node embedded in a streaming node (2.6;
// internal/util/sessionutil, LabelStreamingNodeEmbeddedQueryNode).
func embedded(p *check.Pass, n *model.LiveNode) bool {
	s := p.SessionIn(n.Node, n.Role)
	return s != nil && facts.IsEmbedded(s)
}

func reportCPU(p *check.Pass, role string, list []cpuUse, rest float64) {
	top := list[0]
	f := check.Finding{
		Severity: check.Info, Object: top.node.Ref(), Cost: min(1, (top.cores-rest)/max(top.cores, 1)) / 2,
		Message: fmt.Sprintf("%s uses %.1f cores, the other %s use %.1f on average", top.node.Name(), top.cores,
			words.Plural(len(list)-1, facts.RoleLabel(role)), rest),
		Impact: "Requests wait for it while the others are idle.",
		Fix:    check.Fix(check.Shell(check.Kitescope("balance")).Does("shows what it serves that the others do not")),
	}
	for _, x := range list[:min(len(list), facts.MostNodes)] {
		f.Evidence = append(f.Evidence,
			check.Factf("CPU cores used by "+x.node.Name(), x.node.Process.Address+"/metrics", "%s over %s",
				check.Number(x.cores, "cores", "%.2f"), check.Span(x.period)))
	}
	if s := top.node.System; s != nil && s.CPUs > 0 {
		f.Evidence = append(f.Evidence, check.Count("cores available to it", s.CPUs, top.node.Name()+" GetMetrics"))
		serves := role == "querynode" || role == "streamingnode" || role == "proxy"
		if serves && top.period >= busyLong && top.cores >= busyFull*float64(s.CPUs) {
			f.Severity = check.Warning
		}
	}
	if role == "datanode" || role == "indexnode" {
		f.Cost, f.Impact = 0, "Its builds and writes wait while the others are idle; queries do not."
	}
	if role != "querynode" {
		f.Fix = check.Fix(check.Shell(check.Kitescope("get vchannels").Arg("watcher=" + top.node.Node.String())).
			Does("lists its channels"))
		switch role {
		case "proxy":
			f.Fix = check.Fix(check.Do("put a load balancer in front of the proxies"))
		case "indexnode":
			f.Fix = check.Fix(check.Do("look for index builds in its log: one large build is enough"))
		}
	}
	p.Report(f)
}
