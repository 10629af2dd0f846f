package preflight

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// oneWayFormat is a format that a version writes and older releases cannot read.
type oneWayFormat struct {
	first  Version // the first version that writes it; releases before it cannot read it
	what   string
	source string // the source of this fact
	// key is the setting that enables the format, "" if the version always writes it. keyRemoved is the version that
	// removes the setting.
	key        string
	keyRemoved Version
	// usual is the default of the setting. enabledBy reports whether a value enables the format.
	usual     string
	enabledBy func(value string) bool
	fix       check.Step // step that delays a format without key, if there is one
}

func isTrue(value string) bool { on, err := strconv.ParseBool(value); return err == nil && on }

func above(limit int) func(string) bool {
	return func(value string) bool { n, err := strconv.Atoi(value); return err == nil && n > limit }
}

const paramtable = "pkg/util/paramtable"

// oneWayFormats returns the doors, the oldest first.
func oneWayFormats() []oneWayFormat {
	v := func(major, minor, patch int) Version { return Version{release(major, minor), patch} }
	return []oneWayFormat{
		{
			first: v(2, 2, 0), what: "logs, indexes and load states under separate keys",
			source: "a real 2.2.16, and 2.1.0 after it",
		},
		{first: v(2, 4, 0), what: "deletes in segments of level 0", source: "release notes of 2.4"},
		{
			first: v(2, 6, 0), source: "pull request 50792, issue 50694",
			what: "a write-ahead log of streaming nodes, " +
				"and a session version that makes older coordinators refuse to start",
		},
		{
			first: v(2, 6, 0), keyRemoved: v(2, 6, 9), key: "common.storage.enableV2", usual: "true", enabledBy: isTrue,
			what: "segments in storage version 2", source: paramtable + " of 2.6.0 and 2.6.8",
		},
		{
			first: v(2, 6, 9), what: "segments in storage version 2, including existing ones",
			source: "pull request 46889, " + paramtable + " of 2.6.22",
			fix: check.Do("set dataCoord.compaction.storageVersion.enabled (default true) to false: " +
				"existing segments are then left alone"),
		},
		{
			first: v(3, 0, 0), key: "common.storage.useLoonFFI", usual: "false", enabledBy: isTrue,
			what: "segments in storage version 3", source: paramtable + " of 3.0.1",
		},
		{
			first: v(3, 0, 0), key: "dataCoord.index.storePathVersion", usual: "0", enabledBy: above(0),
			what: "index files under index_v1/", source: paramtable + " of 3.0.1, issue 51788",
		},
		{
			first: v(3, 0, 0), key: "dataCoord.targetVecIndexVersion", usual: "-1", enabledBy: above(9),
			what: "vector indexes of version 10", source: paramtable + " of 3.0.1",
		},
		{
			first: v(3, 0, 0), key: "dataCoord.targetScalarIndexVersion", usual: "-1", enabledBy: above(3),
			what: "scalar indexes of version 4", source: "pkg/common of 3.0.1",
		},
	}
}

var irreversible = rule{
	forward: true, back: true,
	Check: check.Check{
		ID:       "upgrade-one-way",
		Title:    "The upgrade cannot be rolled back",
		Severity: check.Warning,
		Parts:    model.PartConfig,
		Doc: `Finds formats that the old version cannot read. Always written by:

- 2.2: logs, indexes and load states under separate keys (a real 2.2.16 and 2.1.0).
- 2.4: deletes in segments of level 0.
- 2.6: a write-ahead log, and a session version that makes older coordinators refuse to start (Milvus pull request
  50792).
- 2.6.9: storage version 2 (Milvus pull request 46889 removed ` + "`common.storage.enableV2`" + `), also of existing
  segments unless ` + "`dataCoord.compaction.storageVersion.enabled`" + ` is false.

Enabled by settings (pkg/util/paramtable of 3.0.1, Milvus issue 51788): ` + "`common.storage.enableV2`" + ` (2.6.0 to
2.6.8, default true); in 3.0 ` + "`common.storage.useLoonFFI`" + `, ` + "`dataCoord.index.storePathVersion`" + ` 1,
` + "`dataCoord.targetVecIndexVersion`" + ` from 10, ` + "`dataCoord.targetScalarIndexVersion`" + ` from 4.

Rollback: only settings; ` + "`upgrade-logs`" + `, ` + "`upgrade-index-versions`" + ` and ` + "`upgrade-keys`" +
			` check the
records.`,
		Remedy: `Save a snapshot of etcd and a backup of the storage before the upgrade. Leave these settings off
until you are sure to keep the new version.`,
	},
	run: runIrreversible,
}

func runIrreversible(p *check.Pass, plan Plan) {
	noteMissingConfig(p)
	older, newer := plan.From, plan.To
	if plan.Back {
		older, newer = plan.To, plan.From
	}
	var by []oneWayFormat
	for _, d := range oneWayFormats() {
		switch {
		case !older.Release.Before(d.first.Release) || newer.Before(d.first) ||
			d.keyRemoved.Known() && !newer.Before(d.keyRemoved):
		case d.key != "":
			reportOneWayFormat(p, &d, older, newer)
		case !plan.Back:
			by = append(by, d)
		}
	}
	if len(by) == 0 {
		return
	}
	f := check.Finding{
		Severity: check.Warning, Impact: "A rollback is possible only with backups from before the upgrade.",
		Fix: check.Fix(check.Do("save a snapshot of etcd and a backup of the storage before the upgrade: " +
			"a rollback needs them")),
	}
	var what []string
	for _, d := range by {
		what = append(what, d.what)
		f.Evidence = append(f.Evidence, check.Fact("since "+d.first.since(), d.what, d.source))
		f.Fix = append(f.Fix, check.Fix(d.fix)...)
	}
	f.Message = fmt.Sprintf("%s always writes formats that %s cannot read: %s", newer, older, strings.Join(what, "; "))
	p.Report(f)
}

// reportOneWayFormat reports a door that a setting enables.
func reportOneWayFormat(p *check.Pass, d *oneWayFormat, older, newer Version) {
	set, ok := p.Cluster.Setting(d.key, facts.DataCoords()...)
	if !ok {
		set = model.Setting{Value: d.usual, From: "default in " + newer.Release.String()}
	}
	if !d.enabledBy(set.Value) {
		return
	}
	object := model.Ref{Resource: "config", ID: d.key, Name: d.key}
	if e := model.DynamicEntry(p.Config, d.key); e != nil {
		object.ID, object.Name = e.Name, e.Name
	}
	p.Report(check.Finding{
		Severity: check.Warning, Object: object,
		Message: fmt.Sprintf("%s is %s: it enables %s, which %s cannot read", d.key, set.Value, d.what, older),
		Evidence: []check.Evidence{
			check.Fact(d.key, set.Value, set.From),
			check.Fact("first version that reads it", d.first.since(), d.source),
		},
		Impact: "A rollback is possible only with backups from before the upgrade.",
		Fix: check.Fix(check.Do("set %s to %s until you are sure to keep the new version", d.key,
			d.disabledValue())),
	})
}

// disabledValue returns a value of the setting that disables the format.
func (d *oneWayFormat) disabledValue() string {
	candidates := []string{d.usual, "false"}
	return candidates[max(slices.IndexFunc(candidates, func(s string) bool { return !d.enabledBy(s) }), 0)]
}
