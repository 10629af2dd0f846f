package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// staleSession finds sessions with an address at which another process answers.
var staleSession = &check.Check{
	ID:       "stale-session",
	Title:    "Session is stale: another process responds at its address",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.AfterRestart},
	Starts:   "node_joined node_stopping | node_changed",
	Doc: `A query node restarted, and QueryCoord and proxies still send work to its old id, which does not answer
(Milvus issues 21027, 48960, 46475). A session key in etcd holds the id and address of a process. If the process
restarts before its old lease expires, or its address goes to another process, two keys have one address, and the
process there rejects calls for the other id: code 904, "node not match" (seen on 2.3.5 as a gRPC response OK with
empty lists; tools that do not read the status show an empty node). Reported: each session that got such an answer, or
one from another cluster ("cross cluster routing").

The stale key disappears with its lease, ` + "`common.session.ttl`" + ` after the process died (30 seconds; still there
after 12 in one case).`,
	Remedy: `Wait half a minute. If the session stays, something renews its lease: a process that hangs, or one
elsewhere that registered this address; ` + "`etcdctl lease timetolive LEASE`" + ` shows it. If another cluster
answered, two clusters share addresses, or kitescope's address map (` + "`--map`" + `) points to the wrong one.`,
	Parts:       model.PartSessions | model.PartServing | model.PartObjects | model.PartChannels | model.PartSegments,
	Needs:       check.NeedResponses,
	Run:         runStaleSession,
	FollowsFrom: []check.Cause{endsDataNodes(), {Check: "process-restarting", Applies: check.Shares("nodes")}},
}

// defaultTTL is the default lease time of a session (configs/milvus.yaml, common.session.ttl).
const defaultTTL = 30 * time.Second

func runStaleSession(p *check.Pass) {
	var stale []*model.LiveNode
	for _, n := range p.Runtime.Nodes {
		if n.Outcome == model.Stale || n.Outcome == model.OtherCluster {
			stale = append(stale, n)
		}
	}
	for _, group := range byProcess(stale) {
		reportStale(p, group)
	}
}

// reportStale reports a group of stale sessions of one process, for the role of the first session. Several sessions of
// one role belong to several processes that had the address in turn, so each gets a finding.
func reportStale(p *check.Pass, group []*model.LiveNode) {
	for i, n := range group {
		if i > 0 && n.Role != group[0].Role {
			continue
		}
		d, others := dutiesOf(p, n.Role, n.Node), successors(p, n.Role, n.Node)
		f := check.Finding{
			Severity: check.Error, Object: n.Ref(), Cost: loss(p, &d),
			Message: fmt.Sprintf("%s: another process responds at %s", n.Name(), n.Address),
			Evidence: append([]check.Evidence{
				check.Fact("outcome", n.Outcome.With(n.Reason), n.Name()),
				check.Fact("session address", n.Address, "etcd"),
			}, d.evidence()...),
			Impact: impact(p, &d, others),
			Fix: check.Fix(check.Do("wait %s for its lease to expire",
				p.SettingSeconds("common.session.ttl", defaultTTL, n.Role))),
		}
		if n.Outcome == model.OtherCluster {
			f.Message = fmt.Sprintf("%s: a process of another cluster responds at %s", n.Name(), n.Address)
			f.Fix = check.Fix(check.Do("find out whether two clusters share the address, or kitescope's --map points " +
				"to the wrong one"))
		}
		if s := p.SessionIn(n.Node, n.Role); s != nil {
			f.Evidence = append(f.Evidence, check.Fact("lease", fmt.Sprintf("%x", s.Lease), "etcd"))
			if n.Outcome == model.Stale && s.Lease != 0 {
				lease := check.Etcdctl("lease timetolive").Arg(fmt.Sprintf("%x", s.Lease))
				f.Fix = append(f.Fix, check.Shell(lease).Does("shows the time left"),
					check.Do("if it never expires, a process keeps the lease alive: find and kill it").
						Interrupting(2*time.Minute, "nothing"))
			}
		}
		f.Objects = append(dutyRefs(p, &d), neighbours(p, n)...)
		switch {
		case len(others) == 0 && facts.NeedsRole(p.Cluster, n.Role):
			promoteToRole(p, &f, n.Role)
		case len(d.collections) == 0 && n.Role == "querynode":
			f.Severity = check.Warning
		}
		if i == 0 {
			addOtherSessions(&f, group)
		}
		p.Report(f)
	}
}

// neighbours returns the other sessions of the same role at the node's address.
func neighbours(p *check.Pass, n *model.LiveNode) []model.Ref {
	var refs []model.Ref
	for _, s := range p.Sessions {
		if s.Address == n.Address && s.Role == n.Role && s.Node != n.Node {
			refs = append(refs, facts.RefNode(s.Role, s.Node))
		}
	}
	return refs
}
