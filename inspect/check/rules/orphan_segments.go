package rules

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// orphanBytes is from how much storage on orphans are a warning.
const orphanBytes = 1 << 30

// orphanSegments finds segments whose collection or partition is gone.
var orphanSegments = &check.Check{
	ID:       "orphan-segments",
	Title:    "Segments belong to a collection or partition that is gone",
	Severity: check.Warning,
	Symptoms: []string{check.EtcdSlow, check.StorageGrows, check.Leftovers},
	Starts:   "collection_dropped partition_dropped | segment_created",
	Parts:    model.PartObjects | model.PartSegments | model.PartLogs,
	Doc: `Looks for segments that are not dropped (growing, sealed, flushed, importing) and whose collection or partition has no record. Not a finding while the
collection is being dropped: its segments are dropped one at a time. Nor are dropped segments, which wait for garbage collection.

Info, and a warning from 1 GiB: garbage collection takes only dropped segments, so these stay forever. Milvus issues 19675 (2.1) and 45533 (2.6: a
compaction that ends during a drop).`,
	Remedy: `Make sure that the collection is really gone, not renamed or in another database. Then the records can be deleted by hand, a write to etcd that cannot
be undone: save a snapshot first (` + "`etcdctl snapshot save FILE`" + `), and stop Milvus. If they are small, leave them. kitescope only reads.`,
	Run:   runOrphanSegments,
	Whole: true,
}

// orphanGroup are the segments of one collection that is gone, or of the gone partitions of one that is not.
type orphanGroup struct {
	collection model.CollectionID
	segments   []model.SegmentID
	rows       int64
	bytes      int64
}

func runOrphanSegments(p *check.Pass) {
	var list []*orphanGroup
	for _, id := range p.SegmentOwners() {
		x := p.Collection(id)
		if x != nil && x.Dropped() {
			continue
		}
		g := &orphanGroup{collection: id}
		if x != nil {
			g.add(p.Among(id, facts.StrayPartitionSegs))
		} else {
			g.add(p.SegmentsOf(id))
		}
		if len(g.segments) > 0 {
			list = append(list, g)
		}
	}
	for _, g := range list {
		reportOrphans(p, g)
	}
}

// add adds the segments that are not dropped.
func (g *orphanGroup) add(list []*model.Segment) {
	for _, s := range list {
		if s.State.Healthy() {
			g.segments = append(g.segments, s.ID)
			g.rows, g.bytes = g.rows+s.Rows, g.bytes+s.Bytes
		}
	}
}

func reportOrphans(p *check.Pass, g *orphanGroup) {
	f := check.Finding{Severity: check.Info, Object: facts.RefSegment(g.segments[0])}
	where := "collection " + g.collection.String() + " (gone)"
	if x := p.Collection(g.collection); x != nil {
		f.Object = facts.RefCollection(p.Cluster, x.ID)
		where = "dropped partitions of " + facts.CollectionLabel(p.Cluster, x.ID)
	}
	f.Message = fmt.Sprintf("%s with %s rows %s to %s", words.Plural(len(g.segments), "segment"), words.Number(g.rows), words.Agree(len(g.segments), "belongs", "belong"), where)
	f.Evidence = []check.Evidence{
		check.Count("segments", len(g.segments), "etcd"),
		check.Count("their rows", g.rows, "etcd"),
		check.Size("their logs", g.bytes, "etcd"),
		check.Fact("collection id", g.collection.String(), "etcd"),
	}
	f.Impact = "Nothing reads them, and garbage collection never removes them."
	f.Fix = check.Fix(
		check.Shell(check.Kitescope("get segments").Arg("collection_id="+g.collection.String(), "state!=Dropped")).Does("lists them with their sizes: leave them if they are small"),
		check.Do("delete their records by hand only with Milvus stopped and a snapshot of etcd saved: it cannot be undone"),
	)
	if g.bytes >= orphanBytes {
		f.Severity = check.Warning
	}
	f.Objects = append(f.Objects, facts.Refs(g.segments, facts.RefSegment)...)
	p.Report(f)
}
