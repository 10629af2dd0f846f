package rules_test

import (
	"testing"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestReplicaDeadNode(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("replica-dead-node"), []rulestest.Case{
		{
			Name: "one of two", Change: func(w *rulestest.World) {
				w.Replicas[0].Nodes = []model.NodeID{rulestest.NodeA, 99}
				w.ResourceGroups[0].Nodes = []model.NodeID{rulestest.NodeA, 99}
			},
			Want: []string{
				"warning nodes/querynode-99 querynode-99 is gone but still listed in 1 replica and resource group " +
					"__default_resource_group",
			},
		},
		{
			Name: "all", Change: func(w *rulestest.World) { w.Replicas[0].Nodes = []model.NodeID{98, 99} },
			Want: []string{
				"error nodes/querynode-98 docs has no other node", "error nodes/querynode-99 docs has no other node",
			},
		},
		{Name: "all of one of two replicas", Change: func(w *rulestest.World) {
			w.Replicas = append(w.Replicas, &model.Replica{
				ID: 3001, Collection: rulestest.CollID, Nodes: []model.NodeID{99},
			})
		}, Want: []string{"warning nodes/querynode-99 querynode-99 is gone but still listed in 1 replica"}},
		{
			Name:   "the default group alone, and nobody was asked",
			Change: func(w *rulestest.World) { w.ResourceGroups[0].Nodes = []model.NodeID{rulestest.NodeA, 99} },
			Want:   []string{"info nodes/querynode-99 querynode-99 is gone but still listed in resource group"},
		},
		{
			Name: "another group alone", Change: func(w *rulestest.World) {
				w.ResourceGroups = append(w.ResourceGroups, &model.ResourceGroup{
					Name: "tenants", Capacity: 1, Nodes: []model.NodeID{99}, Requests: -1, Limits: -1,
				})
			},
			Want: []string{
				"warning nodes/querynode-99 querynode-99 is gone but still listed in resource group tenants",
			},
		},
		{Name: "QueryCoord has it no more", Change: func(w *rulestest.World) {
			w.Serve()
			w.ResourceGroups[0].Nodes = []model.NodeID{rulestest.NodeA, rulestest.NodeB, 99}
			w.Replicas[0].Nodes = []model.NodeID{rulestest.NodeA, rulestest.NodeB, 99}
			w.Runtime.Groups = []*model.LiveResourceGroup{{Name: facts.DefaultGroup, Capacity: 1000000, Available: 2}}
		}, Want: []string{"info nodes/querynode-99 QueryCoord itself no longer has it"}},
		{
			Name: "QueryCoord counts it", Change: func(w *rulestest.World) {
				w.Serve()
				w.ResourceGroups = append(w.ResourceGroups, &model.ResourceGroup{
					Name: "tenants", Capacity: 1, Nodes: []model.NodeID{99}, Requests: -1, Limits: -1,
				})
				w.Runtime.Groups = []*model.LiveResourceGroup{{Name: "tenants", Capacity: 1, Available: 1}}
			},
			Want: []string{
				"warning nodes/querynode-99 querynode-99 is gone but still listed in resource group tenants",
			},
		},
		{Name: "QueryCoord names it", Change: func(w *rulestest.World) {
			w.Serve()
			w.Replicas[0].Nodes = []model.NodeID{rulestest.NodeA, rulestest.NodeB, 99}
			w.Runtime.Replicas[0].Nodes = []model.NodeID{rulestest.NodeA, rulestest.NodeB, 99}
		}, Want: []string{"warning nodes/querynode-99 querynode-99 is gone but still listed in 1 replica"}},
		{
			Name: "a read-only one", Change: func(w *rulestest.World) { w.Replicas[0].RONodes = []model.NodeID{99} },
			Want: []string{"info nodes/querynode-99 is gone but still listed in 1 replica, as read-only"},
		},
		{
			Name: "no sessions at all", Change: func(w *rulestest.World) { w.Sessions = nil },
			Skipped: "no process is registered",
		},
		{Name: "2.1", Change: func(w *rulestest.World) { w.Version.Text = "2.1" }, Skipped: "Milvus 2.1"},
	})
}
