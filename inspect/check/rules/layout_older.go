package rules

import (
	"fmt"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// partsOfLayout is the metadata that shows which versions have written it.
const partsOfLayout = model.PartObjects | model.PartIndexes | model.PartServing | model.PartSessions |
	model.PartSegments | model.PartLogs | model.PartSegmentIndexes | model.PartRest

// layoutOlder reports metadata of an older version that the running one does not read.
var layoutOlder = &check.Check{
	ID:       "layout-older",
	Title:    "The running Milvus ignores metadata of an older version",
	Severity: check.Error,
	Symptoms: []string{check.LoadsHang, check.AfterUpgrade},
	Starts:   "node_joined:rootcoord node_joined:datacoord node_joined:querycoord | node_joined",
	Parts:    partsOfLayout,
	Doc: `An upgrade from 2.1 lost all indexes and load states. The check looks for keys that only 2.1 and older wrote
while 2.2 or later runs: indexes under ` + "`root-coord/index`" + `, ` + "`root-coord/segment-index`" + ` and
` + "`indexes`" + `, load states under ` + "`queryCoord-*`" +
		`, and collections with their fields inside. 2.2 moved them
and does not read the old ones. The migration tool (meta-migration) rewrites and removes them.

Error if index definitions or load states of 2.1 exist for existing collections, there are none in the new layout, and
they have not been recreated. Captured with 2.2.16 on the data of 2.1.0, without the tool: collections and rows were
there, all indexes gone, nothing loaded, ` + "`/healthz`" + ` OK. Otherwise the old keys are leftovers: info, with the
number of collections from before the upgrade without an index.

Collections with their fields inside are read by every later version (fieldVersionAfter210 of RootCoord's catalog) and
cost nothing.

Not reported: collections without a database, as 2.2.0 to 2.2.8 kept them, because later versions read them. Milvus
issues 19708, 20324, 37614.`,
	Remedy: `Save a snapshot of etcd first (` + "`etcdctl snapshot save FILE`" + `). Stop Milvus, restore the metadata
from before the upgrade, run the migration tool of Milvus 2.2, and upgrade again. If the new version has already been
written to, it is easier to recreate the indexes and load the collections.`,
	Run: runLayoutOlder,
}

func runLayoutOlder(p *check.Pass) {
	if facts.IsLegacy(p.Cluster) {
		return
	}
	kinds := p.KeysByKind
	indexes, loads := kinds["index-2.1"]+kinds["segment-index-2.1"]+kinds["index-meta-2.1"],
		kinds["collection-load-2.1"]
	keys, old := facts.OldKeys(p.Cluster)
	f := check.Finding{}
	for _, k := range keys {
		f.Evidence = append(f.Evidence, check.Count("keys of kind "+k.Kind, k.Count, "etcd"))
	}
	inline, bare := 0, 0
	for _, x := range p.Collections {
		if x.Layout != "2.1" || x.Dropped() {
			continue
		}
		inline++
		f.Objects = append(f.Objects, facts.RefCollection(p.Cluster, x.ID))
		if !slices.ContainsFunc(p.IndexesOf(x.ID), func(i *model.Index) bool { return !i.Deleted }) {
			bare++
		}
	}
	if old == 0 {
		return // collections alone need no action: Milvus 2.2 and later read them
	}
	f.Objects = f.Objects[:min(len(f.Objects), facts.MaxObjects)]
	runs := "Milvus " + p.Version.Text
	f.Message = fmt.Sprintf("%s of Milvus 2.1 %s left over, ignored by %s", words.Plural(old, "key"),
		words.Agree(old, "is", "are"), runs)
	f.Impact = "None for queries if everything was migrated. The keys are never removed."
	f.Fix = check.Fix(
		check.Shell(check.Kitescope("get indexes")).Does("no action is needed if it lists every index there should be"),
		check.Shell(check.Kitescope("get load-states")).
			Does("and if this lists every collection that should be loaded"),
	)
	var lost []string
	if indexes > 0 && kinds["index"] == 0 && bare > 0 {
		lost = append(lost, words.Plural(kinds["index-2.1"], "index definition"))
	}
	if loads > 0 && kinds["collection-load"] == 0 && kinds["index"] == 0 && inline > 0 {
		lost = append(lost, "the load states of "+words.Plural(loads, "collection"))
	}
	if bare > 0 && len(lost) == 0 && indexes > 0 {
		f.Message += fmt.Sprintf("; %s of %d collections from before the upgrade %s no index", words.Number(bare),
			inline, words.Agree(bare, "has", "have"))
	}
	if len(lost) > 0 {
		f.Severity, f.Cost = check.Error, 1
		f.Message = fmt.Sprintf("%s runs on unmigrated metadata of 2.1 and does not see %s", runs,
			words.Summarize(lost))
		f.Impact = "Collections have no indexes, are not loaded and cannot be searched, although health checks pass."
		f.Fix = check.Fix(
			snapshotFirst(p),
			check.Do("if nothing was written since the upgrade: stop Milvus, restore the metadata of 2.1, run the "+
				"meta-migration tool of 2.2, and upgrade again").
				Interrupting(0, "all requests while it is stopped"),
			check.Do("else create the indexes again and load the collections").
				Interrupting(0, "searches of them until they are loaded"),
		)
	}
	f.Evidence = append(f.Evidence, check.Fact("running version", p.Version.Text, p.Version.From),
		check.Count("collections in the 2.1 layout", inline, "etcd"),
		check.Count("index definitions in the new layout", kinds["index"], "etcd"),
		check.Count("load states in the new layout", kinds["collection-load"], "etcd"))
	f.Evidence = append(f.Evidence, versionNotes(p)...)
	p.Report(f)
}

// versionNotes returns the notes about the running version as evidence.
func versionNotes(p *check.Pass) []check.Evidence {
	var list []check.Evidence
	for _, note := range p.Version.Notes {
		list = append(list, check.Fact("note", note, "etcd"))
	}
	return list
}
