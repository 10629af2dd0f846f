package check

import (
	"fmt"

	"kitescope/inspect/model"
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

// EtcdSize finds an etcd whose database is nearly full.
var EtcdSize = &Check{
	ID:       "etcd-size",
	Title:    "The database of etcd is near its quota",
	Severity: Error,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Needs:    NeedEtcd,
	Doc: `Compares the size of each member's database with its quota. From 80 % on a warning, from 95 % on an error: when the quota is reached etcd raises NOSPACE and refuses every write.

Members report their quota from etcd 3.6 on. Before, it is unknown: then the size is compared with etcd's default of 2 GiB, and only information. Also information: a database of 512 MiB
and more that is in use by less than half, which defragmenting shrinks.`,
	Remedy: "Compact and defragment: `etcdctl compact REVISION`, then `etcdctl defrag` member by member, the leader last. Milvus compacts nothing itself: run etcd with\n`--auto-compaction-mode=revision --auto-compaction-retention=1000`, and raise `--quota-backend-bytes` if the keys need it.",
	Run:    runEtcdSize,
}

func runEtcdSize(p *Pass) error {
	var worst, hollowest *model.EtcdMember
	share := func(m *model.EtcdMember) float64 {
		if m.DBQuota > 0 {
			return part(m.DBSize, m.DBQuota)
		}
		return part(m.DBSize, usualQuota)
	}
	for i := range p.Etcd.Members {
		m := &p.Etcd.Members[i]
		p.unseenMember(*m)
		if m.Problem != "" {
			continue
		}
		if worst == nil || share(m) > share(worst) {
			worst = m
		}
		if m.DBSize >= hollowBytes && part(m.DBInUse, m.DBSize) < hollow && (hollowest == nil || m.DBSize-m.DBInUse > hollowest.DBSize-hollowest.DBInUse) {
			hollowest = m
		}
	}
	if worst == nil {
		return p.etcdUnknown()
	}
	f := Finding{
		Evidence: []Evidence{
			{"database", bytesText(worst.DBSize), "etcd " + worst.Endpoint}, {"of it in use", bytesText(worst.DBInUse), "etcd " + worst.Endpoint}, {"quota", quotaText(worst), "etcd " + worst.Endpoint},
		},
		Impact: "When the quota is reached, etcd refuses every write, and Milvus stands still.",
		Hint:   "etcdctl compact, then etcdctl defrag --endpoints=" + worst.Endpoint,
	}
	known := worst.DBQuota > 0
	switch s := share(worst); {
	case s >= sizeWarning:
		f.Severity = Warning
		if s >= sizeError {
			f.Severity = Error
		}
		f.Message = fmt.Sprintf("the database of etcd member %s is %s, %s of its quota", memberName(*worst), bytesText(worst.DBSize), percent(s))
		if !known {
			f.Severity = Info
			f.Message = fmt.Sprintf("the database of etcd member %s is %s; its quota is not reported, and %s is the default", memberName(*worst), bytesText(worst.DBSize), bytesText(usualQuota))
		}
	case hollowest != nil:
		f.Severity = Info
		f.Message = fmt.Sprintf("the database of etcd member %s is %s, of which %s are in use", memberName(*hollowest), bytesText(hollowest.DBSize), bytesText(hollowest.DBInUse))
		f.Impact = "None yet: defragmenting gives the rest back."
	default:
		return nil
	}
	p.Report(f)
	return nil
}

func quotaText(m *model.EtcdMember) string {
	if m.DBQuota > 0 {
		return bytesText(m.DBQuota)
	}
	return "not reported (before etcd 3.6)"
}
