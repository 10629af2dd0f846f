package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestReplicaShort(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("replica-short"), []rulestest.Case{
		{
			Name: "one of two", Change: func(w *rulestest.World) { w.LoadStates[0].Replicas = 2 },
			Want: []string{"warning collections/1000 collection docs: 1 of 2 replicas work"},
		},
		{Name: "none of two", Change: func(w *rulestest.World) {
			w.Replicas[0].Nodes = []model.NodeID{98}
			w.Replicas = append(w.Replicas, &model.Replica{
				ID: 3001, Collection: rulestest.CollID, Nodes: []model.NodeID{99},
			})
		}, Want: []string{"error collections/1000 none of 2 replicas works"}},
		{Name: "one without a record, one without nodes", Change: func(w *rulestest.World) {
			w.LoadStates[0].Replicas, w.Replicas[0].Nodes = 2, []model.NodeID{98}
		}, Want: []string{"error collections/1000 none of 2 replicas works"}, Advice: "creates its replicas again"},
		{
			Name: "only a node that stops", Change: func(w *rulestest.World) { w.Sessions[3].Stopping = true },
			Want: []string{"error collections/1000 none of 1 replica works"},
		},
		{Name: "as asked"},
		{Name: "only query nodes inside streaming nodes are left", Change: func(w *rulestest.World) {
			w.Replicas[0].Nodes, w.Replicas[0].StreamingNodes = []model.NodeID{99}, []model.NodeID{rulestest.NodeA}
		}, Want: []string{"error collections/1000 none of 1 replica works"}},
		{
			Name:   "not loaded",
			Change: func(w *rulestest.World) { w.LoadStates[0].Status, w.LoadStates[0].Replicas = "Invalid", 3 },
		},
		{
			Name: "no sessions at all", Change: func(w *rulestest.World) { w.Sessions = nil },
			Skipped: "no process is registered",
		},
	})
}
