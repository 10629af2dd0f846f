package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestIndexFailed(t *testing.T) {
	fail := func(w *rulestest.World) {
		w.Index(0).State, w.Index(0).FailReason = model.IndexFailed, "no space left on device"
	}
	rulestest.RunCases(t, rulestest.ByID("index-failed"), rulestest.Configured([]rulestest.Case{
		{Name: "finished"},
		{
			Name: "failed", Change: fail,
			Want: []string{"error indexes/1500 failed on 1 segment, 90,000 rows: no space left on device"},
		},
		{
			Name: "without a reason", Change: func(w *rulestest.World) { w.Index(0).State = model.IndexFailed },
			Want: []string{"error indexes/1500 no reason recorded"},
		},
		{
			Name: "of a field without vectors", Change: func(w *rulestest.World) { fail(w); w.Indexes[0].Field = 102 },
			Want: []string{"warning indexes/1500 docs.tag"},
		},
		{Name: "retried", Change: func(w *rulestest.World) { w.Index(0).State = model.IndexRetry }},
		{Name: "definition deleted", Change: func(w *rulestest.World) { fail(w); w.Indexes[0].Deleted = true }},
		{
			Name:   "segment dropped",
			Change: func(w *rulestest.World) { fail(w); w.Segment(0).State = model.SegmentDropped },
		},
		{Name: "flat", Change: func(w *rulestest.World) { fail(w); w.Indexes[0].Type = "FLAT" }},
		{
			Name: "not read", Change: func(w *rulestest.World) { fail(w); w.Loaded &^= model.PartIndexes },
			Skipped: "could not be read",
		},
	}))
}
