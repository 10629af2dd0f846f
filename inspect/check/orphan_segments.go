package check

import (
	"fmt"
	"strconv"

	"kitescope/inspect/model"
)

// orphanBytes is from how much storage on orphans are a warning.
const orphanBytes = 1 << 30

// OrphanSegments finds segments whose collection or partition is gone.
var OrphanSegments = &Check{
	ID:       "orphan-segments",
	Title:    "Living segments belong to a collection or partition that is gone",
	Severity: Warning,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartSegments | model.PartLogs,
	Doc: `Looks for segments in a living state (growing, sealed, flushed, importing) whose collection or partition has no record any more. Of a collection that is
still being dropped they are no finding: its segments are dropped one by one. Neither are dropped segments, which wait for garbage collection.

Information, and a warning from 1 GiB on: garbage collection takes dropped segments only, so that these stay for ever. Milvus issues 19675 (2.1) and 45533 (2.6:
a compaction that ends during a drop).`,
	Remedy: `Make sure that the collection is really gone, and not of another database or renamed. Then the records can be deleted by hand, which is a write to Milvus's etcd that cannot
be taken back: save a snapshot of etcd first (` + "`etcdctl snapshot save FILE`" + `), and stop Milvus. Better leave them, if they are small. kitescope only reads.`,
	Run: runOrphanSegments,
}

// orphanGroup are the segments of one collection that is gone, or of the gone partitions of one that is not.
type orphanGroup struct {
	collection model.CollectionID
	segments   []model.SegmentID
	rows       int64
	bytes      int64
}

func runOrphanSegments(p *Pass) error {
	if !p.whole() {
		return nil
	}
	var list []*orphanGroup
	for _, id := range p.SegmentOwners() {
		x := p.Collection(id)
		if x != nil && x.Dropped() {
			continue
		}
		g := &orphanGroup{collection: id}
		if x != nil {
			g.add(p.among(id, strayPartitionSegs))
		} else {
			g.add(p.SegmentsOf(id))
		}
		if len(g.segments) > 0 {
			list = append(list, g)
		}
	}
	for _, g := range list {
		p.reportOrphans(g)
	}
	return nil
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

func (p *Pass) reportOrphans(g *orphanGroup) {
	f := Finding{Severity: Info, Object: refSegment(g.segments[0])}
	where := "collection " + g.collection.String() + ", which is gone"
	if x := p.Collection(g.collection); x != nil {
		f.Object = refCollection(p.Cluster, x.ID)
		where = "partitions of " + collectionLabel(p.Cluster, x.ID) + " that are gone"
	}
	f.Message = fmt.Sprintf("%s with %s rows %s to %s", plural(len(g.segments), "segment"), number(g.rows), agree(len(g.segments), "belongs", "belong"), where)
	f.Evidence = []Evidence{
		{"segments", strconv.Itoa(len(g.segments)), "etcd"},
		{"their rows", number(g.rows), "etcd"},
		{"their logs", bytesText(g.bytes), "etcd"},
		{"collection id", g.collection.String(), "etcd"},
	}
	f.Impact = "Nothing reads them, and garbage collection does not take them."
	f.Hint = advise("see them: kitescope get segments collection_id=%s", g.collection)
	if g.bytes >= orphanBytes {
		f.Severity = Warning
	}
	for _, id := range g.segments[:min(len(g.segments), maxObjects)] {
		f.Objects = append(f.Objects, refSegment(id))
	}
	p.Report(f)
}
