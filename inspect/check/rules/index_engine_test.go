package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestIndexTooNew(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("index-too-new"), []rulestest.Case{
		{
			Name: "newer", Change: func(w *rulestest.World) { w.Index(0).EngineVersion = 7 },
			Want: []string{
				"error collections/1000 1 segment of docs, 90,000 rows, has index files of version 7, but " +
					"querynode-4 cannot read them: it reads 0 to 6",
			},
		},
		{
			Name: "older than a node reads",
			Change: func(w *rulestest.World) {
				w.Sessions[3].IndexEngine.Minimal = 7
				w.Sessions[3].IndexEngine.Current = 8
			},
			Want: []string{"error collections/1000 4 segments"},
		},
		{Name: "the node that cannot stops", Change: func(w *rulestest.World) {
			w.Another("querynode", 14)
			w.Sessions[len(w.Sessions)-1].IndexEngine, w.Sessions[len(w.Sessions)-1].Stopping = model.EngineRange{
				Current: 5,
			}, true
		}},
		{Name: "a version that was asked for", Change: func(w *rulestest.World) {
			w.Index(0).EngineVersion = 7
			w.Config = []*model.ConfigEntry{{Name: "dataCoord/targetVecIndexVersion", Value: "7"}}
		}, Want: []string{"warning collections/1000 but querynode-4 may be unable to read"}},
		{Name: "no files", Change: func(w *rulestest.World) { w.Index(0).EngineVersion, w.Index(0).Files = 7, 0 }},
		{
			Name:   "dropped segment",
			Change: func(w *rulestest.World) { w.Index(0).EngineVersion, w.Segment(0).State = 7, model.SegmentDropped },
		},
		{
			Name: "nodes do not say",
			Change: func(w *rulestest.World) {
				w.Index(0).EngineVersion, w.Sessions[3].IndexEngine = 7, model.EngineRange{}
			},
			Skipped: "no query node reports",
		},
	})
}
