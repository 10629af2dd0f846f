package check

import (
	"strings"

	"kitescope/inspect/model"
)

// EtcdAlarm finds alarms of etcd.
var EtcdAlarm = &Check{
	ID:       "etcd-alarm",
	Title:    "An alarm of etcd is raised",
	Severity: Error,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Needs:    NeedEtcd,
	Doc: `Looks at the errors that etcd's members report of themselves: NOSPACE (the quota of its database is used up: it refuses every write), CORRUPT (members disagree on the data), and
faults in its own words. Each is an error. That a member knows no leader is ` + "`etcd-no-leader`" + `'s.

While etcd refuses writes, no session is renewed for long, no segment is flushed, no index finished, and nothing can be created or dropped.`,
	Remedy: `NOSPACE: compact and defragment (` + "`etcdctl compact REVISION`, `etcdctl defrag`" + `), raise ` + "`--quota-backend-bytes`" + `, then ` + "`etcdctl alarm disarm`" + `. CORRUPT: take the member out and let it
join empty, or restore a snapshot.`,
	Run: runEtcdAlarm,
}

func runEtcdAlarm(p *Pass) error {
	alarms := make(map[string]int)
	f := Finding{Severity: Error}
	for _, m := range p.Etcd.Members {
		for _, e := range m.Errors {
			if !noLeader(e) {
				alarms[e]++
				f.Evidence = append(f.Evidence, Evidence{"member " + memberName(m), e, "etcd " + m.Endpoint})
			}
		}
		p.unseenMember(m)
	}
	if len(alarms) == 0 {
		return p.etcdUnknown()
	}
	worst := most(alarms)
	f.Message = "etcd reports " + worst
	f.Impact = "Milvus may not be able to write metadata."
	f.Hint = "etcdctl alarm list, and the log of etcd"
	if strings.Contains(worst, "NOSPACE") {
		f.Message += ": its database is full, and it refuses every write"
		f.Impact = "Nothing can be created, flushed or indexed, and sessions end."
		f.Hint = "etcdctl compact, etcdctl defrag, a greater --quota-backend-bytes, then etcdctl alarm disarm"
	}
	p.Report(f)
	return nil
}

func noLeader(text string) bool { return strings.Contains(text, "no leader") }

func memberName(m model.EtcdMember) string {
	if m.Name != "" {
		return m.Name
	}
	return m.Endpoint
}

// unseenMember notes a member that did not answer.
func (p *Pass) unseenMember(m model.EtcdMember) {
	if m.Problem != "" {
		p.Unseen("etcd member " + memberName(m) + ": " + m.Problem)
	}
}

// etcdUnknown skips a check if no member of etcd answered.
func (p *Pass) etcdUnknown() error {
	for _, m := range p.Etcd.Members {
		if m.Problem == "" {
			return nil
		}
	}
	return p.Skip("no member of etcd said how it is")
}
