package rules

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// buildGrace is how old a flushed segment, and an index definition, have to be before its absence counts. DataCoord looks for segments
// without a record once a minute (internal/datacoord/index_service.go, createIndexForSegmentLoop).
const buildGrace = 10 * time.Minute

// waited reports whether segment and index have both been there for so long.
func waited(p *check.Pass, b facts.Build, limit model.TSO, d time.Duration) bool {
	return facts.Settled(b.Segment, limit) && p.OlderThan(b.Index.CreatedAt, d, true)
}

// tally adds up the unfinished builds of one index.
type tally struct {
	facts.Lack
	states  [model.IndexUnknown + 1]int
	reasons map[string]int
	nodes   map[model.NodeID]int
	tries   int64 // of the build that was given to a node most often
}

func (t *tally) add(b facts.Build) {
	t.Add(b)
	if b.Record == nil {
		return
	}
	t.tries = max(t.tries, b.Record.Version)
	if b.Record.State <= model.IndexUnknown {
		t.states[b.Record.State]++
	}
	if b.Record.FailReason != "" {
		t.reasons[b.Record.FailReason]++
	}
	if b.Record.Node != 0 {
		t.nodes[b.Record.Node]++
	}
}

// tallies adds up by index.
type tallies map[model.IndexID]*tally

func (m tallies) add(b facts.Build) {
	t := m[b.Index.ID]
	if t == nil {
		t = &tally{Lack: facts.Lack{Collection: b.Collection, Index: b.Index}, reasons: map[string]int{}, nodes: map[model.NodeID]int{}}
		m[b.Index.ID] = t
	}
	t.add(b)
}

// list is in the order of index ids.
func (m tallies) list() []*tally {
	list := make([]*tally, 0, len(m))
	for _, t := range m {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *tally) int { return cmp.Compare(a.Index.ID, b.Index.ID) })
	return list
}

// lacking refers to the collection of what is lacking and to its segments.
func lacking(t *facts.Lack) []model.Ref {
	refs := []model.Ref{{Resource: "collections", ID: t.Collection.ID.String(), Name: t.Collection.Name}}
	refs = append(refs, facts.Refs(t.First, facts.RefSegment)...)
	return refs
}

// sealed is how many rows of the collection are flushed, of which the tally's are a part.
func sealedRows(p *check.Pass, x *model.Collection) int64 { return p.CollectionTotals(x.ID).SealedRows }

// what says which index it is: "HNSW index vec_idx on docs.vec".
func what(p *check.Pass, t *facts.Lack) string {
	return fmt.Sprintf("%s index %s on %s.%s", cmp.Or(t.Index.Type, "the"), t.Index.Name, facts.CollectionLabel(p.Cluster, t.Collection.ID), facts.FieldLabel(t.Collection, t.Index.Field))
}

// indexImpact says what an index that is not there costs.
func indexImpact(p *check.Pass, t *facts.Lack) string {
	loaded := p.LoadState(t.Collection.ID) != nil
	switch {
	case !facts.OnVector(t.Collection, t.Index):
		return "Filters on the field scan every row of these segments."
	case loaded:
		return fmt.Sprintf("Searches scan %s rows by brute force: %s of the collection's flushed rows.", words.Number(t.Rows), words.Share(facts.Part(t.Rows, sealedRows(p, t.Collection))))
	}
	return "The collection does not load before its indexes are built, or searches scan these rows by brute force."
}

// usualGraph and usualLists are parameters to begin with, as Milvus's documentation has them.
func usualGraph() []model.Pair {
	return []model.Pair{{Key: "M", Value: "16"}, {Key: "efConstruction", Value: "200"}}
}

func usualLists() []model.Pair { return []model.Pair{{Key: "nlist", Value: "1024"}} }

// replaced are parameters with another value of one.
func replaced(params []model.Pair, key, value string) []model.Pair {
	list := slices.DeleteFunc(slices.Clone(params), func(kv model.Pair) bool { return kv.Key == key })
	return append(list, model.Pair{Key: key, Value: value})
}
