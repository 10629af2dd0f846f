package rules

import (
	"maps"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// etcdAlarm reports alarms of etcd.
var etcdAlarm = &check.Check{
	ID:       "etcd-alarm",
	Title:    "An etcd alarm is raised",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail, check.EtcdSlow},
	Starts:   "channel_rewritten | segment_created",
	Parts:    model.PartSessions,
	Needs:    check.NeedEtcd,
	Doc: `etcd refuses every write: no segment is flushed, no index build finishes, nothing can be created or dropped,
and no process can register. RootCoord has to store the timestamps it reserves, and soon stops as well. The check
reads the errors that etcd members report about themselves. Each is an error:

- NOSPACE: the database has reached its quota, and etcd refuses every write.
- CORRUPT: members disagree about the data.
- Any other fault, quoted from etcd.

Every member reports the alarms of all members, so one that responds is enough. A member without a leader is reported
by ` + "`etcd-no-leader`" + `.`,
	Remedy: `NOSPACE: compact the history (` + "`etcdctl compact REVISION`" + `, with the revision from
` + "`etcdctl endpoint status -w json`" + `), then defragment member by member (` + "`etcdctl defrag`" + `), or raise
` + "`--quota-backend-bytes`" + ` and restart the members one at a time. Only then clear the alarm:
` + "`etcdctl alarm disarm`" + `. Milvus continues on its own.

CORRUPT: save a snapshot first. Then remove the member that differs and let it rejoin empty, one at a time, or restore
a snapshot.`,
	Run: runEtcdAlarm,
}

func runEtcdAlarm(p *check.Pass) {
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
		skipUnlessEtcd(p)
		return
	}
	f.Message = "etcd reports " + words.Summarize(slices.Sorted(maps.Keys(alarms)))
	f.Impact = "Milvus may be unable to write metadata."
	f.Fix = check.Fix(
		snapshotFirst(p),
		check.Shell(
			check.Etcdctl("endpoint hashkv --cluster").Flag("--endpoints=", endpoints(respondingMembers(p))),
		).Does("shows which member differs: another hash at the same revision"),
		check.Do("take that member out and let it rejoin with an empty data folder; its log has the details").
			Interrupting(5*time.Minute, "nothing, as long as most members respond"),
	)
	if alarms["NOSPACE"] {
		f.Message += ": its database is full, and every write is refused"
		f.Impact, f.Cost = "Nothing can be created, flushed or indexed. RootCoord cannot reserve timestamps, and "+
			"requests fail.", 1
		shrunk := shrink(p, respondingMembers(p))
		for i := range shrunk {
			shrunk[i].Within = 0 // the alarm stays until it is cleared
		}
		f.Fix = check.Fix(append(shrunk,
			check.Shell(check.Etcdctl("alarm disarm").Flag("--endpoints=", endpoints(respondingMembers(p)))).
				Does("clears the alarm; Milvus then continues on its own").
				Interrupting(time.Minute, "nothing"),
			check.Do("if too little space is freed, raise --quota-backend-bytes and restart the members one at a time").
				Interrupting(2*time.Minute, "nothing, as long as most members respond"))...)
	}
	p.Report(f)
}

// snapshotFirst returns the step that saves a snapshot of etcd before a repair. It uses a single member,
// because etcdctl accepts only one endpoint for that: the leader if it responds.
func snapshotFirst(p *check.Pass) check.Step {
	save := check.Etcdctl("snapshot save")
	if p.Etcd != nil {
		if members := respondingMembers(p); len(members) > 0 {
			save = save.Flag("--endpoints=", members[len(members)-1].Endpoint)
		}
	}
	return check.Shell(save.Arg("etcd-before-repair.db")).Does("saves etcd as it is, before anything is changed")
}

// alarmName returns the alarm in an error of a member. etcd writes "memberID:17 alarm:NOSPACE"
// (api/v3rpc/maintenance.go, Status). An error without "alarm:" is returned as it is.
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

// noteUnseenMember records a member that did not respond.
func noteUnseenMember(p *check.Pass, m model.EtcdMember) {
	if m.Problem != "" {
		p.NoteUnseen("etcd member " + memberName(m) + ": " + m.Problem)
	}
}

// skipUnlessEtcd skips the check if no etcd member responded.
func skipUnlessEtcd(p *check.Pass) {
	for _, m := range p.Etcd.Members {
		if m.Problem == "" {
			return
		}
	}
	p.Skip("no etcd member reported its status")
}
