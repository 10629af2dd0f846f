package etcd

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// Thresholds of etcd-size.
const (
	// usualQuota is etcd's default for --quota-backend-bytes (etcd, server/storage/quota.go: DefaultQuotaBytes).
	usualQuota = int64(2) << 30
	// sizeWarning and sizeError are shares of the quota.
	sizeWarning, sizeError = 0.8, 0.95
	// hollow is the share of a database in use below which defragmenting is worth it, from hollowBytes on.
	hollow      = 0.5
	hollowBytes = int64(512) << 20
)

// etcdSize finds an etcd whose database is nearly full.
var etcdSize = &check.Check{
	ID:       "etcd-size",
	Title:    "The database of etcd is near its quota",
	Severity: check.Error,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Needs:    check.NeedEtcd,
	Doc: `Compares the size of each member's database with its quota. From 80% on a warning, from 95% on an error: when the quota is reached etcd raises NOSPACE and refuses every write.

Members report their quota from etcd 3.6 on. Before, it is unknown: then the size is compared with etcd's default of 2 GiB, and only information. Also information: a database of 512 MiB
and more that is in use by less than half, which defragmenting shrinks.`,
	Remedy:      "Compact and defragment: `etcdctl compact REVISION`, then `etcdctl defrag` member by member, the leader last. Milvus compacts nothing itself: run etcd with\n`--auto-compaction-mode=revision --auto-compaction-retention=1000`, and raise `--quota-backend-bytes` if the keys need it.",
	Run:         runEtcdSize,
	FollowsFrom: check.CausedBy(nil, "etcd-alarm"),
}

func runEtcdSize(p *check.Pass) error {
	var worst, hollowest *model.EtcdMember
	share := func(m *model.EtcdMember) float64 {
		if m.DBQuota > 0 {
			return facts.Part(m.DBSize, m.DBQuota)
		}
		return facts.Part(m.DBSize, usualQuota)
	}
	for i := range p.Etcd.Members {
		m := &p.Etcd.Members[i]
		unseenMember(p, *m)
		if m.Problem != "" {
			continue
		}
		if worst == nil || share(m) > share(worst) {
			worst = m
		}
		if m.DBSize >= hollowBytes && m.DBInUse > 0 && facts.Part(m.DBInUse, m.DBSize) < hollow && (hollowest == nil || m.DBSize-m.DBInUse > hollowest.DBSize-hollowest.DBInUse) {
			hollowest = m
		}
	}
	switch {
	case worst == nil:
		return etcdUnknown(p)
	case share(worst) >= sizeWarning:
		reportSize(p, worst, share(worst))
	case hollowest != nil:
		reportHollow(p, hollowest)
	}
	return nil
}

// sizeFinding is a finding about the database of one member.
func sizeFinding(m *model.EtcdMember) check.Finding {
	source := "etcd " + m.Endpoint
	return check.Finding{
		Evidence: []check.Evidence{check.Size("database", m.DBSize, source), check.Size("of it in use", m.DBInUse, source), quota(m, source)},
		Hint: check.Advise("%s gives REVISION; etcdctl compact REVISION; then etcdctl defrag member by member, this one with %s (a member answers nothing while it defragments)",
			check.Etcdctl("endpoint status").Flag("--endpoints=", m.Endpoint), "--endpoints="+m.Endpoint),
	}
}

func reportSize(p *check.Pass, m *model.EtcdMember, share float64) {
	f := sizeFinding(m)
	f.Severity = check.Warning
	if share >= sizeError {
		f.Severity = check.Error
	}
	f.Message = fmt.Sprintf("the database of etcd member %s is %s, %s of its quota", memberName(*m), words.Bytes(m.DBSize), words.Share(share))
	f.Impact = "When the quota is reached, etcd refuses every write, and Milvus stands still."
	if m.DBQuota <= 0 {
		f.Severity = check.Info
		f.Message = fmt.Sprintf("the database of etcd member %s is %s; its quota is not reported, and %s is the default", memberName(*m), words.Bytes(m.DBSize), words.Bytes(usualQuota))
		f.Hint = "look at --quota-backend-bytes of etcd; if it is near, " + f.Hint
	}
	p.Report(f)
}

func reportHollow(p *check.Pass, m *model.EtcdMember) {
	f := sizeFinding(m)
	f.Message = fmt.Sprintf("the database of etcd member %s is %s, of which %s are in use", memberName(*m), words.Bytes(m.DBSize), words.Bytes(m.DBInUse))
	f.Impact = "None yet: defragmenting gives the rest back to the disk."
	f.Hint = check.Advise("%s at a quiet time (the member answers nothing while it runs)", check.Etcdctl("defrag").Flag("--endpoints=", m.Endpoint))
	p.Report(f)
}

func quota(m *model.EtcdMember, source string) check.Evidence {
	if m.DBQuota > 0 {
		return check.Size("quota", m.DBQuota, source)
	}
	return check.Fact("quota", "not reported (before etcd 3.6)", source)
}
