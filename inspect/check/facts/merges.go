package facts

import "kitescope/inspect/model"

// Merge adds up the small segments of one partition and vchannel, beyond which compaction merges none.
type Merge struct {
	Segments int
	Rows     int64
	// MaxRows is the greatest number of rows that one of them may have.
	MaxRows int64
}

// mergePlace is where segments can be merged with each other.
type mergePlace struct {
	partition model.PartitionID
	vchannel  string
}

// Merges are sums of a collection's segments that compaction would merge: small ones that nobody has touched since a limit. Full is
// the size in memory, in bytes, from which one is full whatever its rows.
func (f *Facts) Merges(id model.CollectionID, full int64, limit model.TSO) map[mergePlace]Merge {
	sums := make(map[mergePlace]Merge)
	for _, s := range f.Among(id, SmallSegs) {
		if s.Level == model.LevelL2 || s.Importing || s.Invisible || touched(s) >= limit || inMemory(s) >= full {
			continue
		}
		at := mergePlace{s.Partition, s.VChannel}
		m := sums[at]
		sums[at] = Merge{m.Segments + 1, m.Rows + max(0, s.Rows), max(m.MaxRows, s.MaxRows)}
	}
	return sums
}

// inMemory is the size of a segment's rows in memory, 0 if its logs do not record that (before 2.4).
func inMemory(s *model.Segment) (bytes int64) {
	for i := range s.Logs {
		if s.Logs[i].Kind == model.InsertLog {
			bytes += s.Logs[i].MemoryBytes
		}
	}
	return bytes
}
