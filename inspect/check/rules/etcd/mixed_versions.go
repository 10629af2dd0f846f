package etcd

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// mixedVersions finds processes of different versions.
var mixedVersions = &check.Check{
	ID:       "mixed-versions",
	Title:    "Processes of different Milvus versions run in one cluster",
	Severity: check.Warning,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Doc: `Compares the versions that sessions carry (Milvus 2.2 and later), and where processes were asked the time of their build. Different versions are a warning; one version
built at different times is information: an image whose tag was moved.

Milvus supports this only while a rolling upgrade lasts, and only between neighbouring versions. Standby coordinators count, stopping nodes do not: they are what an upgrade
replaces.`,
	Remedy: `Finish the upgrade: coordinators first, then index nodes, data nodes, query nodes, and proxies last, as Milvus's documentation of rolling upgrades has it. If none is
under way, look which image the odd processes run.`,
	Run: runMixedVersions,
}

func runMixedVersions(p *check.Pass) error {
	byVersion := make(map[string][]*model.Session)
	for _, s := range p.Sessions {
		if v := strings.TrimPrefix(s.Version, "v"); v != "" && !s.Stopping {
			byVersion[v] = append(byVersion[v], s)
		}
	}
	if len(byVersion) == 0 {
		if facts.Alive(p.Cluster) {
			return p.Skip("sessions carry no version (before Milvus 2.2)")
		}
		return p.Skip("no process is registered")
	}
	if len(byVersion) == 1 {
		return judgeBuilds(p)
	}
	versions := slices.SortedFunc(maps.Keys(byVersion), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byVersion[b]), len(byVersion[a])), cmp.Compare(a, b))
	})
	f := check.Finding{
		Severity: check.Warning,
		Impact:   "Calls and metadata of one version may not be understood by the other.",
		Hint:     check.Advise("if an upgrade is under way, finish it; if none is, look which image %s runs", facts.NamesOf(byVersion[versions[len(versions)-1]])),
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
	f.Message = "different versions run: " + strings.Join(parts, ", ")
	p.Report(f)
	return nil
}

// judgeBuilds looks for one version that was built at different times.
func judgeBuilds(p *check.Pass) error {
	if p.Runtime == nil {
		return nil
	}
	builds := make(map[string][]*model.LiveNode)
	for _, n := range p.Runtime.Nodes {
		if n.System != nil && n.System.BuildTime != "" {
			at := strings.TrimSpace(n.System.Version + " " + n.System.BuildTime)
			builds[at] = append(builds[at], n)
		}
	}
	if len(builds) < 2 {
		return nil
	}
	f := check.Finding{
		Severity: check.Info, Message: words.Plural(len(builds), "build") + " of one version run",
		Impact: "Processes may differ in more than their version says.", Hint: "look which image each process runs; a tag may have been moved",
	}
	for _, b := range slices.Sorted(maps.Keys(builds)) {
		f.Evidence = append(f.Evidence, check.Fact("build "+b, facts.LiveNames(builds[b]), builds[b][0].Name()+" GetMetrics"))
		for _, n := range builds[b] {
			f.Objects = append(f.Objects, n.Ref())
		}
	}
	p.Report(f)
	return nil
}
