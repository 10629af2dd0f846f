package facts

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// Group is a kind of segments that some check looks for. Most segments of a cluster that is well are of none: whoever
// looks for one kind need not go through all segments, which is what would take the time.
type Group uint8

// The groups that checks go through.
const (
	// openSegs are growing, sealed or being flushed; ImportingSegs and DroppedSegs are what they are called.
	openSegs Group = iota
	ImportingSegs
	DroppedSegs
	// LevelZeroSegs are L0 segments that are not dropped.
	LevelZeroSegs
	// InvisibleSegs are flushed, and not to be seen by queries yet.
	InvisibleSegs
	// SmallSegs are flushed and have less than SmallShare of the rows that they may; DeletedSegs are flushed
	// and have more than deletedShare of their rows deleted. Neither holds L0 segments.
	SmallSegs
	DeletedSegs
	// unbuiltSegs want indexes and lack a finished one that is defined; begunSegs are those of them that have a record of one.
	unbuiltSegs
	begunSegs
	// StrayIndexSegs are not dropped, and have index records of a definition that does not exist.
	StrayIndexSegs
	// MixedSegs are not dropped, and have rows of one field recorded in two layouts of insert logs.
	MixedSegs
	// StrayPartitionSegs are not dropped, and of a partition that does not exist.
	StrayPartitionSegs
	// UnloggedSegs are flushed and have rows, but no insert logs. L0 segments and those with a manifest are not among them.
	UnloggedSegs

	groups
)

// Digest is what checks want to know of one collection's segments. It depends on nothing but the objects that it names, which
// never change: as long as a later Cluster has the same ones, it is right for that one, too. Above all it
// knows no time: what is old enough to be a finding, each check judges anew.
type Digest struct {
	collection *model.Collection // nil: it is gone
	segments   []*model.Segment
	indexes    []*model.Index
	partitions []*model.Partition

	groups [groups][]*model.Segment // each by id
	// Flushed counts flushed segments but for L0.
	Flushed int
	// MaxRows is the greatest number of rows that one of them may have, Largest the most that one has which wants indexes.
	MaxRows, Largest int64
	// furthest is the latest position of those that are not dropped, of known times.
	furthest model.TSO
	// OldestEngine and NewestEngine are the versions of index files of those that are not dropped; -1 if there are none.
	OldestEngine, NewestEngine int32
	// LastBuilt is when an index was finished last, zero if none was or it is not recorded; Building are the nodes that
	// records under way name.
	LastBuilt time.Time
	Building  []model.NodeID
}

func newDigest(c *model.Cluster, id model.CollectionID) *Digest {
	d := &Digest{
		collection: c.Collection(id), segments: c.SegmentsOf(id), indexes: c.IndexesOf(id), partitions: c.PartitionsOf(id),
		OldestEngine: -1, NewestEngine: -1,
	}
	for _, s := range d.segments {
		d.addIndexes(s)
		d.MaxRows = max(d.MaxRows, s.MaxRows)
		if t := Position(s); s.State.Healthy() && t != model.MaxTSO { // the greatest timestamp stands for none
			d.furthest = max(d.furthest, t)
		}
		if c.WantsIndex(s) {
			d.Largest = max(d.Largest, s.Rows)
		}
		d.group(c, s)
	}
	return d
}

// isOf reports whether d still holds for the collection as c has it.
func (d *Digest) isOf(c *model.Cluster, id model.CollectionID) bool {
	return d != nil && d.collection == c.Collection(id) && slices.Equal(d.segments, c.SegmentsOf(id)) &&
		slices.Equal(d.indexes, c.IndexesOf(id)) && slices.Equal(d.partitions, c.PartitionsOf(id))
}

// group puts a segment into the groups that it belongs to: most belong to none.
func (d *Digest) group(c *model.Cluster, s *model.Segment) {
	switch s.State {
	case model.SegmentGrowing, model.SegmentSealed, model.SegmentFlushing:
		d.put(openSegs, s)
	case model.SegmentImporting:
		d.put(ImportingSegs, s)
	case model.SegmentDropped:
		d.put(DroppedSegs, s)
	case model.SegmentFlushed:
		d.groupFlushed(s)
	default:
	}
	if s.State.Healthy() {
		if s.MixedLogs {
			d.put(MixedSegs, s)
		}
		if s.Level == model.LevelL0 {
			d.put(LevelZeroSegs, s)
		}
		if s.Partition > 0 && !hasPartition(d.partitions, s.Partition) {
			d.put(StrayPartitionSegs, s)
		}
		if undefined(s, d.indexes) {
			d.put(StrayIndexSegs, s)
		}
	}
	if c.WantsIndex(s) {
		lacks, begun := d.lacksIndex(s)
		if lacks {
			d.put(unbuiltSegs, s)
		}
		if begun {
			d.put(begunSegs, s)
		}
	}
}

func (d *Digest) groupFlushed(s *model.Segment) {
	if s.Invisible {
		d.put(InvisibleSegs, s)
	}
	if s.Level == model.LevelL0 {
		return
	}
	d.Flushed++
	if s.Rows > 0 && !s.Fake && !s.Unsized() && !slices.ContainsFunc(s.Logs, func(l model.FieldLogs) bool { return l.Kind == model.InsertLog }) {
		d.put(UnloggedSegs, s)
	}
	if isSmall(s) {
		d.put(SmallSegs, s)
	}
	if isDeleted(s) {
		d.put(DeletedSegs, s)
	}
}

func (d *Digest) put(g Group, s *model.Segment) { d.groups[g] = append(d.groups[g], s) }

// addIndexes notes when and where a segment's indexes are built, and the versions of their files where it is healthy.
func (d *Digest) addIndexes(s *model.Segment) {
	healthy := s.State.Healthy()
	for i := range s.Indexes {
		r := &s.Indexes[i]
		switch r.State {
		case model.IndexFinished:
			if r.FinishedAt.After(d.LastBuilt) {
				d.LastBuilt = r.FinishedAt
			}
		case model.IndexInProgress:
			if !slices.Contains(d.Building, r.Node) {
				d.Building = append(d.Building, r.Node)
			}
		default:
		}
		if healthy && HasFiles(r) {
			d.NewestEngine = max(d.NewestEngine, r.EngineVersion)
			if d.OldestEngine < 0 || r.EngineVersion < d.OldestEngine {
				d.OldestEngine = r.EngineVersion
			}
		}
	}
}

// lacksIndex reports whether a segment has no finished record of an index that is defined, and whether it has a record of such
// a one that is not finished.
func (d *Digest) lacksIndex(s *model.Segment) (lacks, begun bool) {
	for _, i := range d.indexes {
		if i.Deleted || IsFlat(i.Type) {
			continue
		}
		if r := RecordOf(s, i.ID); r == nil || r.State != model.IndexFinished {
			lacks, begun = true, begun || r != nil
		}
	}
	return lacks, begun
}

// HasFiles reports whether an index record is one of files that are in use.
func HasFiles(r *model.SegmentIndex) bool {
	return r.State == model.IndexFinished && !r.Deleted && r.Files > 0
}

// isSmall reports whether a segment has few of the rows that it may have.
func isSmall(s *model.Segment) bool {
	return s.MaxRows > 0 && float64(s.Rows) < SmallShare*float64(s.MaxRows)
}

// isDeleted reports whether much of a segment is deleted.
func isDeleted(s *model.Segment) bool { return float64(s.DeletedRows) > deletedShare*float64(s.Rows) }

// DigestOf is the digest of a collection.
func (f *Facts) DigestOf(id model.CollectionID) *Digest {
	if d := f.digests()[id]; d != nil {
		return d
	}
	return &Digest{OldestEngine: -1, NewestEngine: -1}
}

// Among are a collection's segments of one kind, by id.
func (f *Facts) Among(id model.CollectionID, g Group) []*model.Segment {
	return f.DigestOf(id).groups[g]
}

// AllAmong are the segments of one kind of all collections, of those without a record too, by collection and id.
func (f *Facts) AllAmong(g Group) iter.Seq[*model.Segment] {
	return func(yield func(*model.Segment) bool) {
		for _, id := range f.SegmentOwners() {
			for _, s := range f.Among(id, g) {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// ByID compares segments by their ids.
func ByID(a, b *model.Segment) int { return cmp.Compare(a.ID, b.ID) }

// deletedShare of its rows makes Milvus rewrite a segment (dataCoord.compaction.single.ratio.threshold: 0.2).
const deletedShare = 0.2

// SmallShare of its maximum of rows, or from 2.4 on of dataCoord.segment.maxSize, makes a segment small (dataCoord.segment.smallProportion: 0.5;
// internal/datacoord/compaction_trigger.go, isSmallSegment).
const SmallShare = 0.5

// undefined reports whether a segment has an index record, not marked deleted, of a definition that does not exist.
func undefined(s *model.Segment, defined []*model.Index) bool {
	return slices.ContainsFunc(s.Indexes, func(r model.SegmentIndex) bool {
		return !r.Deleted && !slices.ContainsFunc(defined, func(i *model.Index) bool { return i.ID == r.Index })
	})
}

// hasPartition reports whether a list of partitions, in order of their ids, has one.
func hasPartition(list []*model.Partition, id model.PartitionID) bool {
	_, found := slices.BinarySearchFunc(list, id, func(x *model.Partition, id model.PartitionID) int { return cmp.Compare(x.ID, id) })
	return found
}
