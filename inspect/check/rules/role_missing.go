package rules

import (
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// roleMissing reports roles that the cluster needs and no process is registered for.
var roleMissing = &check.Check{
	ID:       "role-missing",
	Title:    "No process is registered for a role that the cluster needs",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.LoadsHang, check.WritesFail, check.IndexingHangs, check.AfterRestart},
	Starts:   "node_lost node_left | node_stopping node_changed",
	Parts:    model.PartSessions,
	Doc: `QueryCoord died, and every search fails from the third second on. The version decides which roles a cluster
needs: up to 2.5 RootCoord, QueryCoord, DataCoord, proxy, query node, data node and index node, before 2.3 also
IndexCoord; since 2.6 MixCoord, proxy, query node, streaming node and data node. Standalone registers all of them. A
session expires 30 seconds after its process died (` + "`common.session.ttl`" + `); until then see node-unreachable.
Error for each role without a session, with its impact.

- Missing query nodes or QueryCoord: a warning while no collection is loaded.
- Missing nodes that build indexes (index node; data node since 2.6): an error if flushed segments wait for an index,
  a warning if an index is defined that the next flush will need, otherwise info.
- A missing coordinator with another in standby: a warning; the standby takes over within seconds.

Measured on 2.3.5 after ` + "`kill -9`" + `: without QueryCoord searches fail after 3 seconds, because proxies keep
shard leaders that long (2.4 and later request them only after a search has failed, Milvus pull request 29879);
without a proxy all clients fail. RootCoord allocates timestamps and ids: by Milvus's code every search, insert and
schema change needs it.

If no process is registered at all, there is one finding if etcd itself was read, or a bundle of it. From other files
it is unknown: the cluster may have been stopped, or its sessions not saved.`,
	Remedy: `Start the process, and read in the log of the previous one why it ended. If it is running, it has
lost its lease: it hung, or could not reach etcd. Restart it: a process without a session gets no work.`,
	Run:         runRoleMissing,
	Whole:       true,
	FollowsFrom: []check.Cause{endsDataNodes()},
}

func runRoleMissing(p *check.Pass) {
	if !facts.Alive(p.Cluster) {
		if !p.ByClock() {
			p.Skip("no process is registered: the cluster is stopped, or its sessions were not saved")
			return
		}
		reportNoProcess(p)
		return
	}
	for _, name := range missingRoles(p.Cluster) {
		reportMissing(p, name)
	}
}

// reportNoProcess reports that no process is registered at all.
func reportNoProcess(p *check.Pass) {
	f := check.Finding{
		Severity: check.Error, Cost: 1, Object: model.Ref{}, MissingRole: check.WholeCluster,
		Message:  "no process is registered: the whole cluster is down",
		Evidence: []check.Evidence{check.Fact("sessions", "none", "etcd")},
		Impact:   "Every request fails.",
		Fix: check.Fix(check.Do("start the cluster; if it runs, its processes use another etcd, or another root path "+
			"than %s", p.Origin.Root).
			Interrupting(2*time.Minute, "nothing")),
	}
	if at := p.Reserved(); !at.IsZero() {
		f.Evidence = append(f.Evidence, check.Fact("last timestamps of RootCoord", facts.TimeText(at), "etcd"))
	}
	p.Report(f)
}

func reportMissing(p *check.Pass, name string) {
	label := facts.RoleLabel(name)
	t := lossOfRole(p, name)
	f := check.Finding{
		Severity: t.severity, Cost: t.cost, Impact: t.impact, MissingRole: name,
		Object:  model.Ref{Resource: "nodes", ID: name, Name: name},
		Message: "no " + label + " is registered",
		Evidence: []check.Evidence{
			check.Fact("sessions of role "+name, "none", "etcd"),
			check.Fact("running version", p.Version.Text, p.Version.From),
		},
		Fix: append(check.Fix(check.Do("start %s %s; if one is running, it has lost its session: restart it",
			facts.Article(label), check.RoleHint(name)).
			Interrupting(2*time.Minute, "nothing")), check.UnwritableStorageSteps(p.Facts, name)...),
	}
	if waiting := standbys(p.Cluster, name); len(waiting) > 0 {
		f.Severity, f.Cost = min(f.Severity, check.Warning), 0
		f.Message = "no " + label + " is active; in standby: " + facts.SessionNames(waiting)
		f.Fix = check.Fix(check.Do("wait a few seconds for a standby to take over; if none does, read the log of %s",
			waiting[0].Name()))
		f.Evidence = append(f.Evidence, check.Fact("in standby", facts.SessionNames(waiting), "etcd"))
	}
	p.Report(f)
}

// endsDataNodes returns the cause for which data nodes exit on their own: read-only storage.
func endsDataNodes() check.Cause {
	return check.Cause{Check: "storage-read-only", Applies: func(_ *model.Cluster, effect, cause *check.Finding) bool {
		return cause.Severity == check.Error &&
			(effect.MissingRole == "datanode" || strings.HasPrefix(effect.Object.ID, "datanode-"))
	}}
}
