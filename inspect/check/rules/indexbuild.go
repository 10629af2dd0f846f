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

// buildGrace is the minimum age of a flushed segment and of an index definition before a missing build is
// reported. DataCoord looks for segments without a record once a minute (internal/datacoord/index_service.go,
// createIndexForSegmentLoop).
const buildGrace = 10 * time.Minute

// oldEnough reports whether both the segment and the index definition are old enough: the segment older than
// limit, the definition older than d.
func oldEnough(p *check.Pass, b facts.Build, limit model.TSO, d time.Duration) bool {
	return facts.UnchangedSince(b.Segment, limit) && p.OlderThan(b.Index.CreatedAt, d, true)
}

// tally counts the unfinished builds of one index.
type tally struct {
	facts.UnindexedSegments
	states  [model.IndexUnknown + 1]int
	reasons map[string]int
	nodes   map[model.NodeID]int
	tries   int64 // the most assignments of one build to a node
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

// tallies holds the tally of each index.
type tallies map[model.IndexID]*tally

func (m tallies) add(b facts.Build) {
	t := m[b.Index.ID]
	if t == nil {
		t = &tally{
			UnindexedSegments: facts.UnindexedSegments{Collection: b.Collection, Index: b.Index},
			reasons:           map[string]int{}, nodes: map[model.NodeID]int{},
		}
		m[b.Index.ID] = t
	}
	t.add(b)
}

// list returns the tallies sorted by index id.
func (m tallies) list() []*tally {
	list := make([]*tally, 0, len(m))
	for _, t := range m {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *tally) int { return cmp.Compare(a.Index.ID, b.Index.ID) })
	return list
}

// lackingRefs returns references to the collection that lacks an index and to its first segments.
func lackingRefs(t *facts.UnindexedSegments) []model.Ref {
	refs := []model.Ref{{Resource: "collections", ID: t.Collection.ID.String(), Name: t.Collection.Name}}
	refs = append(refs, facts.Refs(t.First, facts.RefSegment)...)
	return refs
}

// sealedRows returns the number of flushed rows of the collection, including those without the index.
func sealedRows(p *check.Pass, x *model.Collection) int64 { return p.CollectionTotals(x.ID).SealedRows }

// indexText names the index with its type and field, e.g. "HNSW index vec_idx on docs.vec".
func indexText(p *check.Pass, t *facts.UnindexedSegments) string {
	return fmt.Sprintf("%s index %s on %s.%s", cmp.Or(t.Index.Type, "the"), t.Index.Name,
		facts.CollectionLabel(p.Cluster, t.Collection.ID), facts.FieldLabel(t.Collection, t.Index.Field))
}

// indexImpact returns the impact of a missing index.
func indexImpact(p *check.Pass, t *facts.UnindexedSegments) string {
	loaded := p.LoadState(t.Collection.ID) != nil
	switch {
	case !facts.OnVector(t.Collection, t.Index):
		return "Filters on the field scan every row of these segments."
	case loaded:
		return fmt.Sprintf("Searches scan %s rows by brute force: %s of the collection's flushed rows.",
			words.Number(t.Rows), words.Share(facts.Ratio(t.Rows, sealedRows(p, t.Collection))))
	}
	return "The collection does not load before its indexes are built, or searches scan these rows by brute force."
}

// usualGraph and usualLists return index parameters to start with, as in Milvus's documentation.
func usualGraph() []model.Pair {
	return []model.Pair{{Key: "M", Value: "16"}, {Key: "efConstruction", Value: "200"}}
}

func usualLists() []model.Pair { return []model.Pair{{Key: "nlist", Value: "1024"}} }

// replaceParam returns a copy of the parameters with the value of one key replaced.
func replaceParam(params []model.Pair, key, value string) []model.Pair {
	list := slices.DeleteFunc(slices.Clone(params), func(kv model.Pair) bool { return kv.Key == key })
	return append(list, model.Pair{Key: key, Value: value})
}
