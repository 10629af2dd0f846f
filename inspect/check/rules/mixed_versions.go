package rules

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// mixedVersions finds clusters with processes of different versions or builds.
var mixedVersions = &check.Check{
	ID:       "mixed-versions",
	Title:    "Different Milvus versions run in one cluster",
	Severity: check.Warning,
	Symptoms: []string{check.AfterUpgrade},
	Starts:   "node_joined | node_changed",
	Parts:    model.PartSessions,
	Doc: `An upgrade stopped halfway. The check compares versions in sessions (Milvus 2.2 and later) and, if processes
were queried, build times. Warning: different versions. Info: one version with different build times (an image tag was
moved).

Milvus supports mixed versions only during a rolling upgrade, and only between neighbouring versions. Standby
coordinators count. Stopping nodes do not: they are being replaced.`,
	Remedy: `Finish the upgrade in the order that Milvus's documentation gives for rolling upgrades: coordinators,
index nodes, data nodes, query nodes, proxies last. If no upgrade is under way, check which image the odd processes
run.`,
	Run: runMixedVersions,
}

func runMixedVersions(p *check.Pass) {
	byVersion := make(map[string][]*model.Session)
	for _, s := range p.Sessions {
		if v := strings.TrimPrefix(s.Version, "v"); v != "" && !s.Stopping {
			byVersion[v] = append(byVersion[v], s)
		}
	}
	if len(byVersion) == 0 {
		if facts.Alive(p.Cluster) {
			p.Skip("sessions have no version before Milvus 2.2")
			return
		}
		p.Skip("no process is registered")
		return
	}
	if len(byVersion) == 1 {
		judgeBuilds(p)
		return
	}
	versions := slices.SortedFunc(maps.Keys(byVersion), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byVersion[b]), len(byVersion[a])), cmp.Compare(a, b))
	})
	f := check.Finding{
		Severity: check.Warning,
		Impact:   "One version may misread the other's calls and metadata.",
		Fix: check.Fix(
			check.Do("finish the upgrade if one is under way: coordinators first, proxies last").
				Interrupting(5*time.Minute, "each process while it restarts"),
			check.Do("if not, check which image %s runs, and replace it",
				facts.NamesOf(byVersion[versions[len(versions)-1]])).
				Interrupting(5*time.Minute, "each process while it restarts"),
			check.Shell(check.Kitescope("get nodes --columns name,version,host")).
				Does("shows every process with its version; all should have the same"),
		),
	}
	parts := make([]string, len(versions))
	for i, v := range versions {
		parts[i] = v + " (" + facts.SessionNames(byVersion[v]) + ")"
		f.Evidence = append(f.Evidence, check.Fact("sessions of "+v, facts.SessionNames(byVersion[v]), "etcd"))
		if i > 0 {
			for _, s := range byVersion[v] {
				f.Objects = append(f.Objects, facts.RefNode(s.Role, s.Node))
			}
		}
	}
	f.Message = "different versions are running: " + strings.Join(parts, ", ")
	p.Report(f)
}

// judgeBuilds reports processes of one version with different build times.
func judgeBuilds(p *check.Pass) {
	if p.Runtime == nil {
		return
	}
	builds := make(map[string][]*model.LiveNode)
	for _, n := range p.Runtime.Nodes {
		if n.System != nil && n.System.BuildTime != "" {
			at := strings.TrimSpace(n.System.Version + " " + n.System.BuildTime)
			builds[at] = append(builds[at], n)
		}
	}
	if len(builds) < 2 {
		return
	}
	f := check.Finding{
		Severity: check.Info, Message: words.Plural(len(builds), "build") + " of one version are running",
		Impact: "Processes may differ although they report the same version.",
		Fix: check.Fix(check.Do("compare the image digests of the processes, and restart those with an old one: a "+
			"tag was probably moved").
			Interrupting(5*time.Minute, "each process while it restarts")),
	}
	for _, b := range slices.Sorted(maps.Keys(builds)) {
		f.Evidence = append(f.Evidence,
			check.Fact("build "+b, facts.LiveNames(builds[b]), builds[b][0].Name()+" GetMetrics"))
		f.Objects = append(f.Objects, facts.Refs(builds[b], (*model.LiveNode).Ref)...)
	}
	p.Report(f)
}
