package rules_test

import (
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestDeadDataNodeLeadsToStorage checks that the finding of a dead data node has the command that checks the storage,
// because a data node that cannot write exits.
func TestDeadDataNodeLeadsToStorage(t *testing.T) {
	told := model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{{
		Role: "querynode", Node: 1,
		Config: &model.Config{
			Values: map[string]string{"commonstoragetype": "local", "localstoragepath": "/var/lib/milvus data"},
		},
	}}})
	for name, x := range map[string]struct {
		runtime *model.Runtime
		looked  bool
		want    string // "" no command
	}{
		"told":     {told, false, "kitescope diagnose --storage '/var/lib/milvus data'"},
		"not told": {nil, false, "kitescope diagnose --storage PLACE"},
		"looked":   {told, true, ""},
	} {
		var sessions []*model.Session
		for i, role := range []string{
			"rootcoord", "datacoord", "querycoord", "indexcoord", "proxy", "querynode", "indexnode",
		} {
			sessions = append(sessions, &model.Session{Role: role, Node: model.NodeID(i + 1), Version: "2.3.5"})
		}
		c := model.Build(model.Parts{Loaded: model.PartAll, Sessions: sessions})
		if x.runtime != nil {
			c = c.WithRuntime(x.runtime)
		}
		if x.looked {
			c = c.WithStorage(&model.Storage{Location: "/var/lib/milvus data"})
		}
		hint := ""
		for _, f := range check.Run(c, time.Unix(1e9, 0), []*check.Check{rulestest.ByID("role-missing")}).Findings {
			if f.Object.ID == "datanode" {
				hint = f.Advice()
			}
		}
		if !strings.Contains(hint, "when it cannot write to the storage") || !strings.Contains(hint, x.want) ||
			x.want == "" && strings.Contains(hint, "--storage") {
			t.Errorf("%s: %q, want %q", name, hint, x.want)
		}
	}
}
