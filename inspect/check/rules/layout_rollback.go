package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// layoutRollback reports metadata of a newer version that the running one cannot read.
var layoutRollback = &check.Check{
	ID:       "layout-rollback",
	Title:    "A newer Milvus wrote metadata that the running one cannot read",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.AfterUpgrade},
	Starts:   "node_joined:rootcoord node_joined:datacoord node_joined:querycoord | node_joined",
	Parts:    partsOfLayout,
	Doc: `After a rollback a collection is fully loaded, and every search fails or finds nothing. The check looks for
records of a newer version while an older one runs.

- Milvus 2.1 runs, and segments have their logs only under separate keys (` + "`datacoord-meta/binlog/...`" + `), as 2.2
  and later write them. 2.1 reads the logs inside the segment's record, and those are gone. Error for each collection.
  Captured: 2.2.16 ran for 15 seconds on the data of 2.1.0 and rewrote one segment.
- Milvus 2.2 or 2.3 runs, and there are L0 segments: it ignores them, and deleted rows come back. Error for each
  collection.
- Keys exist that only versions newer than any running one write. One warning for the cluster.

The running version is that of the sessions, the newest during an upgrade. Sessions of 2.1 have none: the layout of
the keys shows it. ` + "`index-too-new`" + ` checks index files. Targets of collections
(` + "`queryCoord-Collection-Target`" + `) prove nothing: 2.3.13 writes them as well.`,
	Remedy: `Save a snapshot of etcd first (` + "`etcdctl snapshot save FILE`" + `). Run the newer version again, which
reads its own records, or restore the metadata backup from before the upgrade. Milvus does not support rolling back
across a change of the metadata.`,
	Run: runLayoutRollback,
}

func runLayoutRollback(p *check.Pass) {
	runs := facts.NewestRelease(p.Cluster)
	if !runs.Known() {
		p.Skip("the running version is unknown")
		return
	}
	for _, x := range p.Existing() {
		switch {
		case facts.IsLegacy(p.Cluster):
			judgeRewritten(p, x)
		case runs.Before(facts.Release{Major: 2, Minor: 4}):
			judgeForeignLevel(p, x)
		}
	}
	judgeNewerKeys(p, runs)
}

// judgeRewritten reports segments whose logs exist only under separate keys, which 2.1 does not read.
func judgeRewritten(p *check.Pass, x *model.Collection) {
	found := p.CountSegments(x.ID, facts.HasSeparateLogs)
	segments, rows := found.Segments, found.Rows
	if segments == 0 {
		return
	}
	f := check.Finding{Severity: check.Error, Object: facts.RefCollection(p.Cluster, x.ID), Objects: found.Objects}
	f.Message = fmt.Sprintf("%s of %s, %s rows, %s rewritten by a newer Milvus: the running %s finds no data in %s",
		words.Plural(segments, "segment"), facts.CollectionLabel(p.Cluster, x.ID), words.Number(rows),
		words.Agree(segments, "was", "were"), p.Version.Text, words.Agree(segments, "it", "them"))
	f.Evidence = []check.Evidence{
		check.Count("segments with logs only under separate keys", segments, "etcd"),
		check.Count("rows in them", rows, "etcd"),
		check.Count("rows of the collection", p.CollectionTotals(x.ID).Rows, "etcd"),
		check.Fact("running version", p.Version.Text, p.Version.From),
	}
	f.Impact = "Searches of the collection fail or miss these rows, although it is reported as loaded."
	f.Fix = backToNewer(p, facts.Release{Major: 2, Minor: 2})
	f.Cost = facts.Ratio(rows, p.Totals().Rows)
	p.Report(f)
}

// judgeForeignLevel reports L0 segments, a level that the running version does not support.
func judgeForeignLevel(p *check.Pass, x *model.Collection) {
	f := check.Finding{Severity: check.Error, Object: facts.RefCollection(p.Cluster, x.ID)}
	segments, deletes := 0, int64(0)
	for _, s := range p.SegmentsIn(x.ID, facts.LevelZeroSegs) {
		segments, deletes = segments+1, deletes+s.DeletedRows
		if len(f.Objects) < facts.MaxObjects {
			f.Objects = append(f.Objects, facts.RefSegment(s.ID))
		}
	}
	if segments == 0 {
		return
	}
	f.Message = fmt.Sprintf("%s of %s %s %s deletes that Milvus %s cannot read", words.Plural(segments, "L0 segment"),
		facts.CollectionLabel(p.Cluster, x.ID), words.Agree(segments, "holds", "hold"), words.Number(deletes),
		p.Version.Text)
	f.Evidence = []check.Evidence{
		check.Count("L0 segments", segments, "etcd"), check.Count("deletes in them", deletes, "etcd"),
		check.Fact("running version", p.Version.Text, p.Version.From),
	}
	f.Impact = "Searches return deleted rows again."
	f.Fix = check.Fix(
		check.Shell(check.Kitescope("get segments level=L0").Arg("collection_id="+x.ID.String())).
			Does("lists the L0 segments: none may be left before a rollback"),
		check.Do("run Milvus 2.4 or later again and let it compact them, then roll back").
			Interrupting(0, "all requests while it is stopped"),
	)
	p.Report(f)
}

// judgeNewerKeys reports kinds of keys that only versions newer than the running one write.
func judgeNewerKeys(p *check.Pass, runs facts.Release) {
	f := check.Finding{Severity: check.Warning}
	newest, keys := facts.Release{}, int64(0)
	for _, n := range facts.KindsByRelease() {
		if !runs.Before(n.Release) {
			continue
		}
		for _, kind := range n.Kinds {
			count := p.KeysByKind[kind]
			if count == 0 {
				continue
			}
			if !newest.Known() {
				newest = n.Release
			}
			keys += count
			f.Evidence = append(f.Evidence, check.Count("keys of kind "+kind, count, "etcd"))
		}
	}
	if keys == 0 {
		return
	}
	f.Message = fmt.Sprintf("%s of Milvus %s or later %s, but %s is running: a newer version ran here before",
		words.Plural(keys, "key"), newest, words.Agree(keys, "exists", "exist"), p.Version.Text)
	f.Evidence = append(f.Evidence, check.Fact("running version", p.Version.Text, p.Version.From))
	f.Evidence = append(f.Evidence, versionNotes(p)...)
	f.Impact = "The running version ignores or misreads what the newer one changed."
	f.Fix = backToNewer(p, newest)
	p.Report(f)
}

// backToNewer returns the fix if a version of at least the given release has written the metadata.
func backToNewer(p *check.Pass, newer facts.Release) []check.Step {
	return check.Fix(
		snapshotFirst(p),
		check.Do("run Milvus %s or later again: it reads its own records; releasing and loading does not help", newer).
			Interrupting(5*time.Minute, "all requests while it is stopped"),
		check.Do("or stop Milvus and restore the metadata backup from before the upgrade: whatever was written since "+
			"is lost").
			Interrupting(0, "all requests while it is stopped"),
	)
}
