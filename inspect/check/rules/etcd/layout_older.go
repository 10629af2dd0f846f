package etcd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// partsOfLayout is what tells which versions have written the metadata.
const partsOfLayout = model.PartObjects | model.PartIndexes | model.PartServing | model.PartSessions | model.PartSegments | model.PartLogs | model.PartSegmentIndexes | model.PartRest

// layoutOlder finds metadata that an older version wrote and the one that runs does not read.
var layoutOlder = &check.Check{
	ID:       "layout-older",
	Title:    "Metadata of an older Milvus is not read by the version that runs",
	Severity: check.Error,
	Since:    "0.3",
	Parts:    partsOfLayout,
	Doc: `Looks for keys that only Milvus 2.1 and older wrote (indexes under ` + "`root-coord/index`, `root-coord/segment-index` and `indexes`" + `, load states under ` + "`queryCoord-*`" + `, collections with their
fields inside) while 2.2 or later runs. 2.2 moved all of them and does not look for the old ones; the migration tool (meta-migration) rewrites and removes them.

An error if index definitions or load states of 2.1 exist, the collections they are of too, and nothing of the newer kinds: they were lost in the upgrade, and nobody has made them again. Captured with 2.2.16 on the data of 2.1.0, without the tool: collections and
rows were there, all indexes gone, nothing loaded, ` + "`/healthz`" + ` OK. Otherwise the old keys are leftovers: information, with how many collections from before the upgrade have no index.

Collections that keep their fields inside are read by every later version (fieldVersionAfter210 of RootCoord's catalog), and cost nothing.

Collections that are kept as 2.2.0 to 2.2.8 did, without a database, are read by later versions: no finding. Milvus issues 19708, 20324, 37614.`,
	Remedy: `Save a snapshot of etcd as it is (` + "`etcdctl snapshot save FILE`" + `). Stop Milvus, restore the metadata from before the upgrade, run the migration tool of Milvus 2.2, and upgrade again. If the new version has been written to, it is easier to create
the indexes again and to load the collections.`,
	Run: runLayoutOlder,
}

func runLayoutOlder(p *check.Pass) error {
	if facts.IsLegacy(p.Cluster) {
		return nil
	}
	kinds := p.KeysByKind
	indexes, loads := kinds["index-2.1"]+kinds["segment-index-2.1"]+kinds["index-meta-2.1"], kinds["collection-load-2.1"]
	old := int64(0)
	f := check.Finding{}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if strings.HasSuffix(kind, "-2.1") && kinds[kind] > 0 {
			old += kinds[kind]
			f.Evidence = append(f.Evidence, check.Count("keys of kind "+kind, kinds[kind], "etcd"))
		}
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
		return nil // collections alone are no trouble: what 2.2 rewrites of them it reads
	}
	f.Objects = f.Objects[:min(len(f.Objects), facts.MaxObjects)]
	runs := "Milvus " + p.Version.Text
	f.Message = fmt.Sprintf("%s of Milvus 2.1 %s left over, and %s does not read that", words.Plural(old, "key"), words.Agree(old, "is", "are"), runs)
	f.Impact = "None for queries, as long as everything was migrated; the keys are never removed."
	f.Hint = "nothing has to be done if indexes and loaded collections are as they should be: kitescope get indexes, kitescope get load-states"
	var lost []string
	if indexes > 0 && kinds["index"] == 0 && bare > 0 {
		lost = append(lost, words.Plural(kinds["index-2.1"], "index definition"))
	}
	if loads > 0 && kinds["collection-load"] == 0 && kinds["index"] == 0 && inline > 0 {
		lost = append(lost, "the load states of "+words.Plural(loads, "collection"))
	}
	if bare > 0 && len(lost) == 0 && indexes > 0 {
		f.Message += fmt.Sprintf("; %s of %d from before the upgrade %s no index", words.Number(bare), inline, words.Agree(bare, "has", "have"))
	}
	if len(lost) > 0 {
		f.Severity, f.Cost = check.Error, 1
		f.Message = fmt.Sprintf("%s runs on metadata of 2.1 that was not migrated: it does not see %s", runs, words.Few(lost))
		f.Impact = "Collections have no indexes, are not loaded, and cannot be searched, while the cluster says that it is well."
		f.Hint = "save a snapshot of etcd before anything else; then stop Milvus, restore the metadata of 2.1, run the meta-migration tool of 2.2, and upgrade; or create the indexes again and load the collections"
	}
	f.Evidence = append(f.Evidence, check.Fact("version that runs", p.Version.Text, p.Version.From), check.Count("collections in the layout of 2.1", inline, "etcd"),
		check.Count("index definitions it reads", kinds["index"], "etcd"), check.Count("load states it reads", kinds["collection-load"], "etcd"))
	for _, note := range p.Version.Notes {
		f.Evidence = append(f.Evidence, check.Fact("note", note, "etcd"))
	}
	p.Report(f)
	return nil
}
