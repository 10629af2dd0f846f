package nodes

import (
	"cmp"
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/sorting"
	"kitescope/words"
)

// cpuSkew finds a process that is busy while the others of its role idle.
var cpuSkew = &check.Check{
	ID:       "cpu-skew",
	Title:    "One node is busy while the others of its role idle",
	Severity: check.Warning,
	Since:    "0.3",
	Doc: `Compared is the processor time that each process uses, from its own metric ` + "`process_cpu_seconds_total`" + ` at two moments; the average since its start says nothing about now, so that a single scrape is not enough. Compared
are processes of one role: query nodes, data nodes, streaming nodes, proxies, index nodes.

A finding is a process with twice the mean of its role or more, and at least one core, while the others use less than half of it on average. Information; a warning for query nodes, streaming nodes and proxies, if
it also uses more than 80% of the cores that it sees, as it cannot do more then, and was measured for 10 seconds or more (` + "`--window 15s`" + `). Data and index nodes are never a warning: a single build or compaction keeps one
of them busy. Query nodes inside of streaming nodes have other work than the others and are not compared with them.

Rows, segments and leaders may well be even: searches of one collection, one partition or one shard are what makes such a difference, or a client that knows one proxy only.`,
	Remedy: `Query nodes: ` + "`kitescope balance`" + ` shows what the node serves that others do not; load a busy small collection with more replicas; a partition key of which one value is asked for all the time goes to one shard. Proxies: put a load balancer
in front. Data nodes: see imbalance-channels.`,
	Parts:       model.PartSessions,
	Needs:       check.NeedMetrics,
	Phases:      []latency.Name{latency.WaitForWorkers},
	Run:         runCPUSkew,
	FollowsFrom: []check.Cause{{Check: "node-idle", Of: check.InOneRegion}, {Check: "imbalance-rows", Of: check.Shares("nodes")}, {Check: "imbalance-leaders", Of: check.Shares("nodes")}, {Check: "imbalance-channels", Of: check.Shares("nodes")}},
}

const (
	busyTimes = 2
	busyCores = 1.0
	busyFull  = 0.8
	// busyLong is how long a process has to be watched for a warning: in a second or two one search, or one collection of garbage, makes the difference.
	busyLong = 10 * time.Second
)

// cpuUse is the processor time of one process over some while.
type cpuUse struct {
	node  *model.LiveNode
	cores float64
	over  time.Duration
}

func runCPUSkew(p *check.Pass) error {
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
		return p.Skip("no process told its metrics twice, so that its present use of the processor is unknown")
	}
	return nil
}

// cpuOf is what the processes of a role use, the busiest first. One that shares its process with
// other roles of the kind is no matter: standalone has one process.
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
	sorting.Sort(list, func(a, b cpuUse) int {
		return cmp.Or(-cmp.Compare(a.cores, b.cores), cmp.Compare(a.node.Node, b.node.Node))
	})
	return list
}

// embedded reports whether a session is of a query node inside of a streaming node (2.6; internal/util/sessionutil,
// LabelStreamingNodeEmbeddedQueryNode).
func embedded(p *check.Pass, n *model.LiveNode) bool {
	s := p.SessionIn(n.Node, n.Role)
	return s != nil && facts.IsEmbedded(s)
}

func reportCPU(p *check.Pass, role string, list []cpuUse, rest float64) {
	top := list[0]
	f := check.Finding{
		Severity: check.Info, Object: top.node.Ref(), Cost: min(1, (top.cores-rest)/max(top.cores, 1)) / 2,
		Message: fmt.Sprintf("%s uses %.1f cores, the other %s %.1f on average", top.node.Name(), top.cores, words.Plural(len(list)-1, facts.RoleLabel(role)), rest),
		Impact:  "Requests wait for it while the others have nothing to do.",
		Hint:    "kitescope balance shows what it serves that the others do not",
	}
	for _, x := range list[:min(len(list), facts.MostNodes)] {
		f.Evidence = append(f.Evidence, check.Measured("processor cores in use by "+x.node.Name(), x.node.Process.Address+"/metrics", "%s over %s", check.Number(x.cores, "cores", "%.2f"), check.Span(x.over)))
	}
	if s := top.node.System; s != nil && s.CPUs > 0 {
		f.Evidence = append(f.Evidence, check.Count("cores that it sees", s.CPUs, top.node.Name()+" GetMetrics"))
		serves := role == "querynode" || role == "streamingnode" || role == "proxy"
		if serves && top.over >= busyLong && top.cores >= busyFull*float64(s.CPUs) {
			f.Severity = check.Warning
		}
	}
	if role == "datanode" || role == "indexnode" {
		f.Cost, f.Impact = 0, "What it builds or writes waits for it while the others have nothing to do; queries do not."
	}
	if role != "querynode" {
		f.Hint = check.Advise("see which channels or clients it has: kitescope get vchannels watcher=%s", top.node.Node)
		switch role {
		case "proxy":
			f.Hint = "put a load balancer in front of the proxies"
		case "indexnode":
			f.Hint = "kitescope get nodes, and its log: one large build is enough"
		}
	}
	p.Report(f)
}
