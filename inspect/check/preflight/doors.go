package preflight

import (
	"fmt"
	"strconv"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// door is a setting that makes what is written from then on unreadable for older releases.
type door struct {
	key   string
	first facts.Release // releases before it cannot read what is written
	open  func(value string) bool
	what  string
}

func isTrue(value string) bool { on, err := strconv.ParseBool(value); return err == nil && on }

func above(limit int) func(string) bool {
	return func(value string) bool { n, err := strconv.Atoi(value); return err == nil && n > limit }
}

// oneWay are the settings, from their Doc in pkg/util/paramtable of 2.6.22 and 3.0.1.
var oneWay = []door{
	{"common.storage.enableV2", release(2, 6), isTrue, "segments in storage version 2"},
	{"common.storage.useLoonFFI", release(3, 0), isTrue, "segments in storage version 3"},
	{"dataCoord.index.storePathVersion", release(3, 0), above(0), "index files under index_v1/"},
	{"dataCoord.targetVecIndexVersion", release(3, 0), above(9), "vector indexes of version 10"},
	{"dataCoord.targetScalarIndexVersion", release(3, 0), above(3), "scalar indexes of version 4"},
}

var doors = rule{
	forward: true, back: true,
	Check: check.Check{
		ID:       "upgrade-one-way",
		Title:    "Settings make the upgrade one that cannot be taken back",
		Severity: check.Warning,
		Since:    since,
		Parts:    model.PartConfig,
		Doc: `Looks for settings after which the new version writes what the old one cannot read: ` + "`common.storage.enableV2`" + ` (2.6),
` + "`common.storage.useLoonFFI`" + `, ` + "`dataCoord.index.storePathVersion`" + ` 1, ` + "`dataCoord.targetVecIndexVersion`" + ` from 10 and
` + "`dataCoord.targetScalarIndexVersion`" + ` from 4 (3.0). Their documentation in pkg/util/paramtable of 3.0.1 says so; Milvus issue 51788: after going back from 3.0
to 2.6, collections with index files in the new place never became serviceable.`,
		Remedy: `Leave them as they are until it is certain that the new version stays.`,
	},
	run: runDoors,
}

func runDoors(p *check.Pass, plan Plan) error {
	noteUntold(p)
	older := plan.From
	if plan.Back {
		older = plan.To
	}
	for _, d := range oneWay {
		if !older.Release.Before(d.first) || !plan.Back && plan.To.Release.Before(d.first) {
			continue
		}
		set, ok := p.Cluster.Setting(d.key, facts.DataCoords()...)
		if !ok || !d.open(set.Value) {
			continue
		}
		object := model.Ref{}
		if e := model.DynamicEntry(p.Config, d.key); e != nil {
			object = model.Ref{Resource: "config", ID: e.Name}
		}
		p.Report(check.Finding{
			Severity: check.Warning, Object: object,
			Message:  fmt.Sprintf("%s is %s: %s come, which %s cannot read", d.key, set.Value, d.what, older),
			Evidence: []check.Evidence{check.Fact(d.key, set.Value, set.From), check.Fact("first version that reads it", d.first.String(), "pkg/util/paramtable")},
			Impact:   "Going back is no longer possible without the backups from before.",
			Fix:      check.Fix(check.Do("set %s back until the new version has proved itself", d.key)),
		})
	}
	return nil
}
