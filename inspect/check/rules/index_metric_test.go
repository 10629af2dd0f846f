package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestIndexMetric(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("index-metric-mismatch"), []rulestest.Case{
		{Name: "lower case fits", Change: func(w *rulestest.World) { w.Indexes[0].Metric = "cosine" }},
		{
			Name: "unfit", Change: func(w *rulestest.World) { w.Indexes[0].Metric = "JACCARD" },
			Want: []string{"error indexes/1500 vec_idx on docs.vec: JACCARD does not exist for FloatVector"},
		},
		{
			Name: "binary", Change: func(w *rulestest.World) { w.Collections[0].Fields[1].Type = "BinaryVector" },
			Want: []string{"error indexes/1500 L2 does not exist for BinaryVector"},
		},
		{Name: "BM25 without a function", Change: func(w *rulestest.World) {
			w.Collections[0].Fields[1].Type, w.Indexes[0].Metric = "SparseFloatVector", "BM25"
		}, Want: []string{"error indexes/1500 without a function"}},
		{Name: "BM25 of a function", Change: func(w *rulestest.World) {
			f := w.Collections[0].Fields[1]
			f.Type, f.FuncOutput, w.Indexes[0].Metric = "SparseFloatVector", true, "BM25"
		}},
		{Name: "unknown type of field", Change: func(w *rulestest.World) {
			w.Collections[0].Fields[1].Type, w.Indexes[0].Metric = "ArrayOfVector", "MAX_SIM"
		}},
		{Name: "not recorded", Change: func(w *rulestest.World) { w.Indexes[0].Metric = "" }},
		{Name: "two metrics on one field", Change: func(w *rulestest.World) {
			w.Indexes = append(w.Indexes, &model.Index{
				ID: 1501, Collection: rulestest.CollID, Field: rulestest.FieldID, Name: "other", Type: "HNSW",
				Metric: "IP",
			})
		}, Want: []string{"warning fields/1000/101 vec_idx (L2) and other (IP)"}},
		{Name: "the other is deleted", Change: func(w *rulestest.World) {
			w.Indexes = append(w.Indexes, &model.Index{
				ID: 1501, Collection: rulestest.CollID, Field: rulestest.FieldID, Name: "other", Metric: "IP",
				Deleted: true,
			})
		}},
		{
			Name:   "loaded with an index that is gone",
			Change: func(w *rulestest.World) { w.LoadStates[0].Indexes[rulestest.FieldID] = 1400 },
			Want: []string{
				"warning collections/1000 docs is loaded with index 1400 on vec, but that index no longer exists",
			},
		},
	})
}
