package preflight

import (
	"fmt"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// stop is an intermediate version that an upgrade cannot skip.
type stop struct {
	applies func(Plan) bool
	version Version
	why     string
	how     func(over string) check.Step
	source  string
}

// stops returns the possible stops of upgrades, the oldest first.
func stops() []stop {
	return []stop{
		{
			applies: func(p Plan) bool { return p.crosses(release(2, 2)) },
			version: Version{release(2, 2), 16},
			why:     "2.2 moved indexes and load states, and does not read the keys of 2.1",
			how: func(over string) check.Step {
				return check.Do("stop Milvus, run the migration tool (meta-migration), and start %s", over)
			},
			source: "docs of 2.2 to 2.4, Upgrade Milvus",
		},
		{
			applies: func(p Plan) bool { return p.crosses(release(2, 6)) && p.From.Before(Version{release(2, 5), 16}) },
			version: Version{release(2, 5), 16},
			why:     "2.6 takes over only from a single MixCoord of 2.5.16 or later",
			how: func(over string) check.Step {
				return check.Do("upgrade to %s or later, with the coordinators as one MixCoord, "+
					"and wait until every node runs it", over)
			},
			source: "docs of 2.6, Upgrade Milvus Cluster: requirements",
		},
		{
			applies: func(p Plan) bool { return p.crosses(release(3, 0)) && p.From.Release.Before(release(2, 6)) },
			version: Version{release(2, 6), 22},
			why:     "according to its docs, 3.0 takes over only from 2.6",
			how: func(over string) check.Step {
				return check.Do("upgrade to %s, and wait until every node runs it", over)
			},
			source: "docs of 3.0, Upgrade Milvus",
		},
	}
}

// stops returns the stops of the plan, nil for a rollback. The last one may be the target itself, because it
// requires a step before.
func (p Plan) stops() (list []stop) {
	for _, s := range stops() {
		if p.Back || !s.applies(p) {
			continue
		}
		if !s.version.Before(p.To) {
			s.version = p.To
		}
		list = append(list, s)
	}
	return list
}

// Next returns the version to upgrade to first: the first stop, or the target if there is none.
func (p Plan) Next() Version { return p.next().To }

// next returns the plan up to the first stop, i.e. the part to do now.
func (p Plan) next() Plan {
	if list := p.stops(); len(list) > 0 {
		p.To = list[0].version
	}
	return p
}

var route = rule{
	forward: true, back: true,
	Check: check.Check{
		ID:       "upgrade-path",
		Title:    "The version cannot be reached in one step",
		Severity: check.Error,
		Parts:    model.PartSessions,
		Doc: `Compares the running version with the target and names the versions that cannot be skipped:

- from 2.1 and older: 2.2, with the metadata migrated while Milvus is stopped (docs of 2.2 to 2.4). A real 2.2.16
  without this lost all indexes and load states.
- to 2.6 and later: 2.5.16 or later, with MixCoord (docs of 2.6, Upgrade Milvus Cluster). 2.6.0-rc1 cannot be
  upgraded.
- to 3.0: 2.6 (docs of 3.0).

Rollback: error if coordinators refuse to start after a newer version, because they compare versions when they
register. 2.6 starts only after 3.0, since builds of 2026-06-30 (Milvus pull request 50792; 2.6.22 has it). Milvus's
documents contradict each other on rollbacks.`,
		Remedy: `Save a snapshot of etcd before each step, and wait until all nodes run the new version and are
healthy.`,
	},
	run: runPath,
}

func runPath(p *check.Pass, plan Plan) {
	if plan.Back {
		runPathBack(p, plan)
		return
	}
	steps := []check.Step{check.Do("save a snapshot of etcd before each step")}
	var over []string
	f := check.Finding{
		Severity: check.Error,
		Evidence: []check.Evidence{check.Fact("running version", p.Version.Text, p.Version.From)},
	}
	for _, s := range plan.stops() {
		if s.version != plan.To {
			over = append(over, s.version.String())
		}
		steps = append(steps, s.how(s.version.String()))
		f.Evidence = append(f.Evidence, check.Fact("reason", s.why, s.source))
	}
	if strings.Contains(p.Version.Text, "2.6.0-rc") {
		p.Report(check.Finding{
			Severity: check.Error, Message: "2.6.0-rc1 is running, which cannot be upgraded to a later version",
			Evidence: []check.Evidence{check.Fact("running version", p.Version.Text, p.Version.From)},
			Impact:   "The upgrade fails or loses data.",
			Fix:      check.Fix(check.Do("export the data (milvus-backup), and import it into a new cluster")),
		})
	}
	switch {
	case len(steps) == 1:
		return
	case len(over) == 0:
		f.Message = fmt.Sprintf("the metadata must be migrated before %s starts", plan.To)
	default:
		f.Message = fmt.Sprintf("no direct upgrade from %s to %s: go through %s", plan.From, plan.To,
			words.Summarize(over))
	}
	f.Impact = "After an upgrade in one step the new version does not start, or ignores records of the old one."
	if len(over) > 0 {
		steps = append(steps, check.Do("upgrade to %s", plan.To.String()))
	}
	f.Fix = check.Fix(steps...)
	p.Report(f)
}

func runPathBack(p *check.Pass, plan Plan) {
	if plan.To.Release == plan.From.Release {
		return
	}
	f := check.Finding{
		Severity: check.Error,
		Evidence: []check.Evidence{check.Fact("running version", p.Version.Text, p.Version.From)},
		Impact:   "The coordinators do not start, and nothing works until the newer version runs again.",
		Fix: check.Fix(check.Do("stay with %s, or restore the snapshot of etcd and the storage from before the "+
			"upgrade", plan.From.String())),
	}
	switch {
	case plan.From.Release == release(3, 0) && plan.To.Release == release(2, 6):
		if plan.To.Patch >= 22 {
			return
		}
		f.Severity = check.Warning
		f.Message = fmt.Sprintf("coordinators of %s may refuse to start after %s: builds before 2026-06-30 do", plan.To,
			plan.From)
		f.Fix = check.Fix(check.Do("roll back to 2.6.22 or later"))
		f.Evidence = append(f.Evidence,
			check.Fact("source", "pull request 50792, issue 50694", "github.com/milvus-io/milvus"))
	case plan.To.Release.Before(release(2, 6)) && !plan.From.Release.Before(release(2, 6)):
		f.Message = fmt.Sprintf("coordinators of %s refuse to start after %s, and do not know the streaming nodes' WAL",
			plan.To, plan.From)
		f.Evidence = append(f.Evidence,
			check.Fact("source", "pull request 50792, issue 50694", "github.com/milvus-io/milvus"))
	default:
		f.Severity = check.Warning
		f.Message = fmt.Sprintf("Milvus does not test rollbacks from %s to %s", plan.From.Release, plan.To.Release)
		f.Impact = "Records that the newer version wrote may be ignored or misread; the other checks list known cases."
	}
	p.Report(f)
}
