package balance_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"kitescope/inspect/balance"
	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/meta/capturedtest"
	"kitescope/inspect/model"
)

// capture loads a captured cluster with the recorded runtime data of its processes: responses, or metrics only.
func capture(t testing.TB, name string) *model.Cluster {
	t.Helper()
	folder := filepath.Join("..", "..", "testdata", "snapshots", name)
	c := capturedtest.Cluster(t, meta.Want{Parts: model.PartAll}, folder, capturedtest.Snapshot)
	d := live.NewDecoder()
	for _, name := range []string{"runtime.jsonl.gz", "metrics"} {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if _, err := live.ReadFile(path, d.Add); err != nil {
			t.Fatal(err)
		}
	}
	return c.WithRuntime(d.Runtime("recording", folder))
}

// clientSegments returns the sealed segments that Milvus's own client reported: node, collection, rows.
func clientSegments(t *testing.T, name string) map[model.NodeID]map[string]served {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "snapshots", name, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Databases map[string]map[string]struct {
			Segments []struct {
				Nodes []model.NodeID `json:"nodeIds"`
				Rows  int64          `json:"num_rows"`
			} `json:"query_segments"`
		} `json:"dbs"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	found := map[model.NodeID]map[string]served{}
	for db, collections := range file.Databases {
		for name, c := range collections {
			if db != "default" {
				name = db + "." + name
			}
			for _, s := range c.Segments {
				for _, id := range s.Nodes {
					if found[id] == nil {
						found[id] = map[string]served{}
					}
					x := found[id][name]
					found[id][name] = served{x.Segments + 1, x.Rows + s.Rows}
				}
			}
		}
	}
	return found
}

type served struct {
	Segments int
	Rows     int64
}

func surveySegments(s *balance.Survey) map[model.NodeID]map[string]served {
	found := map[model.NodeID]map[string]served{}
	for _, g := range s.Groups {
		for _, x := range g.Shares {
			if x.Sealed == 0 {
				continue
			}
			if found[x.Node] == nil {
				found[x.Node] = map[string]served{}
			}
			found[x.Node][g.Name()] = served{x.Sealed, x.SealedRows}
		}
	}
	return found
}

// TestSurveyEqualsTheClient compares surveys of idle captures with the report of Milvus's client. A survey uses
// the served data of the nodes, or their metrics if that was not recorded.
func TestSurveyEqualsTheClient(t *testing.T) {
	for _, name := range []string{"healthy", "unflushed", "t1", "t5", "t6"} {
		t.Run(name, func(t *testing.T) {
			name := "cluster-2.3.5-" + name
			s := balance.NewSurvey(capture(t, name))
			if diff := gocmp.Diff(clientSegments(t, name), surveySegments(s)); diff != "" {
				t.Error(diff)
			}
			for _, n := range s.Nodes {
				if !n.Known || n.FromMetrics != strings.HasPrefix(name, "cluster-2.3.5-t") {
					t.Errorf("%s: known %v, from metrics %v", n.Name(), n.Known, n.FromMetrics)
				}
			}
		})
	}
}

// TestUnderloadedNode compares the survey with the fixture's README.
func TestUnderloadedNode(t *testing.T) {
	s := balance.NewSurvey(capture(t, "cluster-2.3.5-t7"))
	type node struct {
		Sealed, Growing, Leaders, Channels int
		GrowingRows                        int64
	}
	got := map[model.NodeID]node{}
	var rows int64
	for _, n := range s.Nodes {
		got[n.Node] = node{n.Sealed, n.Growing, n.Leaders, n.Channels, n.GrowingRows}
		rows += n.GrowingRows
		if n.Unrecorded != 0 || n.IndexedRows+n.BruteRows != n.Rows() || n.State() != "" {
			t.Errorf("%s: %+v", n.Name(), n)
		}
	}
	want := map[model.NodeID]node{
		10: {10, 1, 4, 4, 1697}, 13: {10, 3, 4, 4, 3500 + 1672 + 1802}, 14: {10, 2, 4, 4, 1631 + 1698},
		19: {3, 0, 0, 0, 0},
	}
	if diff := gocmp.Diff(want, got); diff != "" || rows != 12_000 {
		t.Errorf("%d growing rows; %s", rows, diff)
	}
	if a := s.Auto; !a.Known || a.On || a.From != "querycoord-16" || a.Key != "queryCoord/autoBalance" {
		t.Errorf("auto-balance: %+v", a)
	}
	// A collection with FLAT, or without a segment that is large enough for an index, has no indexed rows.
	for _, g := range s.Groups {
		flat := map[string]bool{"users_flat_ip": true, "small_truth": true, "tenant_a.orders": true}[g.Name()]
		for _, x := range g.Shares {
			if flat && x.IndexedRows > 0 || !flat && x.IndexedRows != x.SealedRows-x.CopiedRows {
				t.Errorf("%s on %s: %d of %d sealed rows are indexed", g.Name(), x.Name(), x.IndexedRows, x.SealedRows)
			}
		}
	}
}

// TestCompactedSegmentCountsOnce checks a capture (t7) in which node 14 still had a sealed segment whose
// compaction another node had loaded. The sealed rows of its collection are the rows of the flushed segments in
// memory: the 40,000 inserted first.
func TestCompactedSegmentCountsOnce(t *testing.T) {
	c := capture(t, "cluster-2.3.5-t7")
	s := balance.NewSurvey(c)
	i := slices.IndexFunc(s.Groups, func(g *balance.Group) bool { return g.Name() == "items_hnsw_l2" })
	g := s.Groups[i]
	var want int64
	segments := 0
	for _, x := range c.SegmentsOf(g.ID) {
		if x.State == model.SegmentFlushed &&
			slices.ContainsFunc(c.Runtime.Served(x.ID), func(s model.Served) bool { return s.Sealed != nil }) {
			segments, want = segments+1, want+x.Rows
		}
	}
	rows := g.Rows()
	for _, x := range g.Shares {
		rows -= x.GrowingRows
	}
	if x := g.Share(14); x.Copies != 1 || x.CopiedRows != 2007 {
		t.Errorf("node 14: %d copies with %d rows", x.Copies, x.CopiedRows)
	}
	if rows != want || g.Sealed != segments || rows != 40_000 {
		t.Errorf("%d segments with %d rows, want %d with %d", g.Sealed, rows, segments, want)
	}
}

// TestPlansOfUnderloadedNode checks that plans predict their result, move only existing segments, and use the idle
// node.
func TestPlansOfUnderloadedNode(t *testing.T) {
	c := capture(t, "cluster-2.3.5-t7")
	s := balance.NewSurvey(c)
	for _, by := range []balance.Measure{balance.ByCost, balance.ByRows, balance.ByMemory} {
		moved := map[model.NodeID]int{}
		for _, p := range s.Plans(s.Groups, balance.Options{By: by}) {
			if after := by.MaxMean(&p.After); p.Reached != (after <= balance.DefaultGoal+1e-9) ||
				after > by.MaxMean(&p.Before)+1e-9 {
				t.Errorf("%s by %s: %v to %v, reached %v (%s)", p.Group.Name(), by, by.MaxMean(&p.Before), after,
					p.Reached, p.Why)
			}
			if !p.Reached && p.Why == "" {
				t.Errorf("%s by %s: no word about why %v is not reached", p.Group.Name(), by, p.Options.Goal)
			}
			named := 0
			for _, call := range p.Calls() {
				named += len(call.Segments)
				for _, id := range call.Segments {
					if on := c.Runtime.Served(id); len(on) != 1 || on[0].Node.Node != call.From {
						t.Errorf("%s: segment %d is not on %d", call, id, call.From)
					}
				}
			}
			if named != len(p.Moves) {
				t.Errorf("%s: %d moves, %d in calls", p.Group.Name(), len(p.Moves), named)
			}
			for _, m := range p.Moves {
				moved[m.To]++
			}
		}
		if moved[19] < 3 {
			t.Errorf("by %s only %d segments go to the idle node: %v", by, moved[19], moved)
		}
	}
}

// TestMilvusMovesNothing simulates Milvus's balancer on captures in which, with auto-balance on, no segment moved for
// 90 seconds. It must find no move.
func TestMilvusMovesNothing(t *testing.T) {
	for _, name := range []string{"cluster-2.3.5-healthy", "cluster-2.3.5-unflushed"} {
		s := balance.NewSurvey(capture(t, name))
		if !s.Auto.Known || !s.Auto.On {
			t.Errorf("%s: auto-balance %+v", name, s.Auto)
		}
		for _, g := range s.Groups {
			v := s.Milvus(g)
			if !v.Modelled || v.Balancer != "ScoreBasedBalancer" || len(v.Moves) > 0 || v.Acts {
				t.Errorf("%s, %s: %+v", name, g.Name(), v)
			}
		}
	}
}

// TestMilvusMovesAsMilvusDid simulates Milvus's balancer from a distribution that was recorded on a real 2.3.5
// when auto-balance was switched on and query node 11 was empty (testdata/rebalance-2.3.5.jsonl: that moment, and
// 76 seconds later). How replicas divide the remaining segments depends on Milvus's processing order. The result
// for the large collection, and the amount that goes to the new node, do not.
func TestMilvusMovesAsMilvusDid(t *testing.T) {
	before, after := rebalance(t)
	s := balance.NewSurvey(before)
	for name, want := range map[string]map[model.NodeID]int{
		"items_hnsw_l2": {3: 3, 6: 3, 10: 5, 11: 7}, "docs_hnsw_cos": {11: 2}, "small_truth": {11: 1},
		"tenant_a.orders": {11: 1},
	} {
		for _, g := range s.Groups {
			if g.Name() != name {
				continue
			}
			v := s.Milvus(g)
			got := map[model.NodeID]int{}
			for _, x := range g.Shares {
				got[x.Node] = x.Sealed
			}
			for _, m := range v.Moves {
				got[m.From]--
				got[m.To]++
			}
			for node, n := range want {
				if end := after[g.Collection.Name][node]; end != n || got[node] != n {
					t.Errorf("%s on node %d: %d segments worked out, %d in the end, %d expected", name, node, got[node],
						end, n)
				}
			}
		}
	}
}

// rebalance returns the recorded cluster before, with the collections and growing rows of a capture made minutes
// later, and the final number of segments of each collection on each node.
func rebalance(t *testing.T) (before *model.Cluster, after map[string]map[model.NodeID]int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "rebalance-2.3.5.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	later := capture(t, "cluster-2.3.5-t5")
	p := model.Parts{
		Loaded: model.PartAll, Databases: later.Databases, Collections: later.Collections, Indexes: later.Indexes,
		Version: later.Version,
	}
	ids := map[string]model.CollectionID{}
	for _, c := range later.Collections {
		ids[c.Name] = c.ID
	}
	nodes := map[model.NodeID]*model.Distribution{3: {}, 6: {}, 10: {}, 11: {}}
	after = map[string]map[model.NodeID]int{}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var state struct {
			Segments map[string][3]json.RawMessage `json:"seg"`
		}
		if err := json.Unmarshal([]byte(line), &state); err != nil {
			t.Fatal(err)
		}
		for id, x := range state.Segments {
			var name string
			var on []model.NodeID
			s := &model.Segment{State: model.SegmentFlushed}
			for to, from := range map[any]json.RawMessage{
				&name: x[0], &on: x[1], &s.Rows: x[2], &s.ID: json.RawMessage(id),
			} {
				if err := json.Unmarshal(from, to); err != nil {
					t.Fatal(err)
				}
			}
			if i > 0 {
				if after[name] == nil {
					after[name] = map[model.NodeID]int{}
				}
				after[name][on[0]]++
				continue
			}
			s.Collection = ids[name]
			p.Segments = append(p.Segments, s)
			nodes[on[0]].Sealed = append(nodes[on[0]].Sealed, model.ServedSegment{ID: s.ID, Collection: s.Collection})
		}
	}
	for _, g := range balance.NewSurvey(later).Groups {
		p.Replicas = append(p.Replicas, &model.Replica{
			ID: g.Replica.ID, Collection: g.ID, Nodes: []model.NodeID{3, 6, 10, 11},
		})
		for _, x := range g.Shares {
			if x.GrowingRows > 0 {
				nodes[x.Node].Leaders = append(nodes[x.Node].Leaders, model.LeaderView{
					Collection: g.ID, GrowingRows: x.GrowingRows,
				})
			}
		}
	}
	var r model.RuntimeParts
	for id, d := range nodes {
		slices.SortFunc(d.Sealed, func(a, b model.ServedSegment) int { return cmp.Compare(a.ID, b.ID) })
		p.Sessions = append(p.Sessions, &model.Session{Node: id, Role: "querynode"})
		r.Nodes = append(r.Nodes, &model.LiveNode{Role: "querynode", Node: id, Distribution: d})
	}
	return model.Build(p).WithRuntime(model.BuildRuntime(r)), after
}
