package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

var tasks = rule{
	forward: true, back: true, anyVersion: true,
	Check: check.Check{
		ID:       "upgrade-tasks",
		Title:    "Tasks must end before the version changes",
		Severity: check.Warning,
		Parts:    model.PartObjects | model.PartTasks | model.PartSegments | model.PartSegmentIndexes,
		Doc: `Counts unfinished imports, compactions, statistics tasks, index builds and exports. A coordinator
resumes those in etcd; others (imports, compactions before 2.4) restart or are lost. Warning for imports, because
clients wait; else info.`,
		Remedy: `Wait until they end, or stop writing.`,
	},
	run: runTasks,
}

func runTasks(p *check.Pass, _ Plan) {
	open := map[string]int{}
	f := check.Finding{Severity: check.Info}
	for _, t := range p.AllTasks() {
		if facts.TaskEnded(t) {
			continue
		}
		open[t.Type]++
		if strings.Contains(t.Type, "import") {
			f.Severity = check.Warning
		}
		if len(f.Objects) < facts.MaxObjects {
			f.Objects = append(f.Objects, facts.RefTask(t))
		}
	}
	p.EachBegun(func(facts.Build) { open["index build"]++ })
	if len(open) == 0 {
		return
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(open)) {
		parts = append(parts, words.Plural(open[kind], kind+" task"))
		f.Evidence = append(f.Evidence, check.Count("unfinished "+kind+" tasks", open[kind], "etcd"))
	}
	f.Message = "unfinished: " + words.Summarize(parts)
	f.Impact = "They start over after the version change, or are lost."
	f.Fix = check.Fix(check.Shell(check.Kitescope("get tasks --sort started_at")).
		Does("lists them, oldest first: wait until none are left"))
	p.Report(f)
}

var space = rule{
	forward: true, back: true, anyVersion: true,
	Check: check.Check{
		ID:       "upgrade-space",
		Title:    "etcd has little space for the upgrade",
		Severity: check.Error,
		Parts:    model.PartSessions,
		Needs:    check.NeedEtcd,
		Doc: `Compares each etcd member's database with its quota (default 2 GiB). Warning from 50%, error from 80%:
an upgrade rewrites records, and the database may double until it is compacted. At the quota etcd refuses writes.`,
		Remedy: `Compact and defragment etcd, or raise its quota, before the upgrade.`,
	},
	run: runSpace,
}

func runSpace(p *check.Pass, _ Plan) {
	var fullest *model.EtcdMember
	for i := range p.Etcd.Members {
		m := &p.Etcd.Members[i]
		if m.Problem != "" {
			p.NoteUnseen("etcd " + m.Endpoint + ": " + m.Problem)
			continue
		}
		if fullest == nil || facts.QuotaShare(m) > facts.QuotaShare(fullest) {
			fullest = m
		}
	}
	if fullest == nil || facts.QuotaShare(fullest) < halfFull {
		return
	}
	share, source := facts.QuotaShare(fullest), "etcd "+fullest.Endpoint
	quota := check.Size("quota", fullest.DBQuota, source)
	if fullest.DBQuota <= 0 {
		quota = check.Size("quota", facts.UsualQuota, "etcd's default")
	}
	f := check.Finding{
		Severity: check.Warning,
		Message: fmt.Sprintf("the database of etcd member %s is %s, %s of its quota", fullest.Endpoint,
			words.Bytes(fullest.DBSize), words.Share(share)),
		Evidence: []check.Evidence{
			check.Size("database", fullest.DBSize, source), check.Size("in use", fullest.DBInUse, source), quota,
		},
		Impact: "If it reaches the quota during the upgrade, etcd refuses all writes.",
		Fix:    check.Fix(check.Shell(check.Kitescope("explain etcd-size")).Does("shows how to shrink it")),
	}
	if share >= nearlyFull {
		f.Severity = check.Error
	}
	p.Report(f)
}

// halfFull and nearlyFull are the shares of the quota from which a finding is a warning or an error.
const halfFull, nearlyFull = 0.5, 0.8
