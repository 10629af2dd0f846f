package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// buildGrace is how old a flushed segment, and an index definition, have to be before its absence counts. DataCoord looks for segments
// without a record once a minute (internal/datacoord/index_service.go, createIndexForSegmentLoop).
const buildGrace = 10 * time.Minute

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

// rebuildHint is how to make an index anew, with some parameters, and what that costs.
func rebuildHint(c *model.Cluster, x *model.Collection, i *model.Index, params Hint) Hint {
	return python("%sc = Collection(%s); c.release(); c.drop_index(index_name=%s); c.create_index(%s, %s, index_name=%[3]s); c.load(). %[6]s",
		inDatabase(c, x), x.Name, i.Name, fieldLabel(x, i.Field), params, searchesFail(x))
}

func searchesFail(x *model.Collection) Hint {
	return advise("Searches of %s fail until it is loaded again", x.Name)
}
