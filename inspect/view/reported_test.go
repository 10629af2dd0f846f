package view

import (
	"slices"
	"strings"
	"testing"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/internal/table"
)

// TestReportedUnknown checks the reasons for missing reports of proxies, and that the health of a queue that
// Milvus does not check is unknown.
func TestReportedUnknown(t *testing.T) {
	t.Parallel()
	c := modeltest.Small()
	lacks := func(r *model.Runtime, name string) string {
		resource, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(resource.Missing(c.WithRuntime(r)), "; ")
	}
	call := func(outcome model.Outcome, reason string) *model.Process {
		return &model.Process{
			Calls: []model.Call{
				{Role: "proxy", Node: 4, Method: "GET /api/v1/_cluster/clients", Outcome: outcome, Reason: reason},
			},
		}
	}
	denied := model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{
		{Role: "proxy", Node: 4, Process: call(model.Denied, "401 (common.security.adminAuthEnabled is true)")},
	}})
	if got := lacks(denied, "clients"); !strings.HasPrefix(got,
		"proxy-4: denied: 401 (common.security.adminAuthEnabled is true)") {
		t.Errorf("denied: %s", got)
	}
	// One of two proxies answered, so the clients of the other are unknown.
	half := model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{
		{Role: "proxy", Node: 4, Process: call(model.Answered, "")},
		{Role: "proxy", Node: 9, Reason: "connection refused"},
	}})
	if got := lacks(half, "clients"); got != "proxy-9: connection refused" {
		t.Errorf("half of them: %s", got)
	}
	if got := lacks(nil, "clients"); got != "no proxy was queried" {
		t.Errorf("not asked: %s", got)
	}
	// Only the proxy with the lower id is queried for dependencies, so the other is not missing.
	one := model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{
		{
			Role: "proxy", Node: 4, System: &model.System{Version: "3.0.1"},
			Process: &model.Process{
				Calls: []model.Call{
					{
						Role: "proxy", Node: 4, Method: "GET /api/v1/_cluster/dependencies", Outcome: model.TimedOut,
						Reason: "no response within 10 s",
					},
				},
			},
		},
		{Role: "proxy", Node: 9, System: &model.System{Version: "3.0.1"}, Process: &model.Process{}},
	}})
	if got := lacks(one, "dependencies"); got != "proxy-4: timed out: no response within 10 s" {
		t.Errorf("one of two is asked: %s", got)
	}
	if got := lacks(one, "clients"); !strings.HasSuffix(got, "proxy-9: its list was not requested") {
		t.Errorf("not asked: %s", got)
	}
	skipped := model.BuildRuntime(model.RuntimeParts{
		Skipped: []model.Skipped{{What: "dependencies reported by proxy-4", Reason: "the message queue is Pulsar"}},
	})
	if got := lacks(skipped, "dependencies"); got != "dependencies reported by proxy-4: the message queue is Pulsar" {
		t.Errorf("skipped: %s", got)
	}
	if got := lacks(skipped, "clients"); got != "no proxy is among the queried processes" {
		t.Errorf("none is new enough: %s", got)
	}
	told := model.BuildRuntime(model.RuntimeParts{Processes: []*model.Process{{
		Dependencies: []model.Dependency{
			{Proxy: 4, Kind: "message queue", Type: "woodpecker", Reason: "Milvus does not check this kind of queue"},
		},
		Connections: []model.Connection{{Proxy: 4, ID: "7"}},
	}}})
	env := NewEnv(c.WithRuntime(told), modeltest.Now)
	for name, columns := range map[string][]string{
		"dependencies": {"healthy"}, "clients": {"host", "sdk", "sdk_version", "active_at"},
	} {
		resource, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		rows := resource.Table(env)
		if rows.Len() != 1 {
			t.Fatalf("%s: %d rows", name, rows.Len())
		}
		for i := range resource.Columns {
			if name := resource.Columns[i].Name; name == "findings" || name == "worst" {
				continue // no checks ran
			}
			if got := rows.Cell(0, i).Absent == table.Unknown; got != slices.Contains(columns,
				resource.Columns[i].Name) {
				t.Errorf("%s.%s: unknown %v", name, resource.Columns[i].Name, got)
			}
		}
	}
}
