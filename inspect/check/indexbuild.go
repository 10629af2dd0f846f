package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// minIndexRows is how many rows a segment needs before Milvus builds an index on it
// (indexCoord.segment.minSegmentNumRowsToEnableIndex, 1024 in every version).
const minIndexRows = 1024

// buildGrace is how old a flushed segment, and an index definition, have to be before its absence counts. DataCoord looks for segments
// without a record once a minute (internal/datacoord/index_service.go, createIndexForSegmentLoop).
const buildGrace = 10 * time.Minute

// build is the state of one index on one flushed segment that has none of use.
type build struct {
	collection *model.Collection
	index      *model.Index
	segment    *model.Segment
	record     *model.SegmentIndex // nil: none
}

// eachUnbuilt calls f for each flushed segment and live index definition of which the index is not finished. Left out
// is what Milvus builds no files for: FLAT, segments of few rows, L0.
func (p *Pass) eachUnbuilt(f func(build)) {
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

// waited reports whether segment and index have both been there for so long.
func (p *Pass) waited(b build, limit model.TSO, d time.Duration) bool {
	return settled(b.segment, limit) && p.olderThan(b.index.CreatedAt, d, true)
}

// tally adds up the unfinished builds of one index.
type tally struct {
	collection *model.Collection
	index      *model.Index
	rows       int64
	segments   []model.SegmentID
	states     [model.IndexUnknown + 1]int
	reasons    map[string]int
	nodes      map[model.NodeID]int
	unsorted   int
	oldest     time.Time
	tries      int64 // of the build that was given to a node most often
}

func (t *tally) add(b build) {
	t.rows += b.segment.Rows
	t.segments = append(t.segments, b.segment.ID)
	if !b.segment.Sorted {
		t.unsorted++
	}
	if at := b.waitsSince(); t.oldest.IsZero() || !at.IsZero() && at.Before(t.oldest) {
		t.oldest = at
	}
	if b.record == nil {
		return
	}
	t.tries = max(t.tries, b.record.Version)
	if b.record.State <= model.IndexUnknown {
		t.states[b.record.State]++
	}
	if b.record.FailReason != "" {
		t.reasons[b.record.FailReason]++
	}
	if b.record.Node != 0 {
		t.nodes[b.record.Node]++
	}
}

// tallies adds up by index.
type tallies map[model.IndexID]*tally

func (m tallies) add(b build) {
	t := m[b.index.ID]
	if t == nil {
		t = &tally{collection: b.collection, index: b.index, reasons: map[string]int{}, nodes: map[model.NodeID]int{}}
		m[b.index.ID] = t
	}
	t.add(b)
}

// list is in the order of index ids.
func (m tallies) list() []*tally {
	list := make([]*tally, 0, len(m))
	for _, t := range m {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *tally) int { return cmp.Compare(a.index.ID, b.index.ID) })
	return list
}

// maxObjects is how many further objects a finding names; its message has the whole number.
const maxObjects = 50

func (t *tally) objects() []model.Ref {
	refs := []model.Ref{{Resource: "collections", ID: t.collection.ID.String(), Name: t.collection.Name}}
	for _, id := range t.segments[:min(len(t.segments), maxObjects)] {
		refs = append(refs, refSegment(id))
	}
	return refs
}

// sealed is how many rows of the collection are flushed, of which the tally's are a part.
func (p *Pass) sealedRows(x *model.Collection) int64 { return p.CollectionTotals(x.ID).SealedRows }

// what says which index it is: "HNSW index vec_idx on docs.vec".
func (p *Pass) what(t *tally) string {
	return fmt.Sprintf("%s index %s on %s.%s", cmp.Or(t.index.Type, "the"), t.index.Name, collectionLabel(p.Cluster, t.collection.ID), fieldLabel(t.collection, t.index.Field))
}

// indexImpact says what an index that is not there costs.
func (p *Pass) indexImpact(t *tally) string {
	loaded := p.LoadState(t.collection.ID) != nil
	switch {
	case !onVector(t.collection, t.index):
		return "Filters on the field read every row of these segments."
	case loaded:
		return fmt.Sprintf("Searches compare %s rows one by one: %s of the collection's flushed rows.", number(t.rows), percent(part(t.rows, p.sealedRows(t.collection))))
	}
	return "The collection loads only when its indexes are there, or searches these rows one by one."
}

func part(a, b int64) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// most is the key with the greatest count, the first in order among equals; "" if there is none.
func most(counts map[string]int) string {
	best, n := "", 0
	for k, v := range counts {
		if v > n || v == n && k < best {
			best, n = k, v
		}
	}
	return best
}

// rebuildHint is how to make an index anew, with some parameters, and what that costs.
func rebuildHint(c *model.Cluster, x *model.Collection, i *model.Index, params Hint) Hint {
	return python("%sc = Collection(%s); c.release(); c.drop_index(index_name=%s); c.create_index(%s, %s, index_name=%[3]s); c.load(). %[6]s",
		inDatabase(c, x), x.Name, i.Name, fieldLabel(x, i.Field), params, searchesFail(x))
}

func searchesFail(x *model.Collection) Hint {
	return advise("Searches of %s fail until it is loaded again", x.Name)
}

// inDatabase is the pymilvus call that leads to a collection's database, "" for the default one.
func inDatabase(c *model.Cluster, x *model.Collection) Hint {
	return usingDatabase(c.DatabaseName(x.Database))
}

func usingDatabase(name string) Hint {
	if name == "default" {
		return ""
	}
	return python("db.using_database(%s); ", name)
}
