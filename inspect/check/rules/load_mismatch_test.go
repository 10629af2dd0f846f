package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestLoadMismatch(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("load-state-mismatch"), []rulestest.Case{
		{
			Name:   "QueryCoord does not have it",
			Change: func(w *rulestest.World) { w.Serve(); w.Runtime.Loaded = []*model.LoadedCollection{} },
			Want:   []string{"error collections/1000 is Loaded in etcd, but QueryCoord does not list it"},
		},
		{
			Name:   "QueryCoord has a part",
			Change: func(w *rulestest.World) { w.Serve(); w.Runtime.Loaded[0].Percent = 60 },
			Want:   []string{"warning collections/1000 QueryCoord has only 60% of it"},
		},
		{
			Name:   "not available",
			Change: func(w *rulestest.World) { w.Serve(); w.Runtime.Loaded[0].Available = false },
			Want:   []string{"warning collections/1000 not available"},
		},
		{
			Name: "QueryCoord has just started", Change: func(w *rulestest.World) {
				w.Serve()
				w.Runtime.Loaded[0].Percent = 0
				w.Live("querycoord").System.StartedAt = w.Now.Add(-10 * time.Second)
			},
			Want: []string{
				"info collections/1000 QueryCoord has only 0% of it: it started 10 s ago and is still collecting",
			},
		},
		{
			Name: "etcd does not have it", Change: func(w *rulestest.World) { w.Serve(); w.LoadStates = nil },
			Want: []string{"info collections/1000 is loaded in QueryCoord, but not in etcd"},
		},
		{Name: "loading", Change: func(w *rulestest.World) {
			w.Serve()
			w.LoadStates[0].Status, w.Runtime.Loaded[0].Percent = "Loading", 60
		}},
		{Name: "a partition of it is being loaded", Change: func(w *rulestest.World) {
			w.Serve()
			w.LoadStates[0].Partitions = []model.PartitionLoad{
				{Partition: rulestest.PartID, Status: "Loaded"}, {Partition: rulestest.PartID + 1, Status: "Loading"},
			}
			w.Runtime.Loaded[0].Percent = 50
		}, Want: []string{"info collections/1000 is Loaded, QueryCoord has 50% of it: partitions are being loaded"}},
		{
			Name: "QueryCoord did not say", Change: func(w *rulestest.World) { w.Serve(); w.Runtime.Loaded = nil },
			Skipped: "QueryCoord did not report its loaded collections",
		},
	})
}
