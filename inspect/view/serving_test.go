package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// cells returns the cells of one column, by the id of their rows.
func cells(t *testing.T, env *Env, resource, column string) map[string]table.Cell {
	t.Helper()
	r, err := Find(resource)
	if err != nil {
		t.Fatal(err)
	}
	table, found := r.Table(env), map[string]table.Cell{}
	for i := range table.Len() {
		found[table.Ref(i).ID] = table.Cell(i, r.Column(column))
	}
	return found
}

// TestLoadPercent checks the loaded share: QueryCoord's value takes precedence over the record, which only
// 2.1 has, and a missing value is unknown, not 0.
func TestLoadPercent(t *testing.T) {
	p := model.Parts{Loaded: model.PartAll}
	for id, l := range map[model.CollectionID]model.LoadState{
		1: {Status: "Loading"}, 2: {Status: "Loaded"}, 3: {Status: "Loading", Percent: new(int32(40))},
		4: {Status: "Loading", Percent: new(int32(0))}, 5: {Status: "Loading"},
	} {
		l.Collection = id
		p.Collections = append(p.Collections, &model.Collection{ID: id, Name: "c" + id.String()})
		p.LoadStates = append(p.LoadStates, &l)
	}
	p.Collections = append(p.Collections, &model.Collection{ID: 6, Name: "c6"})
	c := model.Build(p)
	asked := c.WithRuntime(model.BuildRuntime(model.RuntimeParts{Loaded: []*model.LoadedCollection{
		{Collection: 1, Percent: 87},
		{Collection: 2, Percent: 100},
		{Collection: 3, Percent: 41},
		{Collection: 4, Percent: 0},
	}}))
	percent := func(x float64) table.Cell { return table.Cell{Float: x} }
	for _, tt := range []struct {
		name    string
		cluster *model.Cluster
		want    map[string]table.Cell
	}{
		{
			"not asked", c,
			map[string]table.Cell{"1": unknown(), "2": none(), "3": percent(40), "4": percent(0), "5": unknown()},
		},
		{
			"QueryCoord was silent", c.WithRuntime(model.BuildRuntime(model.RuntimeParts{})),
			map[string]table.Cell{"1": unknown(), "2": none(), "3": percent(40), "4": percent(0), "5": unknown()},
		},
		{
			"asked", asked,
			map[string]table.Cell{
				"1": percent(87), "2": percent(100), "3": percent(41), "4": percent(0), "5": unknown(),
			},
		},
	} {
		env := NewEnv(tt.cluster, p.Origin.Taken)
		if diff := cmp.Diff(tt.want, cells(t, env, "load-states", "percent")); diff != "" {
			t.Errorf("%s: load-states (-want +got):\n%s", tt.name, diff)
		}
		tt.want["6"] = none() // not loaded
		if diff := cmp.Diff(tt.want, cells(t, env, "collections", "load_percent")); diff != "" {
			t.Errorf("%s: collections (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestGrowingRowsOfAHandover checks that rows of a growing segment do not count again if the leader still has
// it while its sealed form is loaded.
func TestGrowingRowsOfAHandover(t *testing.T) {
	p := model.Parts{
		Loaded: model.PartAll, Collections: []*model.Collection{{ID: 1}},
		Sessions:  []*model.Session{{Node: 7, Role: "querynode"}},
		VChannels: []*model.VChannel{{Name: "c", Collection: 1}},
		Segments: []*model.Segment{
			{ID: 21, Collection: 1, VChannel: "c", State: model.SegmentFlushed, Rows: 300},
			{ID: 22, Collection: 1, VChannel: "c", State: model.SegmentGrowing},
		},
	}
	c := model.Build(p).
		WithRuntime(model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{{
			Role: "querynode", Node: 7,
			Distribution: &model.Distribution{
				Sealed: []model.ServedSegment{{ID: 21, Collection: 1, Channel: "c"}},
				Leaders: []model.LeaderView{
					{Channel: "c", Collection: 1, GrowingRows: 500, Growing: []model.GrowingView{{ID: 21}, {ID: 22}}},
				},
			},
		}}}))
	env := NewEnv(c, p.Origin.Taken)
	for _, tt := range []struct {
		resource, column string
		want             int64
	}{
		{"nodes", "growing_rows", 200},
		{"nodes", "growing_segments", 1},
		{"vchannels", "served_growing_rows", 200},
		{"nodes", "sealed_segments", 1},
	} {
		for id, got := range cells(t, env, tt.resource, tt.column) {
			if got.Absent != table.Present || got.Int != tt.want {
				t.Errorf("%s of %s %s: %+v, want %d", tt.column, tt.resource, id, got, tt.want)
			}
		}
	}
	if live := nodeLiveOf(env, p.Sessions[0]); live.GrowingRows.Int != 200 || live.Growing.Int != 1 ||
		live.SealedRows.Int != 300 {
		t.Errorf("the overview: %+v", live)
	}
}
