package rules_test

import (
	"math"
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestSmallSegments(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("small-segments"), rulestest.Configured([]rulestest.Case{
		{Name: "a few", Change: func(w *rulestest.World) { w.AddSmallSegments(10, 2*time.Hour) }},
		{
			Name: "some", Change: func(w *rulestest.World) { w.AddSmallSegments(11, 2*time.Hour) },
			Want: []string{
				"info collections/1000 11 segments of docs are small (1,100 rows in total) and could be 10 fewer",
			},
		},
		{
			Name: "many", Change: func(w *rulestest.World) { w.AddSmallSegments(60, 2*time.Hour) },
			Want: []string{
				"warning collections/1000 60 segments of docs are small (6,000 rows in total) and could be 59 fewer",
			},
		},
		{
			Name:   "many, not loaded",
			Change: func(w *rulestest.World) { w.AddSmallSegments(60, 2*time.Hour); w.LoadStates = nil },
			Want:   []string{"info collections/1000 60 segments of docs are small"},
		},
		{Name: "few rows that are large", Change: func(w *rulestest.World) {
			for _, s := range w.AddSmallSegments(60, 2*time.Hour) {
				s.Logs = []model.FieldLogs{
					{Kind: model.InsertLog, MemoryBytes: 300 << 20}, {Kind: model.InsertLog, MemoryBytes: 250 << 20},
				}
			}
		}},
		{Name: "few rows that are small", Change: func(w *rulestest.World) {
			for _, s := range w.AddSmallSegments(60, 2*time.Hour) {
				s.Logs = []model.FieldLogs{{Kind: model.InsertLog, MemoryBytes: 10 << 20}}
			}
		}, Want: []string{"warning collections/1000 60 segments of docs are small"}},
		{
			Name: "damaged counts", Change: func(w *rulestest.World) {
				for i, s := range w.AddSmallSegments(60, 2*time.Hour) {
					s.Rows = []int64{math.MinInt64, -1, 0}[i%3]
				}
			},
			Want: []string{
				"warning collections/1000 60 segments of docs are small (0 rows in total) and could be 59 fewer",
			},
		},
		{Name: "young", Change: func(w *rulestest.World) { w.AddSmallSegments(60, 50*time.Minute) }},
		{Name: "just above half", Change: func(w *rulestest.World) {
			for _, s := range w.AddSmallSegments(60, 2*time.Hour) {
				s.Rows = 50_000
			}
		}},
		{Name: "in a partition each", Change: func(w *rulestest.World) {
			for i, s := range w.AddSmallSegments(60, 2*time.Hour) {
				s.Partition = model.PartitionID(5000 + i)
			}
		}},
		{Name: "two in each of many partitions", Change: func(w *rulestest.World) {
			for i, s := range w.AddSmallSegments(60, 2*time.Hour) {
				s.Partition = model.PartitionID(5000 + i/2)
			}
		}},
		{Name: "interleaved with another channel", Change: func(w *rulestest.World) {
			for i, s := range w.AddSmallSegments(60, 2*time.Hour) {
				s.VChannel = []string{rulestest.Channel0, rulestest.Channel1}[i%2]
			}
		}, Want: []string{"warning collections/1000 could be 58 fewer"}},
		{Name: "clustered ones are not merged", Change: func(w *rulestest.World) {
			for _, s := range w.AddSmallSegments(60, 2*time.Hour) {
				s.Level = model.LevelL2
			}
		}},
		{Name: "invisible, importing, L0 and growing ones", Change: func(w *rulestest.World) {
			for i, s := range w.AddSmallSegments(60, 2*time.Hour) {
				s.Invisible, s.Importing = i%4 == 0, i%4 == 1
				if i%4 == 2 {
					s.Level = model.LevelL0
				}
				if i%4 == 3 {
					s.State = model.SegmentGrowing
				}
			}
		}},
		{
			Name: "collection dropped",
			Change: func(w *rulestest.World) {
				w.AddSmallSegments(60, 2*time.Hour)
				w.Collections[0].State = "Dropping"
			},
		},
	}))
	rulestest.RunCases(t, rulestest.ByID("small-segments"),
		[]rulestest.Case{
			{
				Name:    "processes were not asked",
				Change:  func(w *rulestest.World) { w.AddSmallSegments(10, 2*time.Hour) },
				Skipped: "): the nodes were not queried",
			},
		})
	r := rulestest.RunCheck(t, rulestest.ByID("small-segments"), func(w *rulestest.World) {
		w.AddSmallSegments(60, 2*time.Hour)
		w.Collections[0].Properties = []model.Pair{{Key: "collection.autocompaction.enabled", Value: "false"}}
	})
	if e := r.Findings[0].Evidence; e[len(e)-1].Name != "collection.autocompaction.enabled" ||
		e[len(e)-1].Value != "false" {
		t.Errorf("the property that explains it is missing: %v", e)
	}
}
