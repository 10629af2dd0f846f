package rules

import (
	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// orphanIndex finds index records that belong to nothing.
var orphanIndex = &check.Check{
	ID:       "orphan-index",
	Title:    "Index records belong to a segment or definition that is gone",
	Severity: check.Info,
	Symptoms: []string{check.EtcdSlow, check.Leftovers},
	Starts:   "collection_dropped index_created | index_dropped",
	Parts:    model.PartObjects | model.PartIndexes | model.PartSegments | model.PartSegmentIndexes,
	Doc: `Looks for index records (` + "`segment-index/`" + `) of segments without a record, for records on existing segments whose index definition does not exist, and
for definitions of collections that are gone and not marked deleted. Info only.

Not counted: records marked deleted, on dropped segments, or of collections being dropped. They wait for garbage collection. In milvus issue 49585 it
did not keep up, with 4.5 million of them.`,
	Remedy: `No action needed for queries. If there are very many, check that garbage collection runs: ` + "`dataCoord.enableGarbageCollection`" + `,
"recycleUnusedSegIndexes" in DataCoord's log.`,
	Run:   runOrphanIndex,
	Whole: true,
}

func runOrphanIndex(p *check.Pass) {
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
		return
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
		Message: "left over: " + words.Few(parts),
		Evidence: []check.Evidence{
			check.Count("records of segments that are gone", records, "etcd"),
			check.Count("existing segments with records of definitions that are gone", onLiving, "etcd"),
			check.Count("definitions of collections that are gone", definitions, "etcd"),
		},
		Impact: "They take up storage and keys, and nothing uses them.",
		Fix: check.Fix(
			check.Shell(check.Kitescope("get orphans")).Does("lists those of segments that are gone; no action is needed for queries"),
			check.Do("if they keep growing in number, look for recycleUnusedSegIndexes in DataCoord's log"),
		),
	})
}
