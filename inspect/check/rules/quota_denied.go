package rules

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// quotaDenied reports quota states in which Milvus refuses requests.
var quotaDenied = &check.Check{
	ID:       "quota-denied",
	Title:    "Milvus refuses requests because a quota is used up",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesFail, check.WritesFail},
	Starts:   "config_changed:quota | node_lost checkpoint_stopped",
	Parts:    model.PartSessions,
	Needs:    check.NeedProcesses,
	Doc: `RootCoord denies inserts: MemoryQuotaExhausted, DiskQuotaExhausted or TimeTickLongDelay. The check reads its
metric ` + "`milvus_rootcoord_quota_states`" + ` (Milvus 2.2 and later). Each state above 0 is a reason to refuse
requests; since 2.4 with its scope: the cluster, a database, a collection. A warning, not an error, because 2.4 to
about 2.4.4 do not clear a state that is over (Milvus issue 33539).

Versions up to 2.3 report an inactive state as 0, later ones omit it (internal/rootcoord/quota_center.go,
recordMetrics): a RootCoord with metrics and no state refuses nothing. Could not run if the active RootCoord reports
no metrics; those of other processes do not matter.`,
	Remedy: `MemoryQuotaExhausted: release collections, or add query nodes and data nodes. DiskQuotaExhausted: raise
` + "`quotaAndLimits.limitWriting.diskProtection.diskQuota`" + `. TimeTickLongDelay: see ` + "`timetick-lag`" + `.
DenyToWrite and DenyToRead: ` + "`quotaAndLimits.limitWriting.forceDeny`" + `, ` + "`limitReading.forceDeny`" + `.`,
	Run:   runQuotaDenied,
	Roles: []string{"rootcoord", "datanode", "querynode", "streamingnode"},
	FollowsFrom: []check.Cause{
		{Check: "timetick-lag", Applies: ofTicks},
		{
			Check: "bad-switches",
			Applies: check.AboutSettings("quotaAndLimits.limitWriting.forceDeny",
				"quotaAndLimits.limitReading.forceDeny"),
		},
	},
}

// ofTicks reports whether requests are refused because time ticks are late.
func ofTicks(_ *model.Cluster, effect, _ *check.Finding) bool {
	return strings.Contains(effect.Message, "TimeTick")
}

func runQuotaDenied(p *check.Pass) {
	if p.Runtime == nil {
		p.Skip(facts.NotAsked)
		return
	}
	root := rootProcess(p)
	switch {
	case root == nil:
		p.Skip("RootCoord's process is unknown")
		return
	case root.Metrics == nil:
		p.Skip("RootCoord reported no metrics: " + root.Outcome.With(root.Reason))
		return
	case facts.IsLegacy(p.Cluster):
		p.Skip("Milvus 2.1 has no quotas")
		return
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
		f.Evidence = append(f.Evidence,
			check.Fact(strings.TrimSpace("quota state "+state+" "+scope), strconv.FormatFloat(s.Value, 'g', -1, 64),
				root.Address+" /metrics"))
	}
	if len(states) == 0 {
		return
	}
	f.Message = "Milvus refuses requests: " + words.Summarize(slices.Sorted(maps.Keys(states)))
	f.Impact = "Clients get errors: rate limit exceeded, quota exhausted, or request denied."
	f.Fix = quotaFix(slices.Sorted(maps.Keys(states)))
	p.Report(f)
}

// quotaFix returns the steps that end quota states of RootCoord (internal/proto/internal.proto and pkg/proto:
// QuotaState).
func quotaFix(states []string) []check.Step {
	var list []check.Step
	for _, state := range states {
		switch {
		case strings.HasPrefix(state, "Memory"):
			list = append(list,
				check.Shell(check.Kitescope("get nodes --columns name,memory_bytes,memory_limit_bytes")).
					Does("shows which nodes are full"),
				check.Do("release collections, or add query nodes or data nodes").
					Interrupting(2*time.Minute, "searches of the released collections"))
		case strings.HasPrefix(state, "Disk"):
			list = append(list, check.Do("raise quotaAndLimits.limitWriting.diskProtection.diskQuota, "+
				"or drop unused collections: the storage in use has reached it").
				Interrupting(time.Minute, "nothing"))
		case strings.HasPrefix(state, "TimeTick"):
			list = append(list,
				check.Shell(check.Kitescope("diagnose --only timetick-lag,queue-unreachable,checkpoint-lag")).
					Does("shows which nodes are behind the message queue, and why"))
		case strings.HasPrefix(state, "Deny"):
			list = append(list, check.Shell(check.Kitescope("diagnose --only bad-switches")).
				Does("prints the command that sets forceDeny back to false, if it was not intended"))
		}
	}
	return check.Fix(append(list,
		check.Do("look at quotaAndLimits in the configuration: the state names the limit"))...)
}

// rootProcess returns the process of the active RootCoord, or nil if it was not found.
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
