package channels

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// quotaDenied finds a Milvus that refuses requests.
var quotaDenied = &check.Check{
	ID:       "quota-denied",
	Title:    "Milvus refuses requests because a quota is used up",
	Severity: check.Warning,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Needs:    check.NeedProcesses,
	Doc: `Looks at RootCoord's metric ` + "`milvus_rootcoord_quota_states`" + ` (Milvus 2.2 and later): each state above 0 is a reason for which it refuses requests, such as MemoryQuotaExhausted,
DiskQuotaExhausted or TimeTickLongDelay; from 2.4 on with what it is refused for: the cluster, a database, a collection. A warning, and not an error, because 2.4 up to 2.4.4 or so do not take a
state back that is over (milvus issue 33539).

Versions up to 2.3 tell a state that is not in force as 0, later ones leave it out (internal/rootcoord/quota_center.go, recordMetrics): a RootCoord that tells its metrics and no state refuses nothing.
Skipped if the RootCoord that is in charge tells no metrics; what the other processes tell does not matter.`,
	Remedy: "MemoryQuotaExhausted: release collections or add query nodes, data nodes. DiskQuotaExhausted: `quotaAndLimits.limitWriting.diskProtection.diskQuota`. TimeTickLongDelay: see `timetick-lag`.\nDenyToWrite and DenyToRead: `quotaAndLimits.limitWriting.forceDeny`, `limitReading.forceDeny`.",
	Run:    runQuotaDenied,
	Roles:  []string{"rootcoord", "datanode", "querynode", "streamingnode"},
	FollowsFrom: []check.Cause{
		{Check: "timetick-lag"}, {Check: "bad-switches", Of: check.SpeaksOf("quotaAndLimits.limitWriting.forceDeny", "quotaAndLimits.limitReading.forceDeny")},
	},
}

func runQuotaDenied(p *check.Pass) error {
	if p.Runtime == nil {
		return p.Skip("the nodes were not asked")
	}
	root := rootProcess(p)
	switch {
	case root == nil:
		return p.Skip("the process of RootCoord is not known")
	case root.Metrics == nil:
		return p.Skip("RootCoord did not tell its metrics: " + facts.OutcomeText(root.Outcome, root.Reason))
	case facts.IsLegacy(p.Cluster):
		return p.Skip("Milvus 2.1 has no quotas")
	}
	states := make(map[string]bool)
	f := check.Finding{Severity: check.Warning, Objects: root.Nodes}
	for _, s := range root.Metrics.Samples("milvus_rootcoord_quota_states") {
		if s.Value <= 0 {
			continue
		}
		state, scope := s.Label("quota_states"), s.Label("name") // "cluster", "db_NAME", "collection_NAME"
		if scope != "" && scope != "cluster" {
			states[state+" for "+scope] = true
		} else {
			states[state] = true
		}
		f.Evidence = append(f.Evidence, check.Fact(strings.TrimSpace("quota state "+state+" "+scope), strconv.FormatFloat(s.Value, 'g', -1, 64), root.Address+" /metrics"))
	}
	if len(states) == 0 {
		return nil
	}
	f.Message = "Milvus refuses requests: " + words.Few(slices.Sorted(maps.Keys(states)))
	f.Impact = "Clients get errors: rate limit exceeded, quota exhausted, or request denied."
	f.Hint = "look at memory, disk and time tick lag of the nodes (kitescope get nodes), and at quotaAndLimits in the configuration"
	p.Report(f)
	return nil
}

// rootProcess is the process of the RootCoord that is in charge, nil if it was not found.
func rootProcess(p *check.Pass) *model.Process {
	for _, s := range p.Sessions {
		if (s.Role != "rootcoord" && s.Role != "mixcoord") || s.Standby {
			continue
		}
		ref := facts.RefNode(s.Role, s.Node)
		for _, x := range p.Runtime.Processes {
			if slices.ContainsFunc(x.Nodes, func(n model.Ref) bool { return n.ID == ref.ID }) {
				return x
			}
		}
	}
	return nil
}
