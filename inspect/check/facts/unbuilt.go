package facts

import (
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
	least := f.SettingCount("indexCoord.segment.minSegmentNumRowsToEnableIndex", MinIndexRows, DataCoords()...)
	for _, x := range f.Collections {
		t := f.CollectionTotals(x.ID)
		if x.Dropped() || t.IndexedRows == t.NeedIndexRows {
			continue
		}
		indexes := f.IndexesOf(x.ID)
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
