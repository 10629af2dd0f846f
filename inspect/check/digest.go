package check

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// group is a kind of segments that some check looks for. Most segments of a cluster that is well are of none: whoever
// looks for one kind need not go through all segments, which is what would take the time.
type group uint8

const (
	// openSegs are growing, sealed or being flushed; importingSegs and droppedSegs are what they are called.
	openSegs group = iota
	importingSegs
	droppedSegs
	// levelZeroSegs are L0 segments that are not dropped.
	levelZeroSegs
	// invisibleSegs are flushed, and not to be seen by queries yet.
	invisibleSegs
	// smallSegs are flushed and have less than smallShare of the rows that they may; deletedSegs are flushed
	// and have more than deletedShare of their rows deleted. Neither holds L0 segments.
	smallSegs
	deletedSegs
	// unbuiltSegs want indexes and lack a finished one that is defined.
	unbuiltSegs
	// strayIndexSegs are not dropped, and have index records of a definition that does not exist.
	strayIndexSegs
	// strayPartitionSegs are not dropped, and of a partition that does not exist.
	strayPartitionSegs

	groups
)

// digest is what checks want to know of one collection's segments. It depends on nothing but the objects that it names, which
// never change: as long as a later Cluster has the same ones, it is right for that one, too. Above all it
// knows no time: what is old enough to be a finding, each check judges anew.
type digest struct {
	collection *model.Collection // nil: it is gone
	segments   []*model.Segment
	indexes    []*model.Index
	partitions []*model.Partition

	groups [groups][]*model.Segment // each by id
	// flushed counts flushed segments but for L0.
	flushed int
	// maxRows is the greatest number of rows that one of them may have, largest the most that one has which wants indexes.
	maxRows, largest int64
	// furthest is the latest position of those that are not dropped, of known times.
	furthest model.TSO
	// oldestEngine and newestEngine are the versions of index files of those that are not dropped; -1 if there are none.
	oldestEngine, newestEngine int32
	// lastBuilt is when an index was finished last, zero if none was or it is not recorded; building are the nodes that
	// records under way name.
	lastBuilt time.Time
	building  []model.NodeID

	beyond beyond
}

func newDigest(c *model.Cluster, id model.CollectionID) *digest {
	d := &digest{
		collection: c.Collection(id), segments: c.SegmentsOf(id), indexes: c.IndexesOf(id), partitions: c.PartitionsOf(id),
		oldestEngine: -1, newestEngine: -1,
	}
	for _, s := range d.segments {
		d.add(c, s)
	}
	return d
}

// empty is the digest of no segments of the same collection.
func (d *digest) empty() *digest {
	return &digest{collection: d.collection, indexes: d.indexes, partitions: d.partitions, oldestEngine: -1, newestEngine: -1}
}

func (d *digest) add(c *model.Cluster, s *model.Segment) {
	put := func(g group, belongs bool) {
		if belongs {
			d.groups[g] = append(d.groups[g], s)
		}
	}
	d.maxRows = max(d.maxRows, s.MaxRows)
	d.addBuilds(s)
	switch s.State {
	case model.SegmentGrowing, model.SegmentSealed, model.SegmentFlushing:
		put(openSegs, true)
	case model.SegmentImporting:
		put(importingSegs, true)
	case model.SegmentDropped:
		put(droppedSegs, true)
	case model.SegmentFlushed:
		put(invisibleSegs, s.Invisible)
		if s.Level != model.LevelL0 {
			d.flushed++
			put(smallSegs, isSmall(s))
			put(deletedSegs, isDeleted(s))
		}
	default:
	}
	if s.State.Healthy() {
		put(levelZeroSegs, s.Level == model.LevelL0)
		put(strayPartitionSegs, s.Partition > 0 && !hasPartition(d.partitions, s.Partition))
		put(strayIndexSegs, undefined(s, d.indexes))
		d.addPosition(s)
		d.addEngines(s)
	}
	if c.WantsIndex(s) {
		d.largest = max(d.largest, s.Rows)
		put(unbuiltSegs, d.lacksIndex(s))
	}
}

// addPosition notes how far a segment has come. The greatest timestamp of all stands for none.
func (d *digest) addPosition(s *model.Segment) {
	if t := max(s.StartAt, s.PositionAt); t != model.MaxTSO {
		d.furthest = max(d.furthest, t)
	}
}

// addBuilds notes when and where a segment's indexes are built.
func (d *digest) addBuilds(s *model.Segment) {
	for i := range s.Indexes {
		switch r := &s.Indexes[i]; r.State {
		case model.IndexFinished:
			if r.FinishedAt.After(d.lastBuilt) {
				d.lastBuilt = r.FinishedAt
			}
		case model.IndexInProgress:
			if !slices.Contains(d.building, r.Node) {
				d.building = append(d.building, r.Node)
			}
		default:
		}
	}
}

// addEngines notes the versions of a segment's index files.
func (d *digest) addEngines(s *model.Segment) {
	for i := range s.Indexes {
		if r := &s.Indexes[i]; hasFiles(r) {
			d.newestEngine = max(d.newestEngine, r.EngineVersion)
			if d.oldestEngine < 0 || r.EngineVersion < d.oldestEngine {
				d.oldestEngine = r.EngineVersion
			}
		}
	}
}

// lacksIndex reports whether a segment has no finished record of an index that is defined.
func (d *digest) lacksIndex(s *model.Segment) bool {
	for _, i := range d.indexes {
		if i.Deleted || flat(i.Type) {
			continue
		}
		if r := recordOf(s, i.ID); r == nil || r.State != model.IndexFinished {
			return true
		}
	}
	return false
}

// hasFiles reports whether an index record is one of files that are in use.
func hasFiles(r *model.SegmentIndex) bool {
	return r.State == model.IndexFinished && !r.Deleted && r.Files > 0
}

// isSmall reports whether a segment has few of the rows that it may have.
func isSmall(s *model.Segment) bool {
	return s.MaxRows > 0 && float64(s.Rows) < smallShare*float64(s.MaxRows)
}

// isDeleted reports whether much of a segment is deleted.
func isDeleted(s *model.Segment) bool { return float64(s.DeletedRows) > deletedShare*float64(s.Rows) }

// digestOf is the digest of a collection.
func (p *Facts) digestOf(id model.CollectionID) *digest {
	if d := p.digests()[id]; d != nil {
		return d
	}
	return &digest{oldestEngine: -1, newestEngine: -1}
}

// among are a collection's segments of one kind, by id.
func (p *Facts) among(id model.CollectionID, g group) []*model.Segment {
	return p.digestOf(id).groups[g]
}

// allAmong are the segments of one kind of all collections, of those without a record too, by collection and id.
func (p *Facts) allAmong(g group) iter.Seq[*model.Segment] {
	return func(yield func(*model.Segment) bool) {
		for _, id := range p.SegmentOwners() {
			for _, s := range p.among(id, g) {
				if !yield(s) {
					return
				}
			}
		}
	}
}

func byID(a, b *model.Segment) int { return cmp.Compare(a.ID, b.ID) }

// deletedShare of its rows makes Milvus rewrite a segment (dataCoord.compaction.single.ratio.threshold: 0.2).
const deletedShare = 0.2

// smallShare of its maximum of rows, or from 2.4 on of dataCoord.segment.maxSize, makes a segment small (dataCoord.segment.smallProportion: 0.5;
// internal/datacoord/compaction_trigger.go, isSmallSegment).
const smallShare = 0.5

// undefined reports whether a segment has an index record, not marked deleted, of a definition that does not exist.
func undefined(s *model.Segment, defined []*model.Index) bool {
	for i := range s.Indexes {
		r := &s.Indexes[i]
		known := r.Deleted
		for j := 0; j < len(defined) && !known; j++ {
			known = defined[j].ID == r.Index
		}
		if !known {
			return true
		}
	}
	return false
}

// hasPartition reports whether a list of partitions, in order of their ids, has one.
func hasPartition(list []*model.Partition, id model.PartitionID) bool {
	if len(list) > 8 {
		_, found := slices.BinarySearchFunc(list, id, func(x *model.Partition, id model.PartitionID) int { return cmp.Compare(x.ID, id) })
		return found
	}
	for _, x := range list {
		if x.ID == id {
			return true
		}
	}
	return false
}
