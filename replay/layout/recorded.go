package layout

import (
	"cmp"
	"maps"
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/words"
	"kitescope/replay"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// want is the way in which nodes should serve a segment.
type want uint8

const (
	wantNot want = iota
	wantSealed
	wantGrowing
	wantDeletes // L0
)

// wanted returns the way in which nodes should serve a recorded segment: flushed segments as sealed; growing
// segments, and sealed segments that are not flushed, as growing (DataCoord's GetRecoveryInfoV2). Nodes do not
// serve segments that are dropped, compacted into others or being imported, nor segments that are invisible until
// they are sorted (2.5).
func (b *builder) wanted(s *model.Segment) want {
	switch {
	case !s.State.Healthy() || s.Fake || s.Invisible || s.Importing || s.State == model.SegmentImporting || s.Compacted:
		return wantNot
	case s.Level == model.LevelL0:
		return wantDeletes
	case !b.partitionLoaded(s.Partition):
		return wantNot
	case s.State == model.SegmentFlushed:
		return wantSealed
	}
	return wantGrowing
}

// partitionLoaded reports whether a partition is in memory according to the load state. It returns true if that is
// unknown.
func (b *builder) partitionLoaded(id model.PartitionID) bool {
	l := b.LoadState(b.collection.ID)
	if l == nil {
		return true
	}
	if slices.Contains(l.Released, id) {
		return false
	}
	if l.LoadType != "LoadPartition" || len(l.Partitions) == 0 {
		return true
	}
	return slices.ContainsFunc(l.Partitions, func(p model.PartitionLoad) bool { return p.Partition == id })
}

// addRecorded adds the segments in the metadata, without nodes.
func (b *builder) addRecorded() {
	var left struct{ importing, invisible, dropped, compacted, unloaded int }
	for _, rec := range b.SegmentsOf(b.collection.ID) {
		switch b.wanted(rec) {
		case wantSealed:
			s := b.segment(rec.ID, rec, rec.Partition, rec.VChannel)
			s.Rows = rec.Rows
			b.setRecordedState(s, rec)
		case wantGrowing:
			s := b.segment(rec.ID, rec, rec.Partition, rec.VChannel)
			s.State = replay.Growing
			if rows, ok := b.GrowingRows(rec.ID); ok {
				s.Rows = rows
			}
		case wantDeletes:
			b.levelZero = append(b.levelZero, rec)
		case wantNot:
			switch {
			case rec.State == model.SegmentDropped || !rec.State.Healthy():
				left.dropped++
			case rec.Compacted:
				left.compacted++
			case rec.Importing || rec.State == model.SegmentImporting:
				left.importing++
			case rec.Invisible || rec.Fake:
				left.invisible++
			default:
				left.unloaded++
			}
		}
	}
	for _, x := range []struct {
		n    int
		what string
	}{
		{left.dropped, "dropped"},
		{left.compacted, "compacted into others"},
		{left.importing, "being imported"},
		{left.invisible, "not visible yet"},
		{left.unloaded, "in partitions that are not loaded"},
	} {
		if x.n > 0 {
			b.note("skipped: %s %s", words.Count(x.n, "segment", "segments"), x.what)
		}
	}
}

// setRecordedState sets the state of a sealed segment from its records: indexed if an index is finished and has files.
// FLAT, and every index on a segment that is too small, is finished without files.
func (b *builder) setRecordedState(s *replay.Segment, rec *model.Segment) {
	s.State, s.Index = replay.Unindexed, replay.Index{}
	if rec != nil {
		for i := range rec.Indexes {
			if x := &rec.Indexes[i]; b.ofField(x) && x.State == model.IndexFinished && x.Files > 0 {
				b.setIndex(s, x.Index)
			}
		}
	}
	if s.State == replay.Unindexed && b.index != nil && isBruteForce(b.index.Type) {
		s.Index = indexOf(b.index)
	}
}

// ofField reports whether index files belong to the vector field and are not deleted.
func (b *builder) ofField(x *model.SegmentIndex) bool {
	if x.Deleted {
		return false
	}
	for _, d := range b.IndexesOf(b.collection.ID) {
		if d.ID == x.Index {
			return d.Field == b.field.ID && !d.Deleted
		}
	}
	return false
}
