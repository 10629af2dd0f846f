package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// QuotaDenied finds a Milvus that refuses requests.
var QuotaDenied = &Check{
	ID:       "quota-denied",
	Title:    "Milvus refuses requests because a quota is used up",
	Severity: Warning,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Needs:    NeedMetrics,
	Doc: `Looks at RootCoord's metric ` + "`milvus_rootcoord_quota_states`" + ` (Milvus 2.3 and later): each state above 0 is a reason for which it refuses requests, such as MemoryQuotaExhausted,
DiskQuotaExhausted, TimeTickLongDelay, DenyToWrite or DenyToRead. A warning, and not an error, because 2.4 up to 2.4.4 or so do not take a state back that is over (milvus issue 33539).`,
	Remedy: "MemoryQuotaExhausted: release collections or add query nodes, data nodes. DiskQuotaExhausted: `quotaAndLimits.limitWriting.diskProtection.diskQuota`. TimeTickLongDelay: see `timetick-lag`.\nDenyToWrite and DenyToRead: `quotaAndLimits.limitWriting.forceDeny`, `limitReading.forceDeny`.",
	Run:    runQuotaDenied,
	FollowsFrom: []Cause{
		{Check: "timetick-lag"}, {Check: "bad-switches", Of: speaksOf("quotaAndLimits.limitWriting.forceDeny", "quotaAndLimits.limitReading.forceDeny")},
	},
}

func runQuotaDenied(p *Pass) error {
	const metric = "milvus_rootcoord_quota_states"
	states := make(map[string][]string)
	told := false
	f := Finding{Severity: Warning}
	for _, x := range p.Runtime.Processes {
		if x.Metrics == nil {
			continue
		}
		for _, s := range x.Metrics.Families[metric] {
			told = true
			if s.Value <= 0 {
				continue
			}
			state := s.Label("quota_states")
			where := strings.Trim(s.Label("db_name")+"/"+s.Label("collection_name"), "/")
			states[state] = append(states[state], where)
			f.Evidence = append(f.Evidence, Evidence{strings.TrimSpace("quota state " + state + " " + where), fmt.Sprint(s.Value), x.Address + " /metrics"})
			f.Objects = append(f.Objects, x.Nodes...)
		}
	}
	if !told {
		return p.Skip("RootCoord's metrics do not tell quota states")
	}
	if len(states) == 0 {
		return nil
	}
	f.Message = "Milvus refuses requests: " + few(slices.Sorted(maps.Keys(states)))
	f.Impact = "Clients get errors: rate limit exceeded, quota exhausted, or request denied."
	f.Hint = "look at memory, disk and time tick lag of the nodes, and at quotaAndLimits in the configuration"
	p.Report(f)
	return nil
}
