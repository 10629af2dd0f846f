package facts

import "kitescope/inspect/model"

// Merge adds up the small segments of one partition and vchannel. Compaction merges only segments with the same
// partition and vchannel.
type Merge struct {
	Segments int
	Rows     int64
	// MaxRows is the greatest row limit of any of these segments.
	MaxRows int64
}

// mergeKey identifies the segments that can be merged with each other.
type mergeKey struct {
	partition model.PartitionID
	vchannel  string
}

// Merges adds up the segments of a collection that compaction would merge: small segments not touched since limit.
// full is the size in memory, in bytes, at which a segment counts as full regardless of its rows.
func (f *Facts) Merges(id model.CollectionID, full int64, limit model.TSO) map[mergeKey]Merge {
	sums := make(map[mergeKey]Merge)
	for _, s := range f.SegmentsIn(id, SmallSegs) {
		if s.Level == model.LevelL2 || s.Importing || s.Invisible || lastTouchedTSO(s) >= limit ||
			memorySize(s) >= full {
			continue
		}
		at := mergeKey{s.Partition, s.VChannel}
		m := sums[at]
		sums[at] = Merge{m.Segments + 1, m.Rows + max(0, s.Rows), max(m.MaxRows, s.MaxRows)}
	}
	return sums
}

// memorySize returns the size in memory of a segment's rows, in bytes. It returns 0 if the logs do not record it
// (before 2.4).
func memorySize(s *model.Segment) (bytes int64) {
	for i := range s.Logs {
		if s.Logs[i].Kind == model.InsertLog {
			bytes += s.Logs[i].MemoryBytes
		}
	}
	return bytes
}
