package etcd

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// layoutRollback finds metadata that a newer version wrote and the one that runs cannot read.
var layoutRollback = &check.Check{
	ID:       "layout-rollback",
	Title:    "A newer Milvus has written metadata that the one that runs cannot read",
	Severity: check.Error,
	Since:    "0.3",
	Parts:    partsOfLayout,
	Doc: `Looks for what a newer version leaves behind when an older one runs again.

- Milvus 2.1 runs, and segments have their logs only under keys of their own (` + "`datacoord-meta/binlog/...`" + `), as 2.2 and later write them: 2.1 reads the logs inside the segment's record, which
  are gone. An error for each collection. Captured: 2.2.16 ran for 15 seconds on the data of 2.1.0 and rewrote one segment; afterwards 2.1.0 said the collection was loaded and complete, and every
  search of it failed or found nothing.
- Milvus 2.2 or 2.3 runs, and there are L0 segments: it does not know them, and rows that were deleted come back. An error for each collection.
- Keys exist that only a version newer than any that runs writes. A warning, once for the cluster.

Versions are those of the sessions, the newest of them while an upgrade is under way; of 2.1, whose sessions carry none, it is the layout of the keys that tells. ` + "`index-too-new`" + ` looks
at index files. Targets of collections (` + "`queryCoord-Collection-Target`" + `) tell nothing: 2.3.13 writes them as well.`,
	Remedy: `Save a snapshot of etcd as it is (` + "`etcdctl snapshot save FILE`" + `). Go back to the newer version, which reads what it wrote, or restore the metadata that was backed up before the upgrade. Milvus supports no rollback over a change of the metadata.`,
	Run:    runLayoutRollback,
}

// newerKinds are kinds of keys and the version that first wrote them; the newest first.
func newerKinds() []struct {
	release facts.Release
	kinds   []string
} {
	return []struct {
		release facts.Release
		kinds   []string
	}{
		{facts.Release{Major: 3, Minor: 0}, []string{"snapshot", "query-view", "wal-query-view", "wal-salvage-checkpoint", "predicate-deltalog"}},
		{facts.Release{Major: 2, Minor: 6}, []string{"streaming-version", "control-channel", "pchannel", "broadcast-task", "wal-checkpoint", "wal-vchannel", "wal-segment", "struct-array-field"}},
		{facts.Release{Major: 2, Minor: 5}, []string{"stats-task", "bm25log", "function", "privilege-group"}},
		{facts.Release{Major: 2, Minor: 4}, []string{"import-job", "preimport-task", "import-task", "compaction-task", "analyze-task", "partition-stats", "partition-stats-version"}},
		{facts.Release{Major: 2, Minor: 2}, []string{"binlog", "deltalog", "statslog", "index", "segment-index", "collection-load", "channel-checkpoint", "resource-group", "replica", "field", "partition", "database"}},
	}
}

func runLayoutRollback(p *check.Pass) error {
	runs := facts.NewestRelease(p.Cluster)
	if !runs.Known() {
		return p.Skip("the version that runs is unknown")
	}
	for _, x := range p.Collections {
		if x.Dropped() {
			continue
		}
		switch {
		case facts.IsLegacy(p.Cluster):
			judgeRewritten(p, x)
		case runs.Before(facts.Release{Major: 2, Minor: 4}):
			judgeForeignLevel(p, x)
		}
	}
	judgeNewerKeys(p, runs)
	return nil
}

// judgeRewritten looks for segments whose logs are only where 2.1 does not look.
func judgeRewritten(p *check.Pass, x *model.Collection) {
	f := check.Finding{Severity: check.Error, Object: facts.RefCollection(p.Cluster, x.ID)}
	segments, rows := 0, int64(0)
	for _, s := range p.SegmentsOf(x.ID) {
		if !s.LogKeys || s.TwoLayouts || !s.State.Healthy() {
			continue
		}
		segments, rows = segments+1, rows+s.Rows
		if len(f.Objects) < facts.MaxObjects {
			f.Objects = append(f.Objects, facts.RefSegment(s.ID))
		}
	}
	if segments == 0 {
		return
	}
	f.Message = fmt.Sprintf("%s of %s, %s rows, %s rewritten by a newer Milvus: the one that runs (%s) sees no data there",
		words.Plural(segments, "segment"), facts.CollectionLabel(p.Cluster, x.ID), words.Number(rows), words.Agree(segments, "was", "were"), p.Version.Text)
	f.Evidence = []check.Evidence{
		check.Count("segments with logs under keys of their own only", segments, "etcd"),
		check.Count("their rows", rows, "etcd"),
		check.Count("rows of the collection", p.CollectionTotals(x.ID).Rows, "etcd"),
		check.Fact("version that runs", p.Version.Text, p.Version.From),
	}
	f.Impact = "Searches of the collection fail or miss these rows, though it counts as loaded."
	f.Hint = "run the newer version again, or restore the metadata of before the upgrade (what was written since is lost then); release and load do not help"
	f.Cost = facts.Part(rows, p.Totals().Rows)
	p.Report(f)
}

// judgeForeignLevel looks for segments of levels that the version does not know.
func judgeForeignLevel(p *check.Pass, x *model.Collection) {
	f := check.Finding{Severity: check.Error, Object: facts.RefCollection(p.Cluster, x.ID)}
	segments, deletes := 0, int64(0)
	for _, s := range p.Among(x.ID, facts.LevelZeroSegs) {
		segments, deletes = segments+1, deletes+s.DeletedRows
		if len(f.Objects) < facts.MaxObjects {
			f.Objects = append(f.Objects, facts.RefSegment(s.ID))
		}
	}
	if segments == 0 {
		return
	}
	f.Message = fmt.Sprintf("%s of %s %s %s deletes that Milvus %s does not know how to read", words.Plural(segments, "L0 segment"), facts.CollectionLabel(p.Cluster, x.ID), words.Agree(segments, "holds", "hold"), words.Number(deletes), p.Version.Text)
	f.Evidence = []check.Evidence{check.Count("L0 segments", segments, "etcd"), check.Count("their deletes", deletes, "etcd"), check.Fact("version that runs", p.Version.Text, p.Version.From)}
	f.Impact = "Rows that were deleted are found again."
	f.Hint = "run Milvus 2.4 or later again, and let it compact the L0 segments before going back"
	p.Report(f)
}

// judgeNewerKeys looks for kinds of keys that the version does not write yet.
func judgeNewerKeys(p *check.Pass, runs facts.Release) {
	f := check.Finding{Severity: check.Warning}
	newest, keys := facts.Release{}, int64(0)
	for _, n := range newerKinds() {
		if !runs.Before(n.release) {
			continue
		}
		for _, kind := range n.kinds {
			count := p.KeysByKind[kind]
			if count == 0 {
				continue
			}
			if !newest.Known() {
				newest = n.release
			}
			keys += count
			f.Evidence = append(f.Evidence, check.Count("keys of kind "+kind, count, "etcd"))
		}
	}
	if keys == 0 {
		return
	}
	f.Message = fmt.Sprintf("%s of Milvus %s or later %s, and %s runs: a newer version has been here", words.Plural(keys, "key"), newest, words.Agree(keys, "exists", "exist"), p.Version.Text)
	f.Evidence = append(f.Evidence, check.Fact("version that runs", p.Version.Text, p.Version.From))
	for _, note := range p.Version.Notes {
		f.Evidence = append(f.Evidence, check.Fact("note", note, "etcd"))
	}
	f.Impact = "What the newer version changed is not seen, or not understood, by the one that runs."
	f.Hint = "run the newer version again, or restore the metadata of before the upgrade (what was written since is lost then)"
	p.Report(f)
}
