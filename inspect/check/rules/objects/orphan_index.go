package objects

import (
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// orphanIndex finds index records that belong to nothing.
var orphanIndex = &check.Check{
	ID:       "orphan-index",
	Title:    "Index records belong to a segment or definition that is gone",
	Severity: check.Info,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartIndexes | model.PartSegments | model.PartSegmentIndexes,
	Doc: `Looks for index records (` + "`segment-index/`" + `) of segments without a record, for records on living segments whose index definition does not exist, and for
definitions of collections that are gone and are not marked deleted. Information only.

Not counted: what is marked deleted, records on dropped segments, and those of collections that are being dropped: all of that waits for garbage collection. Milvus issue
49585 tells of a cluster where it did not keep up, with 4.5 million of them.`,
	Remedy: `None is needed for queries. If there are very many, look whether garbage collection runs: ` + "`dataCoord.enableGarbageCollection`" + `, "recycleUnusedSegIndexes" in DataCoord's log.`,
	Run:    runOrphanIndex,
}

func runOrphanIndex(p *check.Pass) error {
	if !p.Whole() {
		return nil
	}
	var records, onLiving, definitions int
	var objects []model.Ref
	note := func(ref model.Ref) {
		if len(objects) < facts.MaxObjects {
			objects = append(objects, ref)
		}
	}
	for _, s := range p.Orphans {
		if len(s.Indexes) > 0 && !s.Indexes[0].Legacy {
			records += len(s.Indexes)
			note(model.Ref{Resource: "orphans", ID: s.ID.String()})
		}
	}
	for _, x := range p.Collections {
		for _, s := range p.Among(x.ID, facts.StrayIndexSegs) {
			onLiving++
			note(facts.RefSegment(s.ID))
		}
	}
	for _, i := range p.Indexes {
		if p.Collection(i.Collection) == nil && !i.Deleted {
			definitions++
			note(facts.RefIndex(i))
		}
	}
	if records+onLiving+definitions == 0 {
		return nil
	}
	var parts []string
	for _, x := range []struct {
		n           int
		what, where string
	}{
		{records, "index record", "of segments that are gone"},
		{onLiving, "segment", "with index records of definitions that are gone"},
		{definitions, "index definition", "of collections that are gone"},
	} {
		if x.n > 0 {
			parts = append(parts, words.Plural(x.n, x.what)+" "+x.where)
		}
	}
	p.Report(check.Finding{
		Severity: check.Info, Objects: objects,
		Message: words.Few(parts) + words.Agree(records+onLiving+definitions, " is", " are") + " left over",
		Evidence: []check.Evidence{
			check.Count("records of segments that are gone", records, "etcd"),
			check.Count("living segments with records of definitions that are gone", onLiving, "etcd"),
			check.Count("definitions of collections that are gone", definitions, "etcd"),
		},
		Impact: "Storage and keys that nothing uses.",
		Hint:   "nothing has to be done for queries; see them: kitescope get orphans",
	})
	return nil
}
