package facts

import (
	"maps"

	"kitescope/inspect/model"
)

// Merge adds up the small segments of one partition and vchannel, beyond which compaction merges none.
type Merge struct {
	Segments int
	Rows     int64
	maxRows  peak
}

// MaxRows is the greatest number of rows that one of them may have.
func (m *Merge) MaxRows() int64 { return int64(m.maxRows.value) }

// mergePlace is where segments can be merged with each other.
type mergePlace struct {
	partition model.PartitionID
	vchannel  string
}

type merges map[mergePlace]Merge

// Merges are sums of a collection's segments that compaction would merge: small ones that nobody has touched since a limit. Full is
// the size in memory, in bytes, from which one is full whatever its rows.
func (f *Facts) Merges(id model.CollectionID, full int64, limit model.TSO) map[mergePlace]Merge {
	d := f.DigestOf(id)
	return *d.merges.of(d, SmallSegs, mergeRule{full}, limit)
}

// mergeRule is what counts as mergeable.
type mergeRule struct{ full int64 }

func (r mergeRule) due(s *model.Segment) (at model.TSO, ok bool) {
	if s.Level == model.LevelL2 || s.Importing || s.Invisible || inMemory(s) >= r.full {
		return 0, false
	}
	return touched(s), true
}

func (mergeRule) add(_ *Digest, sum *merges, s *model.Segment) {
	if *sum == nil {
		*sum = make(merges)
	}
	at := mergePlace{s.Partition, s.VChannel}
	m := (*sum)[at]
	m.Segments++
	m.Rows += max(0, s.Rows)
	m.maxRows.add(uint64(max(0, s.MaxRows)))
	(*sum)[at] = m
}

func (mergeRule) change(sum, left, came *merges) (next *merges, ok bool) {
	after := maps.Clone(*sum)
	if after == nil {
		after = make(merges)
	}
	for at, x := range *came {
		m := after[at]
		m.Segments, m.Rows = m.Segments+x.Segments, m.Rows+x.Rows
		m.maxRows.join(x.maxRows)
		after[at] = m
	}
	for at, x := range *left {
		m := after[at]
		m.Segments, m.Rows = m.Segments-x.Segments, m.Rows-x.Rows
		if m.maxRows, ok = m.maxRows.without(x.maxRows, m.Segments); !ok {
			return nil, false
		}
		if after[at] = m; m.Segments == 0 {
			delete(after, at)
		}
	}
	return &after, true
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
