package tui

import (
	"testing"

	"kitescope/inspect/diff"
	"kitescope/inspect/model"
)

// TestDiffOfNodes checks that the diff page shows the nodes that moved instead of the whole list.
func TestDiffOfNodes(t *testing.T) {
	var parts [2]model.Parts
	for i, group := range []model.ResourceGroup{{Nodes: []model.NodeID{3, 5, 6}}, {Nodes: []model.NodeID{3, 6, 12}}} {
		group.Name = "rg"
		channel := &model.VChannel{Name: "dml_0", Watched: true, Watcher: model.NodeID(8 + i)}
		parts[i] = model.Parts{
			Loaded: model.PartAll, ResourceGroups: []*model.ResourceGroup{&group},
			VChannels: []*model.VChannel{channel},
		}
	}
	parts[1].ResourceGroups = append(parts[1].ResourceGroups, &model.ResourceGroup{
		Name: "new", Nodes: []model.NodeID{14},
	})
	got := map[string]string{}
	for _, c := range diff.Compare(model.Build(parts[0]), model.Build(parts[1]), diff.Options{}).Changes {
		got[c.Object.ID] = changeText(&c)
	}
	for id, want := range map[string]string{
		"rg": "nodes -querynode-5 +querynode-12", "dml_0": "watcher datanode-8 → datanode-9",
		"new": "nodes=querynode-14 capacity=0 requests=0 limits=0",
	} {
		if got[id] != want {
			t.Errorf("%s: %q, want %q", id, got[id], want)
		}
	}
}
