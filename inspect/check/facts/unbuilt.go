package facts

import (
	"maps"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// MinIndexRows is how many rows a segment needs before Milvus builds an index on it
// (indexCoord.segment.minSegmentNumRowsToEnableIndex, 1024 in every version).
const MinIndexRows = 1024

// PartsOfBuilds is what the checks of index builds read.
const PartsOfBuilds = model.PartObjects | model.PartIndexes | model.PartSegments | model.PartSegmentIndexes | model.PartServing

// Build is the state of one index on one flushed segment that has none of use.
type Build struct {
	Collection *model.Collection
	Index      *model.Index
	Segment    *model.Segment
	Record     *model.SegmentIndex // nil: none
}

// EachUnbuilt calls visit for each flushed segment and live index definition of which the index is not finished. Left out
// is what Milvus builds no files for: FLAT, segments of few rows, L0.
func (f *Facts) EachUnbuilt(visit func(Build)) { f.eachLack(unbuiltSegs, visit) }

// EachBegun calls visit for those of EachUnbuilt that have a record.
func (f *Facts) EachBegun(visit func(Build)) {
	f.eachLack(begunSegs, func(b Build) {
		if b.Record != nil {
			visit(b)
		}
	})
}

func (f *Facts) eachLack(g Group, visit func(Build)) {
	for _, x := range f.Collections {
		t := f.CollectionTotals(x.ID)
		if x.Dropped() || t.IndexedRows == t.NeedIndexRows || len(f.Among(x.ID, g)) == 0 {
			continue
		}
		indexes, least := f.IndexesOf(x.ID), f.LeastIndexedRows()
		for _, s := range f.Among(x.ID, g) {
			if s.Rows < least {
				continue
			}
			for _, i := range indexes {
				if i.Deleted || IsFlat(i.Type) {
					continue
				}
				if r := RecordOf(s, i.ID); r == nil || r.State != model.IndexFinished {
					visit(Build{x, i, s, r})
				}
			}
		}
	}
}

// LeastIndexedRows is from how many rows on a segment is given indexes.
func (f *Facts) LeastIndexedRows() int64 {
	return f.SettingCount("indexCoord.segment.minSegmentNumRowsToEnableIndex", MinIndexRows, DataCoords()...)
}

// RecordOf is a segment's newest record of an index, nil if there is none.
func RecordOf(s *model.Segment, id model.IndexID) *model.SegmentIndex {
	var found *model.SegmentIndex
	for i := range s.Indexes {
		if r := &s.Indexes[i]; r.Index == id && !r.Deleted {
			found = r // they are sorted by build
		}
	}
	return found
}

// WaitsSince is since when at most a segment could have had the index: it was written, and the index was defined. The
// record's own time is none: it is that of its id, of which RootCoord's allocator takes the time when it starts (captures of 2.3.5). What
// sorting makes of a segment has the times of its source (internal/datacoord/meta.go, completeSortCompactionMutation).
func (b Build) WaitsSince() time.Time {
	at := LastTouched(b.Segment)
	if b.Index.CreatedAt.After(at) {
		at = b.Index.CreatedAt
	}
	return at
}

// Lack adds up segments of a collection that have no index of use.
type Lack struct {
	Collection *model.Collection
	Index      *model.Index
	Segments   int
	Rows       int64
	// Oldest is since when at most the one that has waited longest could have had the index, zero if nothing tells.
	Oldest time.Time
	// First are the first of them by id, as many as a finding names.
	First []model.SegmentID
}

// Add counts one in, of a greater id than those before.
func (l *Lack) Add(b Build) {
	l.Segments++
	l.Rows += b.Segment.Rows
	if len(l.First) < MaxObjects {
		l.First = append(l.First, b.Segment.ID)
	}
	if at := b.WaitsSince(); l.Oldest.IsZero() || !at.IsZero() && at.Before(l.Oldest) {
		l.Oldest = at
	}
}

// Missing are flushed segments that have no record of an index.
type Missing struct {
	Lack
	Unsorted int // of the segments
}

// Missing are those of EachUnbuilt that have no record, by index id: segments that nobody has touched since a limit, and
// if they are not sorted yet since so much longer; not those of an import that is under way.
func (f *Facts) Missing(limit model.TSO, unsorted time.Duration) []Missing {
	var list []Missing
	longer := model.TSOFromTime(time.UnixMilli(unsorted.Milliseconds()))
	lacks := make(map[model.IndexID]*Missing)
	f.EachUnbuilt(func(b Build) {
		due := touched(b.Segment)
		if !b.Segment.Sorted {
			due += min(longer, model.MaxTSO-due)
		}
		if b.Record != nil || b.Segment.Importing || due >= limit {
			return
		}
		m := lacks[b.Index.ID]
		if m == nil {
			m = &Missing{Lack: Lack{Collection: b.Collection, Index: b.Index}}
			lacks[b.Index.ID] = m
		}
		m.Add(b)
		if !b.Segment.Sorted {
			m.Unsorted++
		}
	})
	for _, id := range slices.Sorted(maps.Keys(lacks)) {
		list = append(list, *lacks[id])
	}
	return list
}
