package rules_test

import (
	"strings"
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestIndexUnfit(t *testing.T) {
	grow := func(w *rulestest.World, rows int64) {
		for _, s := range w.Segments {
			s.Rows = rows
		}
	}
	lists := func(kind, nlist string) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Indexes[0].Type, w.Indexes[0].Params = kind, []model.Pair{{Key: "nlist", Value: nlist}}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("index-unfit"), []rulestest.Case{
		{Name: "flat and small", Change: func(w *rulestest.World) { w.Indexes[0].Type = "FLAT" }},
		{
			Name: "flat and large", Change: func(w *rulestest.World) { w.Indexes[0].Type = "FLAT"; grow(w, 250_000) },
			Want: []string{"warning indexes/1500 docs.vec: FLAT index over 1,000,000 rows"},
		},
		{
			Name:   "flat, large, not loaded",
			Change: func(w *rulestest.World) { w.Indexes[0].Type = "FLAT"; grow(w, 250_000); w.LoadStates = nil },
			Want:   []string{"info indexes/1500 1,000,000 rows"},
		},
		{Name: "fair lists", Change: lists("IVF_FLAT", "1024")},
		{
			Name: "too many lists", Change: lists("IVF_FLAT", "4096"),
			Want: []string{"info indexes/1500 4,096 lists for at most 90,000 rows per segment: 22 rows per list"},
		},
		{
			Name: "too few lists", Change: func(w *rulestest.World) { lists("IVF_SQ8", "16")(w); grow(w, 1_000_000) },
			Want: []string{"info indexes/1500 16 lists for 1,000,000 rows"},
		},
		{Name: "few lists, small segments", Change: lists("IVF_SQ8", "16")},
		{Name: "lists not said", Change: lists("IVF_SQ8", "many")},
	})
	if cost := rulestest.RunCheck(t, rulestest.ByID("index-unfit"), func(w *rulestest.World) {
		w.Indexes[0].Type = "FLAT"
		grow(w, 250_000)
	}).Findings[0].Cost; cost != 1 {
		t.Errorf("the only collection is compared row by row and costs %v of searches", cost)
	}
}

// TestUnfitListsAdvised checks that an index rebuilt as advised has no finding any more, however small its
// segments are.
func TestUnfitListsAdvised(t *testing.T) {
	for _, rows := range []int64{1100, 3000, 24_000, 90_000} {
		with := func(nlist string) func(w *rulestest.World) {
			return func(w *rulestest.World) {
				w.Indexes[0].Type, w.Indexes[0].Params = "IVF_FLAT", []model.Pair{{Key: "nlist", Value: nlist}}
				for _, s := range w.Segments {
					s.Rows = rows
				}
			}
		}
		found := rulestest.RunCheck(t, rulestest.ByID("index-unfit"), with("65536")).Findings
		if len(found) != 1 {
			t.Fatalf("%d rows: %d findings", rows, len(found))
		}
		_, advised, _ := strings.Cut(string(found[0].Fix[0].Command), `"nlist": `)
		advised, _, _ = strings.Cut(advised, "}")
		if again := rulestest.RunCheck(t, rulestest.ByID("index-unfit"), with(advised)).Findings; len(again) > 0 {
			t.Errorf("%d rows, as advised: %s", rows, again[0].Message)
		}
	}
}
