package preflight

import (
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// layoutParts are the parts of the metadata that show which version wrote the records.
const layoutParts = model.PartObjects | model.PartIndexes | model.PartServing | model.PartSessions |
	model.PartSegments | model.PartLogs | model.PartSegmentIndexes | model.PartRest

var lostRecords = rule{
	forward: true,
	Check: check.Check{
		ID:       "upgrade-records",
		Title:    "The new version does not read records of the old one",
		Severity: check.Error,
		Parts:    layoutParts,
		Doc: `Counts records that Milvus 2.1 and older keep under keys that 2.2 and later do not read: index
definitions, the indexes of segments, and which collections are loaded (docs/reference of Milvus's metadata;
RootCoord's catalog of 2.2). Seen with 2.2.16 on the data of 2.1.0, without the migration tool: all collections and
rows were there, all indexes gone, nothing was loaded, and health checks passed.`,
		Remedy: `Stop Milvus and run the migration tool (meta-migration) before the first start of the new version.`,
	},
	run: runLostRecords,
}

func runLostRecords(p *check.Pass, plan Plan) {
	if !plan.crosses(release(2, 2)) {
		return
	}
	keys, total := facts.OldKeys(p.Cluster)
	if total == 0 {
		return
	}
	f := check.Finding{Severity: check.Error}
	for _, k := range keys {
		f.Evidence = append(f.Evidence, check.Count("keys of kind "+k.Kind, k.Count, "etcd"))
	}
	indexed, loaded := map[model.CollectionID]bool{}, map[model.CollectionID]bool{}
	for _, x := range p.Indexes {
		if !x.Deleted {
			indexed[x.Collection] = true
		}
	}
	for _, l := range p.LoadStates {
		loaded[l.Collection] = true
	}
	for _, x := range p.Collections {
		if !x.Dropped() && (indexed[x.ID] || loaded[x.ID]) && len(f.Objects) < facts.MaxObjects {
			f.Objects = append(f.Objects, facts.RefCollection(p.Cluster, x.ID))
		}
	}
	next := plan.next().To.String()
	f.Message = fmt.Sprintf("%s does not read %s of Milvus 2.1: "+
		"the indexes of %s and the load states of %s would be lost", next,
		words.Plural(total, "key"), words.Plural(len(indexed), "collection"), words.Plural(len(loaded), "collection"))
	f.Impact = "Collections have no indexes, are not loaded and cannot be searched, although health checks pass."
	f.Cost = 1
	f.Fix = check.Fix(
		check.Do("save a snapshot of etcd, and stop Milvus"),
		check.Do("run the migration tool of Milvus 2.2 (meta-migration) on the metadata"),
		check.Do("start %s", next),
		check.Shell(check.Kitescope("get indexes")).Does("lists the indexes that it reads: none should be missing"),
	)
	p.Report(f)
}

var rewritten = rule{
	back: true,
	Check: check.Check{
		ID:       "upgrade-logs",
		Title:    "The old version cannot read rewritten segments",
		Severity: check.Error,
		Parts:    layoutParts,
		Doc: `Finds segments whose data the old version cannot read:

- below 2.2: logs only under separate keys. Seen: 2.2.16 rewrote a segment of 2.1.0 within 15 seconds; back on 2.1.0
  its collection counted as loaded, and searches failed or found nothing.
- below 2.4: level 0 (deletes), which 2.3 ignores: deleted rows come back.
- below 2.6: storage version 2 (several columns in a file, ` + "`common.storage.enableV2`" + `).
- below 3.0: storage version 3 (a manifest, ` + "`common.storage.useLoonFFI`" + `; pkg/util/paramtable of 3.0).
- below 3.0: a commit timestamp, which imports and replication set for all rows until compaction (Milvus pull request
  48472). Without it, earlier deletes apply, and rows may expire at once.`,
		Remedy: `Stay with the new version, or restore etcd and storage from before the upgrade.`,
	},
	run: runRewritten,
}

// segmentFormat is a format of segments that a release introduced.
type segmentFormat struct {
	first  facts.Release
	what   string
	has    func(*model.Segment) bool
	impact string
	fix    check.Step // step that removes the format, if there is one
}

func segmentFormats() []segmentFormat {
	details := func(has func(*model.SegmentDetails) bool) func(*model.Segment) bool {
		return func(s *model.Segment) bool { return s.Details != nil && has(s.Details) }
	}
	manifest := details(func(d *model.SegmentDetails) bool { return d.ManifestPath != "" })
	const unread = "Searches of the collection fail, or miss these rows."
	return []segmentFormat{
		{first: release(2, 2), what: "logs only under separate keys", has: facts.HasSeparateLogs, impact: unread},
		{
			first: release(2, 4), what: "level 0", has: func(s *model.Segment) bool { return s.Level == model.LevelL0 },
			impact: "Searches return deleted rows again.",
			fix:    check.Do("let the new version compact the segments of level 0 until none are left"),
		},
		{
			first: release(2, 6), what: "storage version 2",
			has: func(s *model.Segment) bool { return s.StorageVersion == 2 }, impact: unread,
		},
		{
			first: release(3, 0), what: "storage version 3",
			has: func(s *model.Segment) bool { return s.StorageVersion >= 3 || manifest(s) }, impact: unread,
		},
		{
			first: release(3, 0), what: "a commit timestamp",
			has:    details(func(d *model.SegmentDetails) bool { return d.CommitAt != 0 }),
			impact: "Deletes from before the commit apply to these rows, and they may expire at once.",
			fix: check.Do("let the new version compact these segments: " +
				"this writes the commit timestamp into the rows"),
		},
	}
}

func runRewritten(p *check.Pass, plan Plan) {
	for _, x := range p.Collections {
		if !x.Dropped() {
			judgeFormats(p, plan, x)
		}
	}
}

// judgeFormats reports the segments of a collection that the old version does not read, as one finding for all
// formats.
func judgeFormats(p *check.Pass, plan Plan, x *model.Collection) {
	f := check.Finding{Severity: check.Error, Object: facts.RefCollection(p.Cluster, x.ID)}
	var found []segmentFormat
	var what, impacts []string
	for _, form := range segmentFormats() {
		if !plan.loses(Version{form.first, 0}) {
			continue
		}
		n := p.CountSegments(x.ID, form.has)
		if n.Segments == 0 {
			continue
		}
		found, what = append(found, form), append(what, form.what)
		if !slices.Contains(impacts, form.impact) {
			impacts = append(impacts, form.impact)
		}
		f.Evidence = append(f.Evidence,
			check.Count("segments with "+form.what, n.Segments, "etcd"), check.Count("rows in them", n.Rows, "etcd"))
		f.Fix = append(f.Fix, check.Fix(form.fix)...)
	}
	if len(found) == 0 {
		return
	}
	all := p.CountSegments(x.ID, func(s *model.Segment) bool {
		return slices.ContainsFunc(found, func(form segmentFormat) bool { return form.has(s) })
	})
	f.Objects, f.Cost, f.Impact = all.Objects, facts.Ratio(all.Rows, p.Totals().Rows), strings.Join(impacts, " ")
	f.Message = fmt.Sprintf("%s of %s, %s rows, %s %s: %s cannot read %s", words.Plural(all.Segments, "segment"),
		facts.CollectionLabel(p.Cluster, x.ID), words.Number(all.Rows),
		words.Agree(all.Segments, "has", "have"), words.List("and", what...), plan.To,
		words.Agree(all.Segments, "it", "them"))
	f.Fix = append(f.Fix,
		check.Do("stay with %s, which reads them", plan.From.String()),
		check.Do("or restore etcd and storage from before the upgrade: later writes are lost"),
	)
	p.Report(f)
}
