package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestOrphanSegments(t *testing.T) {
	stray := func(w *rulestest.World) *model.Segment {
		s := rulestest.WellSegment(9000, "by-dev-rootcoord-dml_9_900v0")
		s.Collection, s.Partition = 900, 901
		w.Segments = append(w.Segments, s)
		return s
	}
	rulestest.Hold(t, rulestest.Named("orphan-segments"), []rulestest.Verdict{
		{Name: "none"},
		{Name: "collection gone", Change: func(w *rulestest.World) { stray(w) }, Want: []string{"info segments/9000 1 segment with 90,000 rows belongs to collection 900 (gone)"}},
		{Name: "much storage", Change: func(w *rulestest.World) { stray(w).Bytes = 2 << 30 }, Want: []string{"warning segments/9000 collection 900"}},
		{Name: "dropped", Change: func(w *rulestest.World) { stray(w).State = model.SegmentDropped }},
		{Name: "of a collection that is being dropped", Change: func(w *rulestest.World) { w.Collections[0].State = "Dropping"; w.Partitions = nil }},
		{Name: "partition gone", Change: func(w *rulestest.World) { w.Segment(0).Partition = 1002 }, Want: []string{"info collections/1000 1 segment with 90,000 rows belongs to dropped partitions of docs"}},
		{Name: "of all partitions", Change: func(w *rulestest.World) { w.Segment(0).Partition = -1 }},
		{Name: "both", Change: func(w *rulestest.World) { stray(w); w.Segment(0).Partition = 1002 }, Want: []string{"info segments/9000 collection 900", "info collections/1000 partitions of docs"}},
		{Name: "collections not read", Change: func(w *rulestest.World) { stray(w); w.Loaded &^= model.PartObjects }, Skipped: "could not be read"},
	})
}
