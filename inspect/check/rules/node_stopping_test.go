package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestStopping(t *testing.T) {
	stopping := func(w *rulestest.World) { w.Serve(); w.Sessions[len(w.Sessions)-1].Stopping = true }
	empty := func(w *rulestest.World) { stopping(w); w.Query(rulestest.NodeB).Distribution = &model.Distribution{} }
	leaving := func(w *rulestest.World) {
		w.Serve()
		w.Replicas[0].Nodes, w.Replicas[0].RONodes = []model.NodeID{rulestest.NodeA}, []model.NodeID{rulestest.NodeB}
	}
	rulestest.RunCases(t, rulestest.ByID("stopping-node-serving"), []rulestest.Case{
		{
			Name: "serves", Change: stopping,
			Want: []string{"warning nodes/querynode-8 is stopping and still serves 2 segments and 1 shard"},
		},
		{
			Name:   "by its own word",
			Change: func(w *rulestest.World) { w.Serve(); w.Query(rulestest.NodeB).State = "Stopping" },
			Want:   []string{"warning nodes/querynode-8 is stopping and still serves"},
		},
		{Name: "empty", Change: empty},
		{
			Name:   "does not say",
			Change: func(w *rulestest.World) { stopping(w); w.Silence(rulestest.NodeB, model.TimedOut) },
			Want: []string{
				"warning nodes/querynode-8 did not report what it serves; other nodes request 1 segment and 1 shard",
			},
		},
		{
			Name: "leaving a replica", Change: leaving,
			Want: []string{
				"warning nodes/querynode-8 is leaving the replicas of docs and still serves 2 segments and 1 shard " +
					"in them",
			},
		},
		{
			Name: "has left a replica",
			Change: func(w *rulestest.World) {
				leaving(w)
				w.Query(rulestest.NodeB).Distribution = &model.Distribution{}
			},
		},
	})
	rulestest.RunCases(t, rulestest.ByID("node-stopping"), []rulestest.Case{
		{
			Name: "empty", Change: empty,
			Want: []string{"info nodes/querynode-8 query node querynode-8 is stopping and no longer serves anything"},
		},
		{Name: "serves", Change: stopping},
		{
			Name:   "a data node, of which nobody was asked",
			Change: func(w *rulestest.World) { w.Sessions[4].Stopping = true },
			Want:   []string{"info nodes/datanode-5 data node datanode-5 is stopping"},
		},
		{Name: "nobody"},
	})
}
