package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestCollectionUnindexed(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("collection-unindexed"), []rulestest.Case{
		{
			Name: "loaded without", Change: func(w *rulestest.World) { w.Indexes[0].Deleted = true },
			Want: []string{"warning collections/1000 docs.vec has no index over 360,000 rows"},
		},
		{
			Name: "not loaded", Change: func(w *rulestest.World) { w.Indexes, w.LoadStates = nil, nil },
			Want: []string{"info collections/1000 360,000 rows"},
		},
		{Name: "few rows", Change: func(w *rulestest.World) { w.Indexes, w.Segments = nil, w.Segments[:1] }},
		{Name: "a second field that is not loaded", Change: func(w *rulestest.World) {
			w.Collections[0].Fields = append(w.Collections[0].Fields, &model.Field{
				ID: 103, Name: "spare", Type: "SparseFloatVector",
			})
			w.LoadStates[0].Fields = []model.FieldID{100, rulestest.FieldID, 102}
		}, Want: []string{"info collections/1000 docs.spare has no index over 360,000 rows"}},
		{Name: "a second field that is loaded", Change: func(w *rulestest.World) {
			w.Collections[0].Fields = append(w.Collections[0].Fields, &model.Field{
				ID: 103, Name: "spare", Type: "SparseFloatVector",
			})
		}, Want: []string{"warning collections/1000 docs.spare"}},
		{
			Name: "2.1 searches without", Change: func(w *rulestest.World) { w.Indexes, w.Version.Text = nil, "2.1" },
			Want: []string{"info collections/1000 360,000 rows"},
		},
		{
			Name: "only an index on another field", Change: func(w *rulestest.World) { w.Indexes[0].Field = 102 },
			Want: []string{"warning collections/1000 docs.vec"},
		},
		{Name: "dropped", Change: func(w *rulestest.World) { w.Indexes, w.Collections[0].State = nil, "Dropped" }},
	})
}
