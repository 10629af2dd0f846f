package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestLayoutRollback(t *testing.T) {
	old := func(text string) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Version.Text = text
			w.KeysByKind = map[string]int64{"collection": 1}
		}
	}
	rewritten := func(w *rulestest.World) { old("2.1")(w); w.Segment(0).LogKeys = true }
	rulestest.RunCases(t, rulestest.ByID("layout-rollback"), []rulestest.Case{
		{Name: "2.1 of its own", Change: old("2.1")},
		{
			Name: "rewritten segment", Change: rewritten,
			Want: []string{
				"error collections/1000 1 segment of docs, 90,000 rows, was rewritten by a newer Milvus: the running " +
					"2.1 finds no data in it",
			},
		},
		{
			Name:   "both layouts: 2.1 reads its own",
			Change: func(w *rulestest.World) { rewritten(w); w.Segment(0).TwoLayouts = true },
		},
		{
			Name:   "rewritten and dropped",
			Change: func(w *rulestest.World) { rewritten(w); w.Segment(0).State = model.SegmentDropped },
		},
		{
			Name:   "log keys are usual from 2.2 on",
			Change: func(w *rulestest.World) { old("2.2.9")(w); w.Segment(0).LogKeys = true },
		},
		{Name: "keys of a newer one", Change: func(w *rulestest.World) {
			old("2.1")(w)
			w.KeysByKind["binlog"], w.KeysByKind["channel-checkpoint"] = 4, 13
		}, Want: []string{"warning / 17 keys of Milvus 2.2 or later exist, but 2.1 is running"}},
		{
			Name:   "2.4 under 2.3",
			Change: func(w *rulestest.World) { old("2.3.5")(w); w.KeysByKind["compaction-task"] = 3 },
			Want:   []string{"warning / 3 keys of Milvus 2.4 or later"},
		},
		{Name: "2.6 under 2.5", Change: func(w *rulestest.World) {
			old("2.5.1")(w)
			w.KeysByKind["pchannel"], w.KeysByKind["compaction-task"] = 16, 3
		}, Want: []string{"warning / 16 keys of Milvus 2.6 or later"}},
		{
			Name: "deletes in L0 segments under 2.3", Change: func(w *rulestest.World) {
				old("2.3.5")(w)
				w.Segment(0).Level, w.Segment(0).DeletedRows = model.LevelL0, 77
			},
			Want: []string{
				"error collections/1000 1 L0 segment of docs holds 77 deletes that Milvus 2.3.5 cannot read",
			},
		},
		{
			Name:   "L0 segments under 2.4",
			Change: func(w *rulestest.World) { old("2.4.0")(w); w.Segment(0).Level = model.LevelL0 },
		},
		{
			Name:   "targets are written by 2.3.13, too",
			Change: func(w *rulestest.World) { old("2.3.13")(w); w.KeysByKind["target"] = 3 },
		},
		{Name: "an upgrade to 2.6 is under way", Change: func(w *rulestest.World) {
			old("2.5.12")(w)
			w.KeysByKind["pchannel"], w.Version.Others = 16, []string{"2.6.4"}
		}},
		{Name: "an upgrade to 2.4 is under way", Change: func(w *rulestest.World) {
			old("2.3.5")(w)
			w.Segment(0).Level, w.Version.Others = model.LevelL0, []string{"2.4.9"}
		}},
		{Name: "2.6 under 2.5 while 2.4 is upgraded to that", Change: func(w *rulestest.World) {
			old("2.4.9")(w)
			w.KeysByKind["pchannel"], w.Version.Others = 16, []string{"2.5.1"}
		}, Want: []string{"warning / 16 keys of Milvus 2.6 or later"}},
		{Name: "unknown version", Change: old(""), Skipped: "running version is unknown"},
	})
}
