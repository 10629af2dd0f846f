package facts

import (
	"maps"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// MinIndexRows is the number of rows from which Milvus builds an index on a segment
// (indexCoord.segment.minSegmentNumRowsToEnableIndex, 1024 in every version).
const MinIndexRows = 1024

// PartsOfBuilds are the parts of the metadata that the checks of index builds read.
const PartsOfBuilds = model.PartObjects | model.PartIndexes | model.PartSegments | model.PartSegmentIndexes |
	model.PartServing

// Build is the state of one unfinished index on one flushed segment.
type Build struct {
	Collection *model.Collection
	Index      *model.Index
	Segment    *model.Segment
	Record     *model.SegmentIndex // nil if there is none
}

// EachUnbuilt calls visit for each flushed segment and live index definition whose index is not finished. It leaves
// out the cases for which Milvus builds no files: FLAT, segments of few rows, L0.
func (f *Facts) EachUnbuilt(visit func(Build)) { f.eachBuild(unbuiltSegs, visit) }

// EachBegun is like EachUnbuilt, but only visits builds that have a record.
func (f *Facts) EachBegun(visit func(Build)) {
	f.eachBuild(begunSegs, func(b Build) {
		if b.Record != nil {
			visit(b)
		}
	})
}

func (f *Facts) eachBuild(g Group, visit func(Build)) {
	for _, x := range f.Collections {
		t := f.CollectionTotals(x.ID)
		if x.Dropped() || t.IndexedRows == t.NeedIndexRows || len(f.SegmentsIn(x.ID, g)) == 0 {
			continue
		}
		indexes, least := f.IndexesOf(x.ID), f.LeastIndexedRows()
		for _, s := range f.SegmentsIn(x.ID, g) {
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

// LeastIndexedRows returns the number of rows from which a segment gets indexes.
func (f *Facts) LeastIndexedRows() int64 {
	return f.SettingCount("indexCoord.segment.minSegmentNumRowsToEnableIndex", MinIndexRows, DataCoords()...)
}

// RecordOf returns a segment's newest record of an index, nil if there is none.
func RecordOf(s *model.Segment, id model.IndexID) *model.SegmentIndex {
	var found *model.SegmentIndex
	for i := range s.Indexes {
		if r := &s.Indexes[i]; r.Index == id && !r.Deleted {
			found = r // records are sorted by build
		}
	}
	return found
}

// WaitsSince returns the earliest time at which the segment could have had the index: it was written and the index
// was defined. The record has no usable time of its own: its id has the time at which RootCoord's allocator started
// (captures of 2.3.5). The result of sorting a segment has the times of its source (internal/datacoord/meta.go,
// completeSortCompactionMutation).
func (b Build) WaitsSince() time.Time {
	at := LastTouched(b.Segment)
	if b.Index.CreatedAt.After(at) {
		at = b.Index.CreatedAt
	}
	return at
}

// UnindexedSegments adds up the segments of a collection that have no finished index.
type UnindexedSegments struct {
	Collection *model.Collection
	Index      *model.Index
	Segments   int
	Rows       int64
	// Oldest is the earliest time at which one of the segments could have had the index, zero if it is unknown.
	Oldest time.Time
	// First holds the first MaxObjects segments by id.
	First []model.SegmentID
}

// Add adds a segment. Segments must be added in order of id.
func (l *UnindexedSegments) Add(b Build) {
	l.Segments++
	l.Rows += b.Segment.Rows
	if len(l.First) < MaxObjects {
		l.First = append(l.First, b.Segment.ID)
	}
	if at := b.WaitsSince(); l.Oldest.IsZero() || !at.IsZero() && at.Before(l.Oldest) {
		l.Oldest = at
	}
}

// MissingIndex adds up flushed segments that have no record of an index.
type MissingIndex struct {
	UnindexedSegments
	Unsorted int // number of unsorted segments
}

// MissingIndexes returns the builds of EachUnbuilt that have no record, by index id. It leaves out segments of a
// running import and segments touched since limit, or for segments that are not sorted yet, since unsorted before
// limit.
func (f *Facts) MissingIndexes(limit model.TSO, unsorted time.Duration) []MissingIndex {
	var list []MissingIndex
	longer := model.TSOFromTime(time.UnixMilli(unsorted.Milliseconds()))
	lacks := make(map[model.IndexID]*MissingIndex)
	f.EachUnbuilt(func(b Build) {
		due := lastTouchedTSO(b.Segment)
		if !b.Segment.Sorted {
			due += min(longer, model.MaxTSO-due)
		}
		if b.Record != nil || b.Segment.Importing || due >= limit {
			return
		}
		m := lacks[b.Index.ID]
		if m == nil {
			m = &MissingIndex{UnindexedSegments: UnindexedSegments{Collection: b.Collection, Index: b.Index}}
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
