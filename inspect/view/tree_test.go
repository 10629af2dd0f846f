package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/internal/table"
)

// outline returns one line per node: its kind and the end of its label.
func outline(n *Node, depth int) []string {
	label := n.Label
	if len(label) > 12 {
		label = label[len(label)-6:]
	}
	lines := []string{strings.Repeat(".", depth) + n.Kind + " " + label}
	for _, c := range n.Children {
		lines = append(lines, outline(c, depth+1)...)
	}
	return lines
}

func TestTree(t *testing.T) {
	env := smallEnv()
	n, err := NewTree(env, "docs", TreeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"collection docs",
		".partition _default",
		"..vchannel 2633v0",
		"...segment 852667",
		"....segment-index vec_hnsw",
		"...segment 852690",
		"..vchannel 2633v1",
		"...segment 852671",
		"....segment-index vec_hnsw",
		".partition 2026",
		"..vchannel 2633v0",
		"..vchannel 2633v1",
		"...segment 852672",
		"....segment-index vec_hnsw", // missing, shown as such
		".partition *",
		"..vchannel 2633v0",
		"...segment 852680",
	}
	if diff := cmp.Diff(want, outline(n, 0)); diff != "" {
		t.Error(diff)
	}
	if n.Count() != len(want) {
		t.Errorf("%d nodes, want %d", n.Count(), len(want))
	}
	n, err = NewTree(env, "articles", TreeOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(outline(n, 0), "...segment 852601") {
		t.Error("the dropped segment is missing")
	}
	if _, err := NewTree(env, "doc", TreeOptions{}); err == nil ||
		err.Error() != `no collection "doc"; did you mean docs?` {
		t.Errorf("got %v", err)
	}
}

func TestTreeOfLeftovers(t *testing.T) {
	n, err := NewTree(smallEnv(), "470590569931111111", TreeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"collection (gone)", ".partition (gone)", "..vchannel 1111v0", "...segment 060000"}
	if diff := cmp.Diff(want, outline(n, 0)); diff != "" {
		t.Error(diff)
	}
}

func TestOverview(t *testing.T) {
	o := NewOverview(smallEnv())
	for name, c := range map[string]struct {
		cell table.Cell
		want int64
	}{
		"databases": {o.Databases, 2}, "collections": {o.Collections, 2}, "partitions": {o.Partitions, 3},
		"aliases": {o.Aliases, 2},
		"indexes": {o.Indexes, 1}, "unindexed": {o.Unindexed, 1},
		"rows":     {o.Rows, 6000 + 1984 + 3000 + 420 + 3000 + 12},
		"segments": {o.Segments, 7}, "sealed": {o.SealedRows, 13996}, "undecoded": {o.Undecoded, 2},
		"vchannels": {o.VChannels, 4},
	} {
		if c.cell.Absent != table.Present || c.cell.Int != c.want {
			t.Errorf("%s: %+v, want %d", name, c.cell, c.want)
		}
	}
	if want := 100 * 6000.0 / 13996; o.Indexed.Float != want {
		t.Errorf("indexed %v, want %v", o.Indexed.Float, want)
	}
	if o.OldestChannel != "by-dev-rootcoord-dml_1_470590569932652633v1" {
		t.Errorf("the checkpoint of a dropped collection's channel does not count: %s", o.OldestChannel)
	}
	var roleNames []string
	for _, r := range o.Roles {
		roleNames = append(roleNames, r.Role)
	}
	if diff := cmp.Diff([]string{"rootcoord", "proxy", "datanode", "querynode"}, roleNames); diff != "" {
		t.Error(diff)
	}
	if len(o.Nodes) != 4 || o.Nodes[0].Replicas != 1 || !slices.Equal(o.Nodes[0].Collections, []string{"docs"}) {
		t.Errorf("query nodes: %+v", o.Nodes)
	}
}

func TestDatabasesBeforeTheyHadRecords(t *testing.T) {
	p := model.Parts{Loaded: model.PartAll, Collections: []*model.Collection{{ID: 1, Name: "a"}, {ID: 2, Name: "b"}}}
	table := databases.Table(NewEnv(model.Build(p), modeltest.Now))
	if table.Len() != 1 || table.Cell(0, databases.Column("name")).Text != "default" ||
		table.Cell(0, databases.Column("collections")).Int != 2 {
		t.Errorf("%d databases", table.Len())
	}
	p.Databases = []*model.Database{{ID: 1, Name: "default"}}
	if table = databases.Table(NewEnv(model.Build(p), modeltest.Now)); table.Len() != 1 {
		t.Errorf("%d databases, want the recorded one", table.Len())
	}
}
