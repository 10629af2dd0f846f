package rules

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of etcd-size.
const (
	// sizeWarning and sizeError are shares of the quota.
	sizeWarning, sizeError = 0.8, 0.95
	// fragmentedShare is the share in use below which defragmenting a database is worthwhile, if it has at least
	// fragmentedBytes.
	fragmentedShare = 0.5
	fragmentedBytes = int64(512) << 20
)

// etcdSize reports an etcd database that is nearly full.
var etcdSize = &check.Check{
	ID:       "etcd-size",
	Title:    "The etcd database is close to its quota",
	Severity: check.Error,
	Symptoms: []string{check.EtcdSlow},
	Starts:   "channel_rewritten | segment_created",
	Parts:    model.PartSessions,
	Needs:    check.NeedEtcd,
	Doc: `The etcd database fills up until etcd raises NOSPACE at its quota and refuses every write. The check
compares each member's database with its quota. Warning from 80%, error from 95%.

Members report their quota since etcd 3.6. Before that it is unknown: the size is compared with etcd's default of 2
GiB, and the finding is info. Also info: 512 MiB or more with less than half in use: defragmenting shrinks it.`,
	Remedy: `Compact and defragment: ` + "`etcdctl compact REVISION`" + `, then ` + "`etcdctl defrag`" + ` member by
member, the leader last. Milvus does not compact etcd: run etcd with
` + "`--auto-compaction-mode=revision --auto-compaction-retention=1000`" + `, and raise ` + "`--quota-backend-bytes`" +
		`
if the keys need it.`,
	Run:         runEtcdSize,
	FollowsFrom: check.CausedBy(nil, "etcd-alarm"),
}

func runEtcdSize(p *check.Pass) {
	var worst, hollowest *model.EtcdMember
	share := facts.QuotaShare
	for i := range p.Etcd.Members {
		m := &p.Etcd.Members[i]
		noteUnseenMember(p, *m)
		if m.Problem != "" {
			continue
		}
		if worst == nil || share(m) > share(worst) {
			worst = m
		}
		if m.DBSize >= fragmentedBytes && m.DBInUse > 0 && facts.Ratio(m.DBInUse, m.DBSize) < fragmentedShare &&
			(hollowest == nil || m.DBSize-m.DBInUse > hollowest.DBSize-hollowest.DBInUse) {
			hollowest = m
		}
	}
	switch {
	case worst == nil:
		skipUnlessEtcd(p)
	case share(worst) >= sizeWarning:
		reportSize(p, worst, share(worst))
	case hollowest != nil:
		reportFragmented(p, hollowest)
	}
}

// sizeFinding returns a finding with the sizes of one member's database as evidence.
func sizeFinding(m *model.EtcdMember) check.Finding {
	source := "etcd " + m.Endpoint
	return check.Finding{
		Evidence: []check.Evidence{
			check.Size("database", m.DBSize, source), check.Size("in use", m.DBInUse, source), quota(m, source),
		},
	}
}

func reportSize(p *check.Pass, m *model.EtcdMember, share float64) {
	f := sizeFinding(m)
	f.Severity = check.Warning
	if share >= sizeError {
		f.Severity = check.Error
	}
	f.Message = fmt.Sprintf("the database of etcd member %s is %s, %s of its quota", memberName(*m),
		words.Bytes(m.DBSize), words.Share(share))
	f.Impact = "At the quota etcd refuses every write, and Milvus stops."
	f.Fix = check.Fix(append(shrink(p, []*model.EtcdMember{m}),
		check.Do("run etcd with --auto-compaction-mode=revision and --auto-compaction-retention=1000, as Milvus does "+
			"not compact it").
			Interrupting(0, "nothing, one member at a time"))...)
	if m.DBQuota <= 0 {
		f.Severity = check.Info
		f.Message = fmt.Sprintf("the database of etcd member %s is %s; its quota is not reported, the default is %s",
			memberName(*m), words.Bytes(m.DBSize), words.Bytes(facts.UsualQuota))
		f.Fix = check.Fix(append([]check.Step{
			check.Do("read --quota-backend-bytes of etcd; the rest is needed only if the size is close to it"),
		}, f.Fix...)...)
	}
	p.Report(f)
}

func reportFragmented(p *check.Pass, m *model.EtcdMember) {
	f := sizeFinding(m)
	f.Message = fmt.Sprintf("the database of etcd member %s is %s, only %s in use", memberName(*m),
		words.Bytes(m.DBSize), words.Bytes(m.DBInUse))
	f.Impact = "None yet. Defragmenting returns the rest to the disk."
	f.Fix = check.Fix(defragment([]*model.EtcdMember{m}))
	p.Report(f)
}

// shrink returns the steps that make the database of the members smaller: compacting the history and
// defragmenting.
func shrink(p *check.Pass, members []*model.EtcdMember) []check.Step {
	var list []check.Step
	if revision := p.Origin.Revision - keptRevisions; revision > 0 {
		list = append(list,
			check.Shell(check.Etcdctl("compact").Flag("--endpoints=", endpoints(members)).
				Arg(strconv.FormatInt(revision, 10))).
				Does("deletes the history except for its newest 1,000 revisions; "+
					"this cannot be undone, and Milvus does not read it").
				Interrupting(0, "nothing"))
	} else {
		list = append(list,
			check.Shell(check.Etcdctl("endpoint status -w json").Flag("--endpoints=", endpoints(members))).
				Does("prints the newest revision, in the header"),
			check.Shell(check.Etcdctl("compact REVISION")).
				Does("deletes the history up to REVISION: 1,000 below the newest; "+
					"this cannot be undone, and Milvus does not read it").
				Interrupting(0, "nothing"))
	}
	return append(list, defragment(members))
}

// keptRevisions is the number of revisions that a compaction leaves, the same as in the automatic compaction
// that Milvus's own deployments configure.
const keptRevisions = 1000

// defragment returns the step that defragments the members one after the other.
func defragment(members []*model.EtcdMember) check.Step {
	return check.Shell(check.Etcdctl("defrag").Flag("--endpoints=", endpoints(members))).
		Does("defragments one member after the other: choose a quiet time").
		Interrupting(time.Minute, "each member for a few seconds")
}

// respondingMembers returns the members that responded, the leader last.
func respondingMembers(p *check.Pass) []*model.EtcdMember {
	var list, leaders []*model.EtcdMember
	for i := range p.Etcd.Members {
		switch m := &p.Etcd.Members[i]; {
		case m.Problem != "":
		case m.Leader:
			leaders = append(leaders, m)
		default:
			list = append(list, m)
		}
	}
	return append(list, leaders...)
}

// endpoints returns the members' endpoints in etcdctl's format, separated by commas.
func endpoints(members []*model.EtcdMember) string {
	list := make([]string, len(members))
	for i, m := range members {
		list[i] = m.Endpoint
	}
	return strings.Join(list, ",")
}

func quota(m *model.EtcdMember, source string) check.Evidence {
	if m.DBQuota > 0 {
		return check.Size("quota", m.DBQuota, source)
	}
	return check.Fact("quota", "not reported (before etcd 3.6)", source)
}
