package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// profileIdleNode finds nodes with an idle CPU while the CPUs of their peers are busy.
var profileIdleNode = &check.Check{
	ID:       "profile-idle-node",
	Title:    "A node's CPU is idle while the others of its role work",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "node_joined config_changed:autoBalance | collection_released",
	Doc: `A query node's CPU is idle because no search needs its segments. The check compares CPU profiles of all
nodes over the same window (` + "`kitescope diagnose --profile 5s`" + `, or ` + "`--profiles DIR`" +
		` with the output of
` + "`kitescope profile pull`" + `): the cores that each query node, streaming node and proxy used. Query nodes are
compared within their resource group.

Reported: a node that used less than a third of the others' average, if that is 0.1 cores or more and the numbers of
samples differ by more than chance explains (an exact test of two rates, corrected for the number of nodes, 1%).
Warning for query nodes that used less than a tenth; else info, and always for proxies, whose load depends on the
clients.

Not reported if the node is stopping, or if all are idle; info within ten minutes of its start. node-idle and the
imbalance checks look at the data given to a node, and may explain the finding. If not, searches need the data of
other nodes.`,
	Remedy: `If node-idle or auto-balance-off found the cause, start there. Otherwise find out which data on the node
is never searched (` + "`kitescope balance`" + `), and what the others do
(` + "`kitescope profile top DIR --by node`" + `). Load a busy collection with more replicas to give the node a share.
Proxies: put a load balancer in front.`,
	Needs: check.NeedProfiles,
	Run:   runProfileIdle,
	FollowsFrom: []check.Cause{
		{Check: "node-idle", Applies: ofProcess},
		{Check: "auto-balance-off", Applies: ofQueryNode},
		{Check: "imbalance-rows", Applies: ofProcess},
		{Check: "imbalance-leaders", Applies: ofProcess},
	},
}

// freshProfile is the time after its start in which a node may have no work yet.
const freshProfile = 10 * time.Minute

func ofQueryNode(_ *model.Cluster, effect, _ *check.Finding) bool {
	return strings.HasPrefix(effect.Object.Name, "querynode")
}

func runProfileIdle(p *check.Pass) {
	list := profiled(p, "CPU", hasCPUProfile, "querynode", "streamingnode", "proxy")
	if len(list) == 0 {
		p.Skip("no CPU profile of a query node, streaming node or proxy")
		return
	}
	for _, x := range list {
		switch {
		case stoppingProfile(p, x):
		case x.CPU.Load == model.LoadIdle || x.CPU.Load == model.LoadLow:
			reportProfileIdle(p, x)
		case x.CPU.Load == model.LoadUnknown && x.CPU.Peers > 0:
			p.NoteUnseen("load of " + x.Name + ": its profile has no duration")
		}
	}
}

func reportProfileIdle(p *check.Pass, x *model.ProfiledProcess) {
	what, severity := "is nearly idle", check.Info
	if x.CPU.Load == model.LoadIdle {
		what = "is idle"
		if x.Has("querynode") {
			severity = check.Warning
		}
	}
	f := check.Finding{
		Severity: severity, Object: x.Ref(),
		Cost: max(0, x.CPU.Others-x.CPU.Cores) / x.CPU.Others / float64(x.CPU.Peers+1),
		Message: fmt.Sprintf("%s %s: it uses %s cores, the other %s use %s on average", x.Name, what,
			coresFigure(x.CPU.Cores), words.Plural(x.CPU.Peers, facts.RoleLabel(roleWord(x))),
			coresFigure(x.CPU.Others)),
		Evidence: append(cpuEvidence(x),
			check.Factf("average cores of the others", "their CPU profiles", "%s", coresFigure(x.CPU.Others))),
		Impact: "Requests wait on other nodes although this one has free CPU.",
		Fix: check.Fix(check.Shell(check.Kitescope("balance")).
			Does("shows what it serves compared with the others, and the moves that even it out")),
	}
	if x.Group != "" {
		f.Evidence = append(f.Evidence, check.Fact("resource group", x.Group, "etcd"))
	}
	if !x.Has("querynode") {
		f.Fix = check.Fix(check.Do("put a load balancer in front of the proxies, or add %s to the addresses that "+
			"clients use", x.Name))
		if x.Has("streamingnode") {
			f.Fix = check.Fix(check.Shell(check.Kitescope("get pchannels")).
				Does("shows which channels each streaming node has: it may have none, or idle ones"))
		}
	}
	if up := uptime(p, x); up >= 0 {
		f.Evidence = append(f.Evidence, check.Factf("started", x.Name, "%s ago", check.Span(up)))
		if up < freshProfile {
			f.Severity, f.Fix = check.Info,
				slices.Concat(check.Fix(check.Do("check again in ten minutes: it has only just started")), f.Fix)
		}
	}
	reportProfiled(p, f)
}

// roleWord returns the role by which a process is compared.
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
