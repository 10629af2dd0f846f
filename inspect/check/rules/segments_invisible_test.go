package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestSegmentsInvisible(t *testing.T) {
	hide := func(w *rulestest.World) { w.Segment(0).Invisible = true }
	rulestest.RunCases(t, rulestest.ByID("segments-invisible"), []rulestest.Case{
		{Name: "visible"},
		{
			Name: "invisible", Change: hide,
			Want: []string{"warning collections/1000 1 flushed segment of docs with 90,000 rows is invisible"},
		},
		{
			Name:   "young",
			Change: func(w *rulestest.World) { hide(w); w.Segment(0).ExpireAt = rulestest.TSOAgo(30 * time.Minute) },
		},
		{Name: "importing", Change: func(w *rulestest.World) { hide(w); w.Segment(0).State = model.SegmentImporting }},
		{Name: "dropped", Change: func(w *rulestest.World) { hide(w); w.Segment(0).State = model.SegmentDropped }},
	})
}
