package facts

import (
	"cmp"
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
	r := missingRule{unsorted: model.TSOFromTime(time.UnixMilli(unsorted.Milliseconds()))}
	for _, x := range f.Collections {
		t := f.CollectionTotals(x.ID)
		if x.Dropped() || t.IndexedRows == t.NeedIndexRows || len(f.Among(x.ID, unbuiltSegs)) == 0 {
			continue
		}
		r.least = f.LeastIndexedRows()
		d := f.DigestOf(x.ID)
		for k, sum := range *d.missing.of(d, unbuiltSegs, r, limit) {
			if sum.segments == 0 {
				continue
			}
			m := Missing{Lack{Collection: x, Index: d.indexes[k], Segments: sum.segments, Rows: sum.rows, Oldest: sum.oldest.lowest().Time()}, sum.unsorted}
			if created := m.Index.CreatedAt; created.After(m.Oldest) || sum.untimed > 0 && !created.IsZero() {
				m.Oldest = created
			}
			for _, s := range first(d, unbuiltSegs, r, limit, func(s *model.Segment) bool { return RecordOf(s, m.Index.ID) == nil }) {
				m.First = append(m.First, s.ID)
			}
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b Missing) int { return cmp.Compare(a.Index.ID, b.Index.ID) })
	return list
}

// missingSum adds up the segments that have no record of one index.
type missingSum struct {
	segments, unsorted int
	rows               int64
	oldest             peak // of lows of the times when they were touched
	untimed            int  // segments of which no such time is known
}

// missingRule is when a segment should have a record of each index.
type missingRule struct {
	least    int64     // rows
	unsorted model.TSO // how much longer one that is not sorted has
}

func (r missingRule) due(s *model.Segment) (at model.TSO, ok bool) {
	at = touched(s)
	if !s.Sorted {
		at += min(r.unsorted, model.MaxTSO-at)
	}
	return at, s.Rows >= r.least && !s.Importing
}

func (missingRule) add(d *Digest, sum *[]missingSum, s *model.Segment) {
	if *sum == nil {
		*sum = make([]missingSum, len(d.indexes))
	}
	for k, i := range d.indexes {
		if i.Deleted || IsFlat(i.Type) || RecordOf(s, i.ID) != nil {
			continue
		}
		x := &(*sum)[k]
		x.segments++
		x.rows += s.Rows
		if !s.Sorted {
			x.unsorted++
		}
		if at := touched(s); at == 0 {
			x.untimed++
		} else {
			x.oldest.add(low(at))
		}
	}
}

func (missingRule) change(sum, left, came *[]missingSum) (next *[]missingSum, ok bool) {
	after := make([]missingSum, max(len(*sum), len(*came))) // one that nothing was added to has no length
	copy(after, *sum)
	for k := range after {
		x := &after[k]
		if k < len(*came) {
			x.join(&(*came)[k], 1)
			x.oldest.join((*came)[k].oldest)
		}
		if k < len(*left) {
			x.join(&(*left)[k], -1)
			if x.oldest, ok = x.oldest.without((*left)[k].oldest, x.segments-x.untimed); !ok {
				return nil, false
			}
		}
	}
	return &after, true
}

// join adds up what is counted.
func (x *missingSum) join(y *missingSum, sign int) {
	x.segments += sign * y.segments
	x.unsorted += sign * y.unsorted
	x.untimed += sign * y.untimed
	x.rows += int64(sign) * y.rows
}
