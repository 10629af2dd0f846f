package etcd

import (
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/words"
)

// etcdAlarm finds alarms of etcd.
var etcdAlarm = &check.Check{
	ID:       "etcd-alarm",
	Title:    "An alarm of etcd is raised",
	Severity: check.Error,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Needs:    check.NeedEtcd,
	Doc: `Looks at the errors that etcd's members report of themselves: NOSPACE (the quota of its database is used up: it refuses every write), CORRUPT (members disagree on the data), and
faults in its own words. Each is an error. Every member knows the alarms of all, so that one that answers is enough. That a member knows no leader is ` + "`etcd-no-leader`" + `'s.

While etcd refuses writes, no segment is flushed, no index finished, nothing can be created or dropped, and no process can register. RootCoord, which has to write down which timestamps it hands
out, cannot go on for long.`,
	Remedy: `NOSPACE: compact the history (` + "`etcdctl compact REVISION`" + `, with the revision that ` + "`etcdctl endpoint status -w json`" + ` tells), defragment member by member (` + "`etcdctl defrag`" + `), or raise
` + "`--quota-backend-bytes`" + ` and restart the members one by one; only then ` + "`etcdctl alarm disarm`" + `. Milvus then goes on by itself.

CORRUPT: save a snapshot first. Then take the member that differs out and let it join empty, one at a time, or restore a snapshot.`,
	Run: runEtcdAlarm,
}

func runEtcdAlarm(p *check.Pass) error {
	alarms := make(map[string]bool)
	f := check.Finding{Severity: check.Error}
	for _, m := range p.Etcd.Members {
		for _, e := range m.Errors {
			if !noLeader(e) {
				alarms[alarmName(e)] = true
				f.Evidence = append(f.Evidence, check.Fact("member "+memberName(m), e, "etcd "+m.Endpoint))
			}
		}
	}
	if len(alarms) == 0 {
		return etcdUnknown(p)
	}
	f.Message = "etcd reports " + words.Few(slices.Sorted(maps.Keys(alarms)))
	f.Impact = "Milvus may not be able to write metadata."
	f.Hint = "etcdctl alarm list, and the log of etcd; save a snapshot (etcdctl snapshot save FILE) before anything is changed"
	if alarms["NOSPACE"] {
		f.Message += ": its database is full, and it refuses every write"
		f.Impact, f.Cost = "Nothing can be created, flushed or indexed; RootCoord can reserve no more timestamps, and requests fail.", 1
		f.Hint = "etcdctl endpoint status -w json (for REVISION); etcdctl compact REVISION; etcdctl defrag, member by member, or a greater --quota-backend-bytes; last etcdctl alarm disarm"
	}
	p.Report(f)
	return nil
}

// alarmName is the alarm in an error of a member: etcd writes "memberID:17 alarm:NOSPACE" (api/v3rpc/maintenance.go, Status).
func alarmName(text string) string {
	if i := strings.LastIndex(text, "alarm:"); i >= 0 {
		return strings.TrimSpace(text[i+len("alarm:"):])
	}
	return text
}

func noLeader(text string) bool { return strings.Contains(text, "no leader") }

func memberName(m model.EtcdMember) string {
	if m.Name != "" {
		return m.Name
	}
	return m.Endpoint
}

// unseenMember notes a member that did not answer.
func unseenMember(p *check.Pass, m model.EtcdMember) {
	if m.Problem != "" {
		p.Unseen("etcd member " + memberName(m) + ": " + m.Problem)
	}
}

// etcdUnknown skips a check if no member of etcd answered.
func etcdUnknown(p *check.Pass) error {
	for _, m := range p.Etcd.Members {
		if m.Problem == "" {
			return nil
		}
	}
	return p.Skip("no member of etcd said how it is")
}
