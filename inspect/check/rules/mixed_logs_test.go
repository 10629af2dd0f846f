package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestMixedLogs(t *testing.T) {
	mixed := func(w *rulestest.World) { w.Segment(0).MixedLogs = true }
	rulestest.Hold(t, rulestest.Named("mixed-logs"), []rulestest.Verdict{
		{Name: "none"},
		{Name: "mixed", Change: mixed, Want: []string{"warning collections/1000 1 segment of docs with 90,000 rows has insert logs of two storage versions"}},
		{Name: "dropped", Change: func(w *rulestest.World) { mixed(w); w.Segment(0).State = model.SegmentDropped }},
		{Name: "of a collection that is being dropped", Change: func(w *rulestest.World) { mixed(w); w.Collections[0].State = "Dropping" }},
		{Name: "logs not read", Change: func(w *rulestest.World) { mixed(w); w.Loaded &^= model.PartLogs }, Skipped: "could not be read"},
	})
}
