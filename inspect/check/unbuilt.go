package check

import (
	"time"

	"kitescope/inspect/model"
)

// minIndexRows is how many rows a segment needs before Milvus builds an index on it
// (indexCoord.segment.minSegmentNumRowsToEnableIndex, 1024 in every version).
const minIndexRows = 1024

// partsOfBuilds is what the checks of index builds read.
const partsOfBuilds = model.PartObjects | model.PartIndexes | model.PartSegments | model.PartSegmentIndexes | model.PartServing

// build is the state of one index on one flushed segment that has none of use.
type build struct {
	collection *model.Collection
	index      *model.Index
	segment    *model.Segment
	record     *model.SegmentIndex // nil: none
}

// eachUnbuilt calls f for each flushed segment and live index definition of which the index is not finished. Left out
// is what Milvus builds no files for: FLAT, segments of few rows, L0.
func (p *Facts) eachUnbuilt(f func(build)) {
	least := p.count("indexCoord.segment.minSegmentNumRowsToEnableIndex", minIndexRows, dataCoords()...)
	for _, x := range p.Collections {
		t := p.CollectionTotals(x.ID)
		if x.Dropped() || t.IndexedRows == t.NeedIndexRows {
			continue
		}
		indexes := p.IndexesOf(x.ID)
		for _, s := range p.among(x.ID, unbuiltSegs) {
			if s.Rows < least {
				continue
			}
			for _, i := range indexes {
				if i.Deleted || flat(i.Type) {
					continue
				}
				if r := recordOf(s, i.ID); r == nil || r.State != model.IndexFinished {
					f(build{x, i, s, r})
				}
			}
		}
	}
}

// recordOf is a segment's newest record of an index, nil if there is none.
func recordOf(s *model.Segment, id model.IndexID) *model.SegmentIndex {
	var found *model.SegmentIndex
	for i := range s.Indexes {
		if r := &s.Indexes[i]; r.Index == id && !r.Deleted {
			found = r // they are sorted by build
		}
	}
	return found
}

// waitsSince is since when at most a segment could have had the index: it was written, and the index was defined. The
// record's own time is none: it is that of its id, of which RootCoord's allocator takes the time when it starts (captures of 2.3.5). What
// sorting makes of a segment has the times of its source (internal/datacoord/meta.go, completeSortCompactionMutation).
func (b build) waitsSince() time.Time {
	at := lastTouched(b.segment)
	if b.index.CreatedAt.After(at) {
		at = b.index.CreatedAt
	}
	return at
}
