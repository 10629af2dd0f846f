package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// TestSlowRequests checks that the slowest request is first, that missing values are unknown and not 0, and
// that a request leads to its collection.
func TestSlowRequests(t *testing.T) {
	at := time.Date(2026, 11, 26, 1, 49, 47, 0, time.UTC)
	r := model.BuildRuntime(model.RuntimeParts{
		Nodes: []*model.LiveNode{
			{
				Role: "proxy", Node: 4,
				Process: &model.Process{Calls: []model.Call{{Method: slowCall, Outcome: model.Answered}}},
			},
			{
				Role: "proxy", Node: 5,
				Process: &model.Process{
					Calls: []model.Call{{Method: slowCall, Outcome: model.Denied, Reason: "401 Unauthorized"}},
				},
			},
			{Role: "proxy", Node: 6, System: &model.System{Version: "2.4.1"}, Process: &model.Process{}},
			{Role: "proxy", Node: 7, Reason: "refused"},
			{Role: "querynode", Node: 8},
		},
		Processes: []*model.Process{{SlowRequests: []model.SlowRequest{
			{
				Source: model.FromProxy, Node: 4, LocalTime: "26.11.", Type: "Query", Collection: "pages",
				Filtered: model.No, Took: 6 * time.Second,
			},
			{
				Source: model.FromProxy, Node: 4, EndedAt: at, Type: "HybridSearch", Collection: "docs", Expr: "a == ?",
				Filtered: model.Yes, NQ: 2, TopK: 50, DefaultConsistency: true, Took: 7 * time.Second, Trace: "t1",
			},
			{Source: model.FromProxy, Node: 4},
		}}},
		Logged: []model.SlowRequest{
			{
				Source: model.FromAccessLog, EndedAt: at, Type: "Insert", Database: "shop", Collection: "docs",
				Took: time.Second, SDK: "Python-2.6.0", Status: "Failed",
			},
		},
	})
	c := model.Build(model.Parts{
		Loaded:    model.PartCatalog,
		Databases: []*model.Database{{ID: 1, Name: "default"}, {ID: 2, Name: "shop"}},
		Collections: []*model.Collection{
			{ID: 10, Database: 1, Name: "docs", ConsistencyLevel: "Bounded"},
			{ID: 20, Database: 2, Name: "docs"},
			{ID: 30, Database: 1, Name: "gone", State: "Dropped"},
		},
		Aliases: []*model.Alias{{Name: "pages", Collection: 10}},
	}).WithRuntime(r)
	g := NewGrid(slowRequests.Table(NewEnv(c, at)), nil, nil)
	if g.Len() != 4 {
		t.Fatalf("%d rows", g.Len())
	}
	for row, want := range []map[string]table.Cell{
		{
			"took_seconds": {Int: 7e9}, "ended_at": {Int: at.UnixNano()}, "proxy": {Text: "proxy-4"},
			"database": unknown(), "collection_id": {Int: 10}, "nq": {Int: 2}, "topk": {Int: 50},
			"consistency_level": {Text: "default (Bounded)"}, "expr": {Text: "a == ?"}, "status": unknown(),
			"sdk": unknown(), "id": {Text: "proxy-4/2026-11-26T01:49:47Z/7/t1"},
		},
		{
			"ended_at": unknown(), "told_at": {Text: "26.11."}, "nq": none(), "topk": none(), "expr": none(),
			"consistency_level": unknown(), "collection_id": {Int: 10}, "trace_id": unknown(),
		},
		{
			"took_seconds": {Int: 1e9}, "proxy": unknown(), "collection_id": {Int: 20}, "expr": unknown(), "nq": none(),
			"status": {Text: "Failed"}, "sdk": {Text: "Python-2.6.0"}, "source": {Text: "access-log"},
		},
		{
			"took_seconds": unknown(), "collection": unknown(), "collection_id": none(), "request": unknown(),
			"nq": unknown(),
		},
	} {
		for name, is := range want {
			if diff := cmp.Diff(is, g.Table.Cell(row, slowRequests.Column(name))); diff != "" {
				t.Errorf("row %d: %s (-want +got):\n%s", row, name, diff)
			}
		}
	}
	if owner, ok := g.Table.Owner(0); !ok || owner.ID != "10" {
		t.Errorf("the first belongs to %+v", owner)
	}
	if _, ok := g.Table.Owner(3); ok {
		t.Error("nobody knows whose the last is")
	}
	want := []string{
		"proxy-5: denied: 401 Unauthorized (if authorization is enabled, it requires --milvus-user and a password " +
			"since 2.5.27 and 2.6.10)",
		"proxy-6: its list was not requested: it requires Milvus 2.5, and this is 2.4.1", "proxy-7: refused",
	}
	if got := missingRequests(c); !slices.Equal(got, want) {
		t.Errorf("untold: %s", strings.Join(got, "\n"))
	}
	if got := missingRequests(c.WithRuntime(nil)); !slices.Equal(got, []string{"no proxy was queried"}) {
		t.Errorf("untold: %q", got)
	}
	if got := missingRequests(c.WithRuntime(model.BuildRuntime(model.RuntimeParts{}))); !slices.Equal(got,
		[]string{"no proxy is among the queried processes"}) {
		t.Errorf("untold: %q", got)
	}
}
