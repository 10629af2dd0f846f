package rules

import (
	"fmt"
	"maps"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// orphanBytes is from how much storage on orphans are a warning.
const orphanBytes = 1 << 30

// orphanSegments finds segments, and records of the catalog and of logs, whose collection or partition is gone.
var orphanSegments = &check.Check{
	ID:       "orphan-segments",
	Title:    "Records belong to a collection or partition that is gone",
	Severity: check.Warning,
	Symptoms: []string{check.EtcdSlow, check.StorageGrows, check.Leftovers},
	Starts:   "collection_dropped partition_dropped | segment_created",
	Parts:    model.PartObjects | model.PartSegments | model.PartLogs | model.PartChannels,
	Doc: `Looks for segments that are not dropped (growing, sealed, flushed, importing) and whose collection or partition has no record. Not a finding while the
collection is being dropped: its segments are dropped one at a time. Nor are dropped segments, which wait for garbage collection.

Also fields, partitions and functions of collections without a record (` + "`root-coord/fields/`" + ` and so on; milvus issue 28496), and vchannels that a streaming node would still recover: info, in one
finding.

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
	reportLeftovers(p)
}

// reportLeftovers reports what else belongs to collections that are gone.
func reportLeftovers(p *check.Pass) {
	collections := map[model.CollectionID]bool{}
	counts := map[string]int{}
	add := func(id model.CollectionID, what string, n int) {
		if n > 0 {
			collections[id], counts[what] = true, counts[what]+n
		}
	}
	for _, x := range p.Remains {
		add(x.Collection, "field", x.Fields)
		add(x.Collection, "partition", x.Partitions)
		add(x.Collection, "function", x.Functions)
	}
	for _, v := range p.VChannels {
		if v.State == "Normal" && v.Collection != 0 && p.Collection(v.Collection) == nil {
			add(v.Collection, "vchannel to recover", 1)
		}
	}
	if len(collections) == 0 {
		return
	}
	f := check.Finding{
		Severity: check.Info, Impact: "They take up keys, and RootCoord reads them at each start.",
		Evidence: []check.Evidence{check.Count("collections", len(collections), "etcd")},
		Fix: check.Fix(
			check.Shell(check.Kitescope("get keys").Arg("key~root-coord/(fields|partitions|functions)/" + slices.Min(slices.Collect(maps.Keys(collections))).String())).
				Does("lists those of the first collection; no action is needed for queries"),
		),
	}
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, words.Plural(counts[what], what))
		f.Evidence = append(f.Evidence, check.Count("records of type "+what, counts[what], "etcd"))
	}
	f.Message = fmt.Sprintf("left over: %s of %s that %s gone", words.Few(parts), words.Plural(len(collections), "collection"), words.Agree(len(collections), "is", "are"))
	p.Report(f)
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
		check.Do("delete their records by hand only with Milvus stopped and a snapshot of etcd saved: it cannot be undone").
			Interrupting(0, "all requests while it is stopped"),
	)
	if g.bytes >= orphanBytes {
		f.Severity = check.Warning
	}
	f.Objects = append(f.Objects, facts.Refs(g.segments, facts.RefSegment)...)
	p.Report(f)
}
