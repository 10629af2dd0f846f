package facts

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// Group is a kind of segments that some check looks for. Most segments of a healthy cluster are in no group, so a
// check that reads a group avoids the slow scan of all segments.
type Group uint8

// The numGroups that checks go through.
const (
	// openSegs are growing, sealed or being flushed. ImportingSegs and DroppedSegs are importing and dropped.
	openSegs Group = iota
	ImportingSegs
	DroppedSegs
	// LevelZeroSegs are L0 segments that are not dropped.
	LevelZeroSegs
	// InvisibleSegs are flushed, but not visible to queries yet.
	InvisibleSegs
	// SmallSegs are flushed and have less than SmallShare of their maximum of rows. DeletedSegs are flushed and
	// have more than deletedShare of their rows deleted. Both exclude L0 segments.
	SmallSegs
	DeletedSegs
	// unbuiltSegs need indexes and have no finished record of at least one defined index. begunSegs are the subset
	// with an unfinished record of such an index.
	unbuiltSegs
	begunSegs
	// StrayIndexSegs are not dropped, and have index records whose definition does not exist.
	StrayIndexSegs
	// MixedSegs are not dropped, and record rows of one field in two layouts of insert logs.
	MixedSegs
	// StrayPartitionSegs are not dropped, and belong to a partition that does not exist.
	StrayPartitionSegs
	// UnloggedSegs are flushed and have rows, but no insert logs. L0 segments and segments with a manifest are
	// excluded.
	UnloggedSegs

	numGroups
)

// Digest holds the facts about the segments of one collection that checks share. It depends only on the objects
// that it points to, which are immutable, so it stays valid for any later Cluster that has the same objects. It
// does not depend on the time: each check decides in each run which objects are old enough for a finding.
type Digest struct {
	collection *model.Collection // nil if the collection is gone
	segments   []*model.Segment
	indexes    []*model.Index
	partitions []*model.Partition

	groups [numGroups][]*model.Segment // each sorted by id
	// Flushed is the number of flushed segments, L0 excluded.
	Flushed int
	// MaxRows is the greatest row limit of any segment. Largest is the greatest row count of a segment that needs
	// indexes.
	MaxRows, Largest int64
	// latest is the latest known position of the segments that are not dropped.
	latest model.TSO
	// OldestEngine and NewestEngine are the range of index file versions of segments that are not dropped, -1 if
	// they have no index files.
	OldestEngine, NewestEngine int32
	// LastBuilt is the time at which the last index was finished, zero if no index was finished or the time is not
	// recorded. Building holds the nodes of the index records that are in progress.
	LastBuilt time.Time
	Building  []model.NodeID
}

func newDigest(c *model.Cluster, id model.CollectionID) *Digest {
	d := &Digest{
		collection: c.Collection(id), segments: c.SegmentsOf(id), indexes: c.IndexesOf(id),
		partitions:   c.PartitionsOf(id),
		OldestEngine: -1, NewestEngine: -1,
	}
	for _, s := range d.segments {
		d.addIndexes(s)
		d.MaxRows = max(d.MaxRows, s.MaxRows)
		if t := Position(s); s.State.Healthy() && t != model.MaxTSO { // MaxTSO means no position
			d.latest = max(d.latest, t)
		}
		if c.WantsIndex(s) {
			d.Largest = max(d.Largest, s.Rows)
		}
		d.group(c, s)
	}
	return d
}

// validFor reports whether d is still valid for the collection in c.
func (d *Digest) validFor(c *model.Cluster, id model.CollectionID) bool {
	return d != nil && d.collection == c.Collection(id) && slices.Equal(d.segments, c.SegmentsOf(id)) &&
		slices.Equal(d.indexes, c.IndexesOf(id)) && slices.Equal(d.partitions, c.PartitionsOf(id))
}

// group adds a segment to its groups. Most segments belong to none.
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
		if hasStrayIndex(s, d.indexes) {
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
	if s.Rows > 0 && !s.Fake && !s.Unsized() &&
		!slices.ContainsFunc(s.Logs, func(l model.FieldLogs) bool { return l.Kind == model.InsertLog }) {
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

// addIndexes records when and where the indexes of a segment are built, and the versions of their files if the
// segment is healthy.
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

// lacksIndex reports whether a segment has no finished record of some defined index, and whether it has an
// unfinished record of such an index.
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

// HasFiles reports whether an index record has files that are in use.
func HasFiles(r *model.SegmentIndex) bool {
	return r.State == model.IndexFinished && !r.Deleted && r.Files > 0
}

// isSmall reports whether a segment has less than SmallShare of its maximum of rows.
func isSmall(s *model.Segment) bool {
	return s.MaxRows > 0 && float64(s.Rows) < SmallShare*float64(s.MaxRows)
}

// isDeleted reports whether more than deletedShare of the rows of a segment are deleted.
func isDeleted(s *model.Segment) bool { return float64(s.DeletedRows) > deletedShare*float64(s.Rows) }

// DigestOf returns the digest of a collection, an empty one if the collection is unknown.
func (f *Facts) DigestOf(id model.CollectionID) *Digest {
	if d := f.digests()[id]; d != nil {
		return d
	}
	return &Digest{OldestEngine: -1, NewestEngine: -1}
}

// SegmentsIn returns the segments of a collection that are in a group, sorted by id.
func (f *Facts) SegmentsIn(id model.CollectionID, g Group) []*model.Segment {
	return f.DigestOf(id).groups[g]
}

// AllSegmentsIn returns the segments of all collections that are in a group, by collection and id. It includes segments
// of collections that have no record.
func (f *Facts) AllSegmentsIn(g Group) iter.Seq[*model.Segment] {
	return func(yield func(*model.Segment) bool) {
		for _, id := range f.SegmentOwners() {
			for _, s := range f.SegmentsIn(id, g) {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// ByID compares segments by their ids.
func ByID(a, b *model.Segment) int { return cmp.Compare(a.ID, b.ID) }

// deletedShare is the share of deleted rows above which Milvus rewrites a segment
// (dataCoord.compaction.single.ratio.threshold: 0.2).
const deletedShare = 0.2

// SmallShare is the share of a segment's maximum of rows, or since 2.4 of dataCoord.segment.maxSize, below which
// the segment is small (dataCoord.segment.smallProportion: 0.5; internal/datacoord/compaction_trigger.go,
// isSmallSegment).
const SmallShare = 0.5

// hasStrayIndex reports whether a segment has an index record that is not marked deleted and whose definition does not
// exist.
func hasStrayIndex(s *model.Segment, defined []*model.Index) bool {
	return slices.ContainsFunc(s.Indexes, func(r model.SegmentIndex) bool {
		return !r.Deleted && !slices.ContainsFunc(defined, func(i *model.Index) bool { return i.ID == r.Index })
	})
}

// hasPartition reports whether a list of partitions, sorted by id, contains id.
func hasPartition(list []*model.Partition, id model.PartitionID) bool {
	_, found := slices.BinarySearchFunc(list, id, func(x *model.Partition, id model.PartitionID) int {
		return cmp.Compare(x.ID, id)
	})
	return found
}
