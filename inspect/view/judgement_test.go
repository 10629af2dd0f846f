package view

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// nodesWithFindings returns five query nodes, three of them with findings.
func nodesWithFindings() *Env {
	p := model.Parts{Loaded: model.PartAll}
	for id := range 5 {
		p.Sessions = append(p.Sessions, &model.Session{Node: model.NodeID(id + 1), Role: "querynode", Address: "h:1"})
	}
	node := func(id string) Ref { return Ref{Resource: "nodes", ID: "querynode-" + id} }
	return NewEnv(model.Build(p), time.Unix(1, 0)).WithJudgement(NewJudgement([]Finding{
		{Objects: []Ref{node("4"), node("4")}, Severity: Error, Check: "node-idle"},
		{Objects: []Ref{{}, node("2"), node("4")}, Severity: Warning, Check: "imbalance-rows"},
		{Objects: []Ref{node("2")}, Severity: Warning, Check: "imbalance-rows"},
		{
			Objects: []Ref{node("5"), {Resource: "collections", ID: "querynode-1"}}, Severity: Info,
			Check: "bad-switches",
		},
	}))
}

// TestFindingsOfRows checks that each row counts the findings about its object once, and that rows can be
// selected and sorted by them.
func TestFindingsOfRows(t *testing.T) {
	env := nodesWithFindings()
	if diff := cmp.Diff(map[string]table.Cell{
		"querynode-1": table.Tally{}.Cell(nil),
		"querynode-2": table.Tally{Warnings: 2}.Cell([]string{"imbalance-rows"}),
		"querynode-3": table.Tally{}.Cell(nil),
		"querynode-4": table.Tally{Errors: 1, Warnings: 1}.Cell([]string{"node-idle", "imbalance-rows"}),
		"querynode-5": table.Tally{Infos: 1}.Cell([]string{"bad-switches"}),
	}, cells(t, env, "nodes", "findings")); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	for _, x := range []struct{ where, sort, want string }{
		{"findings>0", "", "2 4 5"},
		{"findings=0", "", "1 3"},
		{"findings>=2", "", "2 4"},
		{"worst=ERROR", "", "4"},
		{"worst!=info", "", "1 2 3 4"},
		{"worst=", "", "1 3"},
		{"", "-findings", "4 2 5 1 3"},
		{"", "findings", "1 3 5 2 4"},
		{"findings>0", "worst", "5 2 4"},
	} {
		where, err := ParseSelection(nodes, strings.Fields(x.where))
		if err != nil {
			t.Fatal(err)
		}
		g, err := Select(nodes.Table(env), Query{Where: where, Sort: strings.Fields(x.sort)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range g.Len() {
			got = append(got, strings.TrimPrefix(g.Table.Ref(g.Row(i)).ID, "querynode-"))
		}
		if strings.Join(got, " ") != x.want {
			t.Errorf("%s --sort %s: %s, want %s", x.where, x.sort, strings.Join(got, " "), x.want)
		}
	}
}

// TestEqualJudgements checks that judgements are equal if and only if they have the same results for the same
// objects.
func TestEqualJudgements(t *testing.T) {
	node := func(id string) Ref { return Ref{Resource: "nodes", ID: id} }
	idle := Finding{Objects: []Ref{node("4")}, Severity: Error, Check: "node-idle"}
	uneven := Finding{Objects: []Ref{node("4"), node("5")}, Severity: Warning, Check: "imbalance-rows"}
	with := func(change func(*Finding)) *Judgement {
		f := idle
		change(&f)
		return NewJudgement([]Finding{f, uneven})
	}
	base := NewJudgement([]Finding{idle, uneven})
	for name, x := range map[string]struct {
		a, b *Judgement
		want bool
	}{
		"same":           {base, NewJudgement([]Finding{idle, uneven}), true},
		"nobody":         {nil, nil, true},
		"nothing found":  {NewJudgement(nil), NewJudgement(nil), true},
		"nobody judged":  {nil, NewJudgement(nil), false},
		"judged":         {NewJudgement(nil), nil, false},
		"less":           {base, NewJudgement([]Finding{idle}), false},
		"other object":   {base, with(func(f *Finding) { f.Objects = []Ref{node("5")} }), false},
		"other kind":     {base, with(func(f *Finding) { f.Objects = []Ref{{Resource: "segments", ID: "4"}} }), false},
		"other severity": {base, with(func(f *Finding) { f.Severity = Info }), false},
		"other check":    {base, with(func(f *Finding) { f.Check = "node-gone" }), false},
	} {
		if got := x.a.Equal(x.b); got != x.want {
			t.Errorf("%s: %v, want %v", name, got, x.want)
		}
	}
}

// TestFindingsUnknown checks that findings are unknown without a Judgement, and that tables omit the columns.
func TestFindingsUnknown(t *testing.T) {
	env := nodesWithFindings()
	title := func(env *Env, show table.Show) (titles []string) {
		for _, i := range nodes.Table(env).(table.Context).DefaultColumns(show) {
			if name := nodes.Columns[i].Name; name == "findings" || name == "worst" {
				titles = append(titles, name)
			}
		}
		return titles
	}
	if got := title(env, table.Always); !cmp.Equal(got, []string{"findings"}) {
		t.Errorf("a judged table has %q", got)
	}
	if got := title(env, table.Hidden); !cmp.Equal(got, []string{"findings", "worst"}) {
		t.Errorf("JSON of what was judged has %q", got)
	}
	env = env.WithJudgement(nil)
	if got := title(env, table.Hidden); got != nil {
		t.Errorf("JSON of what nobody judged has %q", got)
	}
	for id, c := range cells(t, env, "nodes", "findings") {
		if c.Absent != table.Unknown {
			t.Errorf("%s: %+v", id, c)
		}
	}
	where, _ := ParseSelection(nodes, []string{"findings=0"})
	if _, err := Select(nodes.Table(env), Query{Where: where}); err == nil {
		t.Error("nobody judged, and there is an answer")
	}
}

// manyStates returns a loaded, an unloaded and a loading collection, with segments in every state that
// decides whether a query node should serve them.
func manyStates() *Env {
	p := model.Parts{
		Loaded:      model.PartAll,
		Collections: []*model.Collection{{ID: 1, Name: "loaded"}, {ID: 2, Name: "cold"}, {ID: 3, Name: "loading"}},
		LoadStates: []*model.LoadState{
			{Collection: 1, Status: "Loaded", LoadType: "LoadCollection", Released: []model.PartitionID{12}},
			{Collection: 3, Status: "Loading", LoadType: "LoadCollection"},
		},
		Sessions: []*model.Session{{Node: 7, Role: "querynode"}},
	}
	for _, s := range []model.Segment{
		{ID: 1, Collection: 1, State: model.SegmentFlushed, Rows: 10}, // on no node
		{ID: 2, Collection: 1, State: model.SegmentFlushed, Rows: 10}, // on a node
		{ID: 3, Collection: 1, State: model.SegmentDropped, Rows: 10},
		{ID: 4, Collection: 1, State: model.SegmentGrowing},
		{ID: 5, Collection: 1, State: model.SegmentFlushed},
		{ID: 6, Collection: 1, State: model.SegmentFlushed, Rows: 10, Level: model.LevelL0},
		{ID: 7, Collection: 1, State: model.SegmentFlushed, Rows: 10, Invisible: true},
		{ID: 8, Collection: 1, Partition: 12, State: model.SegmentFlushed, Rows: 10},
		{ID: 9, Collection: 2, State: model.SegmentFlushed, Rows: 10},
		{ID: 10, Collection: 3, State: model.SegmentFlushed, Rows: 10},
		{ID: 11, Collection: 1, State: model.SegmentImporting, Rows: 10},
	} {
		p.Segments = append(p.Segments, &s)
	}
	c := model.Build(p).
		WithRuntime(model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{{
			Role: "querynode", Node: 7,
			Distribution: &model.Distribution{
				Sealed: []model.ServedSegment{{ID: 2, Collection: 1}},
			},
		}}}))
	return NewEnv(c, time.Unix(1, 0))
}

// TestNotServed checks that served_as is NotServed only for segments that a query node should serve.
func TestNotServed(t *testing.T) {
	want := map[string]table.Cell{"1": text("NotServed"), "2": text("Sealed")}
	for id := range strings.FieldsSeq("3 4 5 6 7 8 9 10 11") {
		want[id] = none()
	}
	if diff := cmp.Diff(want, cells(t, manyStates(), "segments", "served_as")); diff != "" {
		t.Errorf("served_as (-want +got):\n%s", diff)
	}
}

// TestOmitted checks that lists leave out dropped segments unless a selector is about them.
func TestOmitted(t *testing.T) {
	rows := segments.Table(manyStates())
	for _, x := range []struct {
		where   string
		len     int
		skipped int
	}{
		{"", 10, 1},
		{"rows>0", 8, 1},
		{"coll=cold", 1, 0},
		{"state=dropped", 1, 0},
		{"state!=flushed", 3, 0},
		{"3", 1, 0},
		{"id>2", 9, 0},
		{"dropped_at=", 11, 0},
	} {
		where, err := ParseSelection(segments, strings.Fields(x.where))
		if err != nil {
			t.Fatal(err)
		}
		g, err := Select(rows, Query{Where: where, Omit: true})
		if err != nil || g.Len() != x.len || g.Skipped != x.skipped || g.Matched != x.len {
			t.Errorf("%q: %d rows of %d, %d left out, %v; want %d and %d", x.where, g.Len(), g.Matched, g.Skipped, err,
				x.len, x.skipped)
		}
		if all, err := Select(rows, Query{Where: where}); err != nil || all.Len() != x.len+x.skipped {
			t.Errorf("%q: %d rows of all", x.where, all.Len())
		}
	}
	g, err := Select(rows, Query{Omit: true, Limit: 3, Sort: []string{"id"}})
	if err != nil || g.Len() != 3 || g.Matched != 10 || g.Table.Ref(g.Row(2)).ID != "4" {
		t.Errorf("with a limit: %d of %d", g.Len(), g.Matched)
	}
}
