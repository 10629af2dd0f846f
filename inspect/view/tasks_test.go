package view_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/table"
)

// withTasks returns a cluster with a compaction and an import in etcd, and reported as the tasks that processes
// report.
func withTasks(reported []*model.Task, calls ...model.Call) *model.Cluster {
	c := model.Build(model.Parts{
		Loaded:      model.PartAll,
		Databases:   []*model.Database{{ID: 1, Name: "default"}},
		Collections: []*model.Collection{{ID: 7, Database: 1, Name: "docs"}},
		Segments:    []*model.Segment{{ID: 70, Collection: 7, Partition: 71, VChannel: "ch"}},
		Tasks: []*model.Task{
			{
				ID: 5, Type: "compaction", SubType: "MixCompaction", Collection: 7, State: "pipelining",
				Key: "datacoord-meta/compaction-task/5",
			},
			{ID: 4, Type: "import", Collection: 7, State: "InProgress", Key: "datacoord-meta/import-task/4"},
		},
	})
	return c.WithRuntime(model.BuildRuntime(model.RuntimeParts{
		Nodes: []*model.LiveNode{{Role: "querycoord", Node: 3, Outcome: model.Answered, Calls: calls}}, Tasks: reported,
	}))
}

func reportedTasks() []*model.Task {
	by := func(role string, node model.NodeID, x model.TaskReport) *model.TaskReport {
		x.Role, x.Node = role, node
		return &x
	}
	return []*model.Task{
		{
			ID: 5, Type: "compaction", SubType: "MixCompaction", Collection: 7, State: "executing",
			Report: by("datacoord", 2, model.TaskReport{State: "executing", Started: "2026-11-20 08:29:00"}),
		},
		{
			ID: 6, Type: "compaction", Collection: 7, State: "failed", Reason: "no such key",
			Report: by("datacoord", 2, model.TaskReport{State: "failed"}),
		},
		{
			ID: 21, Type: "segment-task", SubType: "Move", Collection: 7, State: "started",
			Report: by("querycoord", 3, model.TaskReport{State: "started", Source: "balance_checker"}),
		},
		{
			ID: 70, Type: "sync", Segments: []model.SegmentID{70},
			Report: by("datanode", 9, model.TaskReport{Mark: "08:29:59"}),
		},
		{
			ID: 70, Type: "sync", Segments: []model.SegmentID{70},
			Report: by("datanode", 9, model.TaskReport{Mark: "08:30:00", Took: 1e9}),
		},
	}
}

func TestReportedTasks(t *testing.T) {
	r, err := view.Find("tasks")
	if err != nil {
		t.Fatal(err)
	}
	rows := func(c *model.Cluster) (lines []string, g *view.Grid) {
		t.Helper()
		g, err := view.Select(r.Table(&view.Env{Cluster: c}),
			view.Query{
				Columns: []string{
					"type", "id", "collection", "state", "told_state", "known_from", "source", "took_seconds",
				},
			})
		if err != nil {
			t.Fatal(err)
		}
		for i := range g.Len() {
			var line []string
			for _, j := range g.Columns {
				switch cell := g.Table.Cell(g.Row(i), j); {
				case cell.Absent == table.Unknown:
					line = append(line, "?")
				case cell.Absent != table.Present:
					line = append(line, "-")
				default:
					line = append(line, strings.TrimSpace(cell.Text+" "+strings.Join(cell.List, "+")))
				}
			}
			lines = append(lines, strings.Join(line, "|"))
		}
		return lines, g
	}
	lines, g := rows(withTasks(reportedTasks()))
	want := []string{
		"compaction||docs|pipelining|executing|etcd+datacoord-2|-|-",
		"compaction||docs|failed|failed|datacoord-2|-|-",
		"import||docs|InProgress|?|etcd|?|?",
		"segment-task||docs|started|started|querycoord-3|balance_checker|-",
		"sync||docs|-|-|datanode-9|-|-",
		"sync||docs|-|-|datanode-9|-|",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	refs := map[view.Ref]bool{}
	for i := range g.Len() {
		refs[g.Table.Ref(g.Row(i))] = true
	}
	if len(refs) != len(want) {
		t.Errorf("%d names for %d tasks", len(refs), len(want))
	}
	if text := view.MissingTasks(g); text != "" {
		t.Errorf("all is told, and %q", text)
	}
	c := withTasks(reportedTasks())
	if lines, _ = rows(c.WithRuntime(nil)); len(lines) != 2 || !strings.HasSuffix(lines[0], "|pipelining|?|?|?|?") {
		t.Errorf("nobody was asked: %q", lines)
	}
	for reason, c := range map[string]*model.Cluster{
		"tasks_all of querycoord-3 (unimplemented)": withTasks(reportedTasks(), model.Call{
			Role: "querycoord", Node: 3, Method: "GetMetrics", About: "tasks_all", Outcome: model.Unimplemented,
		}),
		"only since Milvus 2.5": withTasks(nil),
	} {
		if _, g := rows(c); !strings.Contains(view.MissingTasks(g), reason) {
			t.Errorf("%q does not say %q", view.MissingTasks(g), reason)
		}
	}
}
