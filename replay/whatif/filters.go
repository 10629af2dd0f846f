package whatif

import (
	"fmt"
	"slices"
	"time"

	"kitescope/engine"
	"kitescope/replay"
	"kitescope/replay/load"
)

// filters are the rows that queries leave out, worked out once for each segment that is loaded: those of segments that are made of
// their rows come from there, and cost as much a row.
type filters struct {
	loaded *replay.Loaded
	parts  map[int64]*replay.Part // by segment
	known  map[filterKey]*filtered

	rows, out float64 // that were looked at, and left out
}

// filterKey tells filters apart: by their text, lists of keys by the query.
type filterKey struct {
	segment int64
	expr    string
	query   int
}

// filtered is what a filter leaves out of a segment that is loaded, and what it takes to say so.
type filtered struct {
	left *engine.Bitset
	took time.Duration
}

// newFilters is nil where no query has a filter.
func newFilters(loaded *replay.Loaded, requests []*load.Request) *filters {
	if !slices.ContainsFunc(requests, replay.Filtered) {
		return nil
	}
	f := &filters{loaded: loaded, parts: map[int64]*replay.Part{}, known: map[filterKey]*filtered{}}
	for _, p := range loaded.Parts {
		f.parts[p.Data.ID] = p
	}
	return f
}

// of is the rows of a segment that a request leaves out, nil for none, and what it takes to find them. The segment's rows are those of
// spans, one after the other; scratch may hold them, and has as many.
func (f *filters) of(spans []span, r *load.Request, scratch *engine.Bitset) (*engine.Bitset, time.Duration, error) {
	if f == nil || !replay.Filtered(r) {
		return nil, 0, nil
	}
	scratch.Reset()
	took, at := time.Duration(0), 0
	for _, s := range spans {
		one, err := f.base(s.segment, r)
		if err != nil {
			return nil, 0, err
		}
		if len(spans) == 1 && int(s.rows) == one.left.Len() {
			return one.left, one.took, nil
		}
		for row := range int(s.rows) {
			if one.left.Has(int(s.first) + row) {
				scratch.Set(at + row)
			}
		}
		took += time.Duration(float64(one.took) * float64(s.rows) / float64(max(1, one.left.Len())))
		at += int(s.rows)
	}
	return scratch, took, nil
}

// filterRounds is how often a filter is worked out to time it: the least counts.
const filterRounds = 3

// base is what a request leaves out of a segment that is loaded.
func (f *filters) base(id int64, r *load.Request) (*filtered, error) {
	key := filterKey{segment: id, expr: r.Expr, query: r.Number}
	if r.Expr != "" {
		key.query = 0
	}
	if one := f.known[key]; one != nil {
		return one, nil
	}
	p := f.parts[id]
	if p == nil {
		return nil, fmt.Errorf("filter of query %d: segment %d is not loaded", r.Number, id)
	}
	one := &filtered{left: engine.NewBitset(p.Data.Rows)}
	for i := range filterRounds {
		began := time.Now()
		if err := f.loaded.Left(p, r, one.left); err != nil {
			return nil, err
		}
		if took := time.Since(began); i == 0 || took < one.took {
			one.took = took
		}
	}
	f.known[key] = one
	f.rows, f.out = f.rows+float64(p.Data.Rows), f.out+float64(one.left.Count())
	return one, nil
}

// share is the part of the rows that filters leave out, of those that were looked at.
func (f *filters) share() float64 { return f.out / max(1, f.rows) }
