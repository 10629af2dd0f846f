package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestStaleSession(t *testing.T) {
	stale := func(o model.Outcome) func(*rulestest.World) {
		return func(w *rulestest.World) { w.Serve(); w.Silence(rulestest.NodeB, o) }
	}
	rulestest.RunCases(t, rulestest.ByID("stale-session"), []rulestest.Case{
		{
			Name: "another id answers", Change: stale(model.Stale),
			Want: []string{"error nodes/querynode-8 querynode-8: another process responds at 10.0.0.8:1"},
		},
		{
			Name: "another cluster answers", Change: stale(model.OtherCluster),
			Want: []string{"error nodes/querynode-8 a process of another cluster responds"},
		},
		{
			Name: "of no use any more",
			Change: func(w *rulestest.World) {
				stale(model.Stale)(w)
				w.Replicas[0].Nodes = []model.NodeID{rulestest.NodeA}
			},
			Want: []string{"warning nodes/querynode-8 another process"},
		},
		{Name: "nobody answers", Change: stale(model.Refused)},
		{
			Name: "nobody was asked", Change: func(w *rulestest.World) { w.Serve(); w.SilenceAll(model.NotAsked) },
			Skipped: "no process was queried",
		},
	})
}
