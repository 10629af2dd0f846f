package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// etcdNoLeader reports an etcd that cannot write, or that survives fewer failures of members.
var etcdNoLeader = &check.Check{
	ID:       "etcd-no-leader",
	Title:    "The etcd cluster has no leader, or members do not respond",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail, check.EtcdSlow},
	Starts:   "channel_rewritten",
	Needs:    check.NeedEtcd,
	Doc: `Milvus stopped because etcd has no leader and writes nothing. The check looks at etcd members as they
respond to kitescope.

- Error: no member responds that responded before in the same check or watch, or that accepts the connection. etcd
  hangs, or is gone. An address that refuses the first connection, or is unknown, may be wrong: then kitescope ends
  with exit code 1.
- Error: no member that responds has a leader.
- Warning: some members have a leader and one does not, or two claim to lead. A member is cut off from the others.
- A member does not respond, and the others have a leader. There is a majority then: a leader without one steps down.
  Warning if the member's host refuses the connection, or if several other members respond. Info if only one member
  can be reached at all: through a forwarded port or from outside Kubernetes, the addresses that members advertise are
  unreachable.

Learners do not vote and are not counted. If etcd does not list its members, the unnamed ones are unknown: without a
finding the check could not run.`,
	Remedy: `Look at the members (` + "`etcdctl endpoint status --cluster`" + `,
` + "`etcdctl endpoint health --cluster`" + `, run next to etcd): disk, network, clock. Start the missing one. If one
hangs, check whether its process is stopped, lacks CPU, or has a disk that hangs. If a majority is lost for good,
restore etcd from a snapshot.`,
	Run: runEtcdLeader,
}

// quorum counts the voting members of etcd by their state: responding, leading, or without a leader.
type quorum struct {
	voters, answered, silent, leaders, lost int
	refused                                 bool
	evidence                                []check.Evidence
}

func (q *quorum) add(m *model.EtcdMember) {
	if m.Learner {
		return
	}
	q.voters++
	if m.Problem != "" {
		q.silent++
		q.refused = q.refused || strings.Contains(m.Problem, "refused")
		q.evidence = append(q.evidence, check.Fact("member "+memberName(*m), m.Problem, "etcd "+m.Endpoint))
		return
	}
	q.answered++
	if m.Leader {
		q.leaders++
	}
	for _, e := range m.Errors {
		if noLeader(e) {
			q.lost++
			q.evidence = append(q.evidence, check.Fact("member "+memberName(*m), e, "etcd "+m.Endpoint))
		}
	}
}

func runEtcdLeader(p *check.Pass) {
	var q quorum
	for i := range p.Etcd.Members {
		q.add(&p.Etcd.Members[i])
	}
	switch {
	case p.Etcd.Unresponsive():
		reportSilentEtcd(p, &q)
		return
	case q.answered == 0:
		p.Skip("no etcd member reported its status")
		return
	}
	f := check.Finding{Fix: check.Fix(
		check.Shell(check.Etcdctl("endpoint status --cluster").Flag("--endpoints=", endpoints(respondingMembers(p)))).
			Does("shows which member leads and which do not respond; run it next to etcd"),
		check.Do("start the members that are down, or fix their network: see the logs of those in the evidence").
			Interrupting(time.Minute, "nothing"),
	)}
	switch {
	case q.lost == q.answered:
		f.Severity, f.Message, f.Cost = check.Error, "etcd has no leader and cannot write", 1
		f.Impact = "Milvus stops: sessions expire, nothing is flushed or created."
	case q.lost > 0:
		f.Severity, f.Message = check.Warning,
			fmt.Sprintf("%s of %d etcd members %s no leader, the others do", words.Number(q.lost), q.voters,
				words.Agree(q.lost, "sees", "see"))
		f.Impact = "It is cut off from the others: its clients get errors or stale data."
	case q.leaders > 1:
		f.Severity, f.Message = check.Warning, fmt.Sprintf("%d etcd members claim to lead", q.leaders)
		f.Impact = "One of them is cut off from the others, or the leader has just changed: check again."
	case q.silent > 0:
		f.Severity = check.Info
		f.Message = fmt.Sprintf("%s of %d etcd members %s not respond to kitescope; there is a leader",
			words.Number(q.silent), q.voters, words.Agree(q.silent, "does", "do"))
		f.Impact = "None if they are only unreachable from here. If they are down, etcd survives fewer failures."
		if q.refused || q.answered > 1 {
			f.Severity, f.Impact = check.Warning, "If it is down, etcd survives fewer failures."
		}
	default:
		noteUnlistedMembers(p, &q)
		return
	}
	f.Evidence = slices.Concat(q.evidence, []check.Evidence{
		check.Count("voting members", q.voters, "etcd"),
		check.Count("not responding", q.silent, "etcd"),
		check.Count("leaders among those responding", q.leaders, "etcd"),
	})
	p.Report(f)
}

// reportSilentEtcd reports that no etcd member responds.
func reportSilentEtcd(p *check.Pass, q *quorum) {
	f := check.Finding{
		Severity: check.Error, Cost: 1, Evidence: q.evidence,
		Message: "etcd is not responding" + strings.TrimSuffix(": "+p.Etcd.UnresponsiveReason(), ": "),
		Impact:  "Milvus stops: sessions expire, nothing is flushed, created or loaded.",
		Fix: check.Fix(
			check.Do("check whether etcd is running, stopped, or waiting for its disk: see its process, log and disk"),
			check.Do("if it responds on its own host, check the network or the port-forward from here to it"),
		),
	}
	if p.Runtime.Unresponsive() {
		f.Message += "; no process responds either: the network from here may be the reason"
	}
	p.Report(f)
}

// noteUnlistedMembers records that the leader or other members of etcd may be unknown.
func noteUnlistedMembers(p *check.Pass, q *quorum) {
	if q.leaders == 0 {
		p.NoteUnseen("the leader of etcd: not among the members that responded")
	}
	if p.Etcd.Problem != "" {
		p.NoteUnseen("etcd: " + p.Etcd.Problem)
	}
}
