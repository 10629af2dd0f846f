package rules_test

import (
	"testing"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestResourceGroupShort(t *testing.T) {
	group := func(g model.ResourceGroup, replicas bool) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.ResourceGroups = append(w.ResourceGroups, &g)
			if replicas {
				w.Replicas = append(w.Replicas, &model.Replica{
					ID: 3001, Collection: rulestest.CollID, ResourceGroup: g.Name, Nodes: g.Nodes,
				})
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("resource-group-short"), []rulestest.Case{
		{
			Name:   "as many as asked",
			Change: group(model.ResourceGroup{Name: "rg", Nodes: []model.NodeID{4}, Requests: 1, Limits: 2}, true),
		},
		{
			Name:   "fewer",
			Change: group(model.ResourceGroup{Name: "rg", Nodes: []model.NodeID{4}, Requests: 2, Limits: 2}, true),
			Want:   []string{"warning resource-groups/rg resource group rg requests 2 query nodes and has 1"},
		},
		{
			Name:   "assigned, and gone",
			Change: group(model.ResourceGroup{Name: "rg", Nodes: []model.NodeID{4, 99}, Requests: 2, Limits: 2}, true),
			Want:   []string{"warning resource-groups/rg has 1"},
		},
		{
			Name:   "capacity of 2.3",
			Change: group(model.ResourceGroup{Name: "rg", Capacity: 2, Nodes: []model.NodeID{4}, Requests: -1}, false),
			Want:   []string{"warning resource-groups/rg requests 2 query nodes"},
		},
		{
			Name:   "none, with replicas",
			Change: group(model.ResourceGroup{Name: "rg", Nodes: []model.NodeID{99}, Requests: 1}, true),
			Want:   []string{"error resource-groups/rg has no registered query node for its 1 replica"},
		},
		{
			Name: "none, without replicas", Change: group(model.ResourceGroup{Name: "rg", Requests: 1}, false),
			Want: []string{"warning resource-groups/rg requests 1 query node and has 0"},
		},
		{Name: "empty and wants none", Change: group(model.ResourceGroup{Name: "rg"}, false)},
		{
			Name: "stopping nodes do not count", Change: func(w *rulestest.World) { w.Sessions[3].Stopping = true },
			Want: []string{"error resource-groups/" + facts.DefaultGroup + " has no registered query node"},
		},
		{
			Name: "replica of no group", Change: func(w *rulestest.World) { w.Replicas[0].ResourceGroup = "gone" },
			Want: []string{"error replicas/3000 in resource group gone, which does not exist"},
		},
		{
			Name: "no query node", Change: func(w *rulestest.World) { w.Sessions = w.Sessions[:3] },
			Skipped: "no query node is registered",
		},
		{Name: "2.1 has none", Change: func(w *rulestest.World) { w.Version.Text = "2.1" }, Skipped: "Milvus 2.1"},
	})
}
