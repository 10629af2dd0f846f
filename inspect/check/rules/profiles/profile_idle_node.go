package profiles

import (
	"fmt"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// profileIdleNode finds a node whose processors rest while those of its peers work.
var profileIdleNode = &check.Check{
	ID:       "profile-idle-node",
	Title:    "One node's processors are idle while the others of its role work",
	Severity: check.Warning,
	Since:    "0.3",
	Doc: `By CPU profiles of all nodes over the same window (` + "`kitescope diagnose --profile 5s`, or `--profiles DIR`" + ` of what ` + "`kitescope profile pull`" + ` saved): how many cores each query node, streaming node and proxy used. Query nodes are
compared within their resource group.

A finding is a node that used less than a third of what the others used on average, where that is 0.1 cores or more and the numbers of samples differ by more than chance explains (an exact test of two
rates, corrected for the number of nodes, 1%). A warning for query nodes that used less than a tenth; information otherwise, and for proxies, which have what their clients send.

It is none if the node is stopping, or if all are idle. Within ten minutes of its start it is information. What a node is given to serve is looked at by node-idle and the imbalance checks: those explain it where they find
something. Where they find nothing, searches ask for what the other nodes have.`,
	Remedy: `If node-idle or auto-balance-off found the cause, start there. Else see what the node serves that nobody asks for: ` + "`kitescope balance`" + `, and what the others do: ` + "`kitescope profile nodes DIR`" + `.
More replicas of a collection that is searched all the time give the node a share of it. Proxies: put a load balancer in front.`,
	Needs:       check.NeedProfiles,
	Run:         runProfileIdle,
	FollowsFrom: []check.Cause{{Check: "node-idle", Of: ofProcess}, {Check: "auto-balance-off", Of: ofQueryNode}, {Check: "imbalance-rows", Of: ofProcess}, {Check: "imbalance-leaders", Of: ofProcess}},
}

// freshProfile is how long after its start a node may well have nothing to do yet.
const freshProfile = 10 * time.Minute

func ofQueryNode(_ *model.Cluster, effect, _ *check.Finding) bool {
	return strings.HasPrefix(effect.Object.Name, "querynode")
}

func runProfileIdle(p *check.Pass) error {
	list := profiled(p, "CPU", hasCPUProfile, "querynode", "streamingnode", "proxy")
	if len(list) == 0 {
		return p.Skip("no CPU profile of a query node, streaming node or proxy")
	}
	for _, x := range list {
		switch {
		case stoppingProfile(p, x):
		case x.CPU.Load == model.LoadIdle || x.CPU.Load == model.LoadLow:
			reportProfileIdle(p, x)
		case x.CPU.Load == model.LoadUnknown && x.CPU.Peers > 0:
			p.Unseen("how busy " + x.Name + " is: its profile does not tell how long was sampled")
		}
	}
	return nil
}

func reportProfileIdle(p *check.Pass, x *model.ProfiledProcess) {
	what, severity := "does little", check.Info
	if x.CPU.Load == model.LoadIdle {
		what = "is idle"
		if x.Has("querynode") {
			severity = check.Warning
		}
	}
	f := check.Finding{
		Severity: severity, Object: x.Ref(), Cost: max(0, x.CPU.Others-x.CPU.Cores) / x.CPU.Others / float64(x.CPU.Peers+1),
		Message:  fmt.Sprintf("%s %s: it uses %s cores, the other %s %s on average", x.Name, what, cores(x.CPU.Cores), words.Plural(x.CPU.Peers, facts.RoleLabel(roleWord(x))), cores(x.CPU.Others)),
		Evidence: append(cpuEvidence(x), check.Measured("cores that the others use on average", "their CPU profiles", "%s", cores(x.CPU.Others))),
		Impact:   "It has room for work for which requests wait elsewhere.",
		Hint:     "kitescope balance shows what it serves beside the others",
	}
	if x.Group != "" {
		f.Evidence = append(f.Evidence, check.Fact("resource group", x.Group, "etcd"))
	}
	if !x.Has("querynode") {
		f.Hint = "see which clients reach it; a load balancer in front of the proxies spreads them"
		if x.Has("streamingnode") {
			f.Hint = "kitescope get pchannels shows which channels it has"
		}
	}
	if up := upSince(p, x); up >= 0 {
		f.Evidence = append(f.Evidence, check.Measured("started", x.Name, "%s ago", check.Span(up)))
		if up < freshProfile {
			f.Severity, f.Hint = check.Info, "it started a short while ago: look again in ten minutes; "+f.Hint
		}
	}
	reportProfiled(p, f)
}

// roleWord is the role that a process is compared by.
func roleWord(x *model.ProfiledProcess) string {
	for _, role := range []string{"querynode", "streamingnode", "proxy"} {
		if x.Has(role) {
			return role
		}
	}
	if len(x.Roles) > 0 {
		return x.Roles[0]
	}
	return "process"
}
