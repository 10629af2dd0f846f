package whatif

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kitescope/engine"
	"kitescope/engine/segment"
	"kitescope/replay/log"
)

// even lets pass even keys: half of the rows.
func even() *log.Filter {
	f := &log.Filter{}
	for segment := range 7 {
		for key := 0; key < 3000; key += 2 {
			f.Keys = append(f.Keys, engine.NumberKey(int64(segment*1_000_000+key)))
		}
	}
	return f
}

// TestFiltersOfSpans holds what filters leave out of segments that are made of rows of others against a look at each key.
func TestFiltersOfSpans(t *testing.T) {
	loaded, queries := loadedOf(t, lopsided(), 20)
	filterAll(queries)
	a, err := sample(queries, 4, segment.Params{})
	if err != nil {
		t.Fatal(err)
	}
	f := newFilters(loaded, a.requests)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var spans []span
		var want []bool
		for range 1 + r.IntN(4) {
			p := loaded.Parts[r.IntN(len(loaded.Parts))].Data
			first := r.IntN(p.Rows)
			rows := 1 + r.IntN(p.Rows-first)
			spans = append(spans, span{segment: p.ID, first: int64(first), rows: int64(rows)})
			for row := first; row < first+rows; row++ {
				want = append(want, p.Key(row).Number%2 != 0)
			}
		}
		left, took, err := f.of(spans, a.requests[0], engine.NewBitset(len(want)))
		if err != nil || took < 0 {
			t.Fatal(took, err)
		}
		for row, out := range want {
			if left.Has(row) != out {
				t.Fatalf("%v: row %d: left out %v, want %v", spans, row, left.Has(row), out)
			}
		}
	}
	if f.share() < 0.49 || f.share() > 0.51 {
		t.Errorf("%v of the rows are left out", f.share())
	}
}

func TestPredictWithFilters(t *testing.T) {
	loaded, queries := loadedOf(t, lopsided(), 20)
	costs, _, err := measured(t.Context(), loaded, queries, segment.Params{K: 5, SearchParams: engine.SearchParams{EF: 100}}, quick)
	if err != nil {
		t.Fatal(err)
	}
	filterAll(queries)
	filtered, recall, err := measured(t.Context(), loaded, queries, segment.Params{K: 5, SearchParams: engine.SearchParams{EF: 100}}, quick)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []int64{4, 6} { // row by row
		if all, few := costs[id].Distances, filtered[id].Distances; few < 0.45*all || few > 0.55*all {
			t.Errorf("segment %d: %v distances with filters, %v without", id, few, all)
		}
	}
	if recall < 0.95 { // of exact answers under the same filter
		t.Errorf("recall %v", recall)
	}
	r, err := Predict(t.Context(), Input{
		Loaded: loaded, Log: queries, Changes: []Change{{Name: "segment-rows=5k", SegmentRows: 5000}, {Name: "index", Index: true}},
		Sessions: []int{1}, Check: 60 * time.Millisecond, Limits: quick,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(fmt.Sprint(r.Notes), "the log's filters, which leave out 50% of the rows") {
		t.Errorf("notes %q", r.Notes)
	}
	for _, p := range append(r.Others, r.Base) {
		if p.Recall < 0.9 || p.Outcome.QPS <= 0 {
			t.Errorf("%s: recall %v, %v queries per second", p.Change.Name, p.Recall, p.Outcome.QPS)
		}
	}
}

// filterAll gives all requests a filter.
func filterAll(l *log.Log) {
	f := even()
	for i := range l.Requests {
		l.Requests[i].Filter = f
	}
}
