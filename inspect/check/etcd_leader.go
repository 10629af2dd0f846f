package check

import (
	"fmt"
	"strconv"

	"kitescope/inspect/model"
)

// EtcdNoLeader finds an etcd that cannot write, or can no longer lose a member.
var EtcdNoLeader = &Check{
	ID:       "etcd-no-leader",
	Title:    "No leader of etcd, or members of it that do not answer",
	Severity: Error,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Needs:    NeedEtcd,
	Doc: `Looks at the members of etcd. An error if one that answered knows no leader, or if so many do not answer that there is no majority. A warning if a member does not answer from here while a
majority does: it may be down, or its advertised address may lead nowhere from where kitescope runs. Learners do not count for the majority.

Without a leader etcd writes nothing, and Milvus stands still.`,
	Remedy: `Look at etcd's members (` + "`etcdctl endpoint status --cluster`" + `): their disks, their network, their clocks. Start the one that is missing.`,
	Run:    runEtcdLeader,
}

func runEtcdLeader(p *Pass) error {
	answered, voters, silent, leaders, lost := 0, 0, 0, 0, false
	f := Finding{}
	for _, m := range p.Etcd.Members {
		if !m.Learner {
			voters++
		}
		switch {
		case m.Problem != "":
			if !m.Learner {
				silent++
			}
			f.Evidence = append(f.Evidence, Evidence{"member " + memberName(m), m.Problem, "etcd"})
			continue
		case m.Leader:
			leaders++
		}
		answered++
		for _, e := range m.Errors {
			if noLeader(e) {
				lost = true
				f.Evidence = append(f.Evidence, Evidence{"member " + memberName(m), e, "etcd " + m.Endpoint})
			}
		}
	}
	if answered == 0 {
		return p.Skip("no member of etcd said how it is")
	}
	f.Evidence = append(f.Evidence, Evidence{"members that vote", strconv.Itoa(voters), "etcd"}, Evidence{"of them silent", strconv.Itoa(silent), "etcd"}, Evidence{"leaders among those that answered", strconv.Itoa(leaders), "etcd"})
	switch {
	case lost || leaders == 0 && silent == 0:
		f.Severity, f.Message = Error, "etcd has no leader: it writes nothing"
		f.Impact = "Milvus stands still: sessions end, nothing is flushed or created."
	case 2*silent >= voters && voters > 1:
		f.Severity, f.Message = Error, fmt.Sprintf("%s of %d members of etcd do not answer: there is no majority", number(silent), voters)
		f.Impact = "If they are down, etcd writes nothing, and Milvus stands still."
	case silent > 0:
		f.Severity, f.Message = Warning, fmt.Sprintf("%s of %d members of etcd does not answer from here", number(silent), voters)
		f.Impact = "If it is down, etcd can lose fewer members before it stops."
	default:
		return nil
	}
	f.Hint = "etcdctl endpoint status --cluster, and the log of the members in the evidence"
	p.Report(f)
	return nil
}
