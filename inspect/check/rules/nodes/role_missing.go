package nodes

import (
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// roleMissing finds parts of the work of a cluster that no process is registered for.
var roleMissing = &check.Check{
	ID:       "role-missing",
	Title:    "No process is registered for a role that the cluster needs",
	Severity: check.Error,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Doc: `What a cluster needs is known by its version: up to 2.5 RootCoord, QueryCoord, DataCoord, proxy, query node, data node and index node, before 2.3 IndexCoord too; from 2.6 on MixCoord, proxy, query node,
streaming node and data node. Standalone registers all of them. A session ends 30 seconds after its process (` + "`common.session.ttl`" + `), until then see node-unreachable. A finding is each role without a session: an error, with what fails because of it.

- Without query nodes or QueryCoord it is a warning as long as no collection is loaded.
- Without a node that builds indexes (index node; data node from 2.6 on) it goes by what is asked of it: an error if flushed segments wait for an index, a warning if an index is defined that what is flushed next will lack, else information.
- A coordinator that is gone while another waits in standby is a warning: that one takes over within seconds.

Measured on 2.3.5, after ` + "`kill -9`" + `: without QueryCoord every search fails from the third second on, as proxies keep shard leaders for 3 seconds (2.4 and later ask only when a search has failed, milvus pull request 29879); without
a proxy all clients do. RootCoord hands out timestamps and ids: by Milvus's code every search, insert and change waits for it.

If nobody at all is registered, that is one finding where etcd itself was read, or a bundle of it; from another file it is unknown: the cluster may have been stopped, or its sessions not saved.`,
	Remedy:      `Start the process, and see in the log of the last one why it ended. If it runs, it has lost its lease: it hung, or did not reach etcd. Restart it then, as a process without a session is used by nobody.`,
	Run:         runRoleMissing,
	FollowsFrom: []check.Cause{endsDataNodes()},
}

func runRoleMissing(p *check.Pass) error {
	if !p.Whole() {
		return nil
	}
	if !facts.Alive(p.Cluster) {
		if !p.ByClock() {
			return p.Skip("no process is registered: the cluster is stopped, or the sessions were not saved")
		}
		reportNobody(p)
		return nil
	}
	for _, name := range missingRoles(p.Cluster) {
		reportMissing(p, name)
	}
	return nil
}

// reportNobody says that no process at all is there.
func reportNobody(p *check.Pass) {
	f := check.Finding{
		Severity: check.Error, Cost: 1, Object: model.Ref{}, Lacks: check.WholeCluster,
		Message:  "no process is registered: the whole cluster is down",
		Evidence: []check.Evidence{check.Fact("sessions", "none", "etcd")},
		Impact:   "No client is served.",
		Hint:     check.Advise("start the cluster; if it runs, its processes use another etcd or another root path than %s", p.Origin.Root),
	}
	if at := p.Reserved(); !at.IsZero() {
		f.Evidence = append(f.Evidence, check.Fact("RootCoord's last timestamps reach up to", facts.TimeText(at), "etcd"))
	}
	p.Report(f)
}

func reportMissing(p *check.Pass, name string) {
	label := facts.RoleLabel(name)
	t := tollOf(p, name)
	f := check.Finding{
		Severity: t.severity, Cost: t.cost, Impact: t.impact, Lacks: name,
		Object:   model.Ref{Resource: "nodes", ID: name, Name: name},
		Message:  "no " + label + " is registered",
		Evidence: []check.Evidence{check.Fact("sessions of role "+name, "none", "etcd"), check.Fact("version that runs", p.Version.Text, p.Version.From)},
		Hint:     check.Advise("start %s %s; if one runs, it has lost its session: restart it%s", facts.Article(label), check.RoleHint(name), check.Unwritable(p.Facts, name)),
	}
	if waiting := standbys(p.Cluster, name); len(waiting) > 0 {
		f.Severity, f.Cost = min(f.Severity, check.Warning), 0
		f.Message = "no " + label + " is active, and " + facts.SessionNames(waiting) + " " + words.Agree(len(waiting), "waits", "wait") + " in standby"
		f.Hint = check.Advise("look again: a standby takes over within seconds; if none does, look at the log of %s", waiting[0].Name())
		f.Evidence = append(f.Evidence, check.Fact("in standby", facts.SessionNames(waiting), "etcd"))
	}
	p.Report(f)
}

// endsDataNodes is the cause of which data nodes end themselves.
func endsDataNodes() check.Cause {
	return check.Cause{Check: "storage-read-only", Of: func(_ *model.Cluster, effect, cause *check.Finding) bool {
		return cause.Severity == check.Error && (effect.Lacks == "datanode" || strings.HasPrefix(effect.Object.ID, "datanode-"))
	}}
}
