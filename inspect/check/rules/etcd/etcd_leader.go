package etcd

import (
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/words"
)

// etcdNoLeader finds an etcd that cannot write, or can no longer lose a member.
var etcdNoLeader = &check.Check{
	ID:       "etcd-no-leader",
	Title:    "No leader of etcd, or members of it that do not answer",
	Severity: check.Error,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Needs:    check.NeedEtcd,
	Doc: `Looks at the members of etcd, as they answer from here.

- None that answers knows a leader: an error. Without one etcd writes nothing, and Milvus stands still.
- Some know a leader and one does not, or two say that they lead: a warning, as a member is cut off from the others.
- A member does not answer, while those that do know a leader. Then there is a majority, whatever is seen from here (a leader without one steps down). A warning if the member's
  host refuses the connection, or if several others do answer; information if only one member can be asked at all: through a forwarded port, or from outside of Kubernetes, the addresses that
  members advertise lead nowhere.

Learners have no vote and do not count. Where etcd does not list its members, those that were not named are unknown: without a finding the check is skipped.`,
	Remedy: `Look at etcd's members (` + "`etcdctl endpoint status --cluster`, `etcdctl endpoint health --cluster`" + `, run beside etcd): their disks, their network, their clocks. Start the one
that is missing; with a majority gone for good, restore etcd from a snapshot.`,
	Run: runEtcdLeader,
}

// quorum is what the members of etcd that could be asked say of their leader.
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

func runEtcdLeader(p *check.Pass) error {
	var q quorum
	for i := range p.Etcd.Members {
		q.add(&p.Etcd.Members[i])
	}
	if q.answered == 0 {
		return p.Skip("no member of etcd said how it is")
	}
	f := check.Finding{Hint: "run beside etcd: etcdctl endpoint status --cluster; then read the log of the members in the evidence"}
	switch {
	case q.lost == q.answered:
		f.Severity, f.Message, f.Cost = check.Error, "etcd has no leader: it writes nothing", 1
		f.Impact = "Milvus stands still: sessions end, nothing is flushed or created."
	case q.lost > 0:
		f.Severity, f.Message = check.Warning, fmt.Sprintf("%s of %d members of etcd %s no leader, and the others do", words.Number(q.lost), q.voters, words.Agree(q.lost, "knows", "know"))
		f.Impact = "It is cut off from the others: whoever asks it gets errors or old data."
	case q.leaders > 1:
		f.Severity, f.Message = check.Warning, fmt.Sprintf("%d members of etcd say that they lead", q.leaders)
		f.Impact = "One of them is cut off from the others, or the leader changed this moment: look again."
	case q.silent > 0:
		f.Severity, f.Message = check.Info, fmt.Sprintf("%s of %d members of etcd %s not answer from here; there is a leader", words.Number(q.silent), q.voters, words.Agree(q.silent, "does", "do"))
		f.Impact = "None, if they are only out of reach from here. If they are down, etcd can lose fewer members before it stops."
		if q.refused || q.answered > 1 {
			f.Severity, f.Impact = check.Warning, "If it is down, etcd can lose fewer members before it stops."
		}
	default:
		return unlistedMembers(p, &q)
	}
	f.Evidence = slices.Concat(q.evidence, []check.Evidence{
		check.Count("members that vote", q.voters, "etcd"), check.Count("of them silent", q.silent, "etcd"), check.Count("leaders among those that answered", q.leaders, "etcd"),
	})
	p.Report(f)
	return nil
}

// unlistedMembers notes that there may be members of etcd of which nothing is known.
func unlistedMembers(p *check.Pass, q *quorum) error {
	if q.leaders == 0 {
		p.Unseen("the leader of etcd: none of the members that could be asked")
	}
	if p.Etcd.Problem != "" {
		p.Unseen("etcd: " + p.Etcd.Problem)
	}
	return nil
}
