package whatif

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine/dist"
	"kitescope/replay"
)

// randomLayout returns a random layout: two to five nodes, one or two replicas, one to three channels, segments of all
// states.
func randomLayout(r *rand.Rand) *replay.Layout {
	nodes, replicas := 2+r.IntN(4), 1+r.IntN(2)
	l := layoutOf(nodes, map[string]int64{}, nil)
	l.Replicas = make([]replay.Replica, replicas)
	for i := range l.Replicas {
		l.Replicas[i] = replay.Replica{ID: int64(i + 1), Leaders: map[string]int64{}}
	}
	for i, n := range l.Nodes {
		q := &l.Replicas[i%replicas]
		q.Nodes = append(q.Nodes, n.ID)
	}
	channels := 1 + r.IntN(3)
	for c := range channels {
		for i := range l.Replicas {
			q := &l.Replicas[i]
			q.Leaders[fmt.Sprint("c", c)] = q.Nodes[r.IntN(len(q.Nodes))]
		}
	}
	for i := range 1 + r.IntN(30) {
		s := replay.Segment{
			ID: int64(100 + i), Partition: int64(r.IntN(2)), Channel: fmt.Sprint("c", r.IntN(channels)),
			State: replay.State(r.IntN(3)),
			Rows:  int64(r.IntN(100_000)), On: make([]int64, replicas),
		}
		for j := range l.Replicas {
			q := &l.Replicas[j]
			s.On[j] = q.Nodes[r.IntN(len(q.Nodes))]
			if s.State == replay.Growing {
				s.On[j] = q.Leaders[s.Channel]
			}
		}
		if s.State == replay.Indexed {
			s.Rows += minIndexedRows
			s.Index = testIndex
		}
		l.Segments = append(l.Segments, s)
	}
	return l
}

func rows(l *replay.Layout) (all int64, byState [3]int64) {
	for i := range l.Segments {
		all += l.Segments[i].Rows
		byState[l.Segments[i].State] += l.Segments[i].Rows
	}
	return all, byState
}

// checkLayout checks the invariants of a layout: ids are unique, each segment is on a node of its replica, growing
// segments are on their leader, and indexed segments have an index type.
func checkLayout(t *testing.T, name string, l *replay.Layout) {
	t.Helper()
	seen := map[int64]bool{}
	for i := range l.Segments {
		s := &l.Segments[i]
		if seen[s.ID] {
			t.Errorf("%s: segment %d is there twice", name, s.ID)
		}
		seen[s.ID] = true
		if len(s.On) != len(l.Replicas) {
			t.Fatalf("%s: segment %d is on %d of %d replicas", name, s.ID, len(s.On), len(l.Replicas))
		}
		for r, on := range s.On {
			q := &l.Replicas[r]
			if of := l.Node(on); of == nil || !slices.Contains(q.Nodes, on) {
				t.Errorf("%s: segment %d is on node %d, replica %d has %v", name, s.ID, on, r, q.Nodes)
			}
			if s.State == replay.Growing && on != q.Leaders[s.Channel] {
				t.Errorf("%s: segment %d grows on node %d, its leader is %d", name, s.ID, on, q.Leaders[s.Channel])
			}
		}
		if s.State == replay.Indexed && s.Index.Type == "" {
			t.Errorf("%s: segment %d is indexed by nothing", name, s.ID)
		}
	}
}

func TestApplyKeepsRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		l := randomLayout(r)
		before := clone(l)
		all, states := rows(l)
		for _, text := range []string{
			"index", "balance", "nodes=+2,balance", "type=IVF_FLAT", "m=32", "segment-rows=20k",
			"index,segment-rows=7777", "nodes=+3,replicas=3", "scale=2.5", "scale=0.3",
			"scale=3,segment-rows=50k,index,balance,nodes=+1",
		} {
			c, err := ParseChange(text)
			if err != nil {
				t.Fatal(err)
			}
			v, err := apply(l, c)
			if err != nil {
				continue // no effect on this layout
			}
			checkLayout(t, text, v.Layout)
			got, after := rows(v.Layout)
			want := all
			if c.Scale > 0 {
				want = int64(c.Scale * float64(all))
			}
			if math.Abs(float64(got-want)) > float64(len(l.Segments)) || c.Scale == 0 && got != want {
				t.Errorf("%s: %d rows, want %d", text, got, want)
			}
			if c.Index && after[replay.Growing] != 0 {
				t.Errorf("%s: %d rows grow still", text, after[replay.Growing])
			}
			if !c.Index && c.Scale == 0 && after[replay.Growing] != states[replay.Growing] {
				t.Errorf("%s: %d growing rows, there were %d", text, after[replay.Growing], states[replay.Growing])
			}
		}
		if d := cmp.Diff(before, l); d != "" {
			t.Fatalf("the layout itself was changed: %s", d)
		}
	}
}

func TestBalance(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		l := randomLayout(r)
		before := &variant{Layout: l}
		after, err := apply(l, Change{Balanced: true})
		if err != nil {
			continue // no assignment is more even
		}
		for q := range l.Replicas {
			if a, b := before.spread(q), after.spread(q); b > a {
				t.Errorf("replica %d: the fullest node had %d rows more than the emptiest, now %d", q, a, b)
			}
		}
		if again, err := apply(after.Layout, Change{Balanced: true}); err == nil {
			t.Errorf("balancing again changes: %s", cmp.Diff(after.Segments, again.Segments))
		}
	}
}

func TestIndexGivesSealedSegmentsToWorkers(t *testing.T) {
	got, err := apply(unbalancedLayout(), Change{Index: true})
	if err != nil {
		t.Fatal(err)
	}
	on := map[int64]int64{}
	for _, s := range got.Segments {
		if s.State != replay.Indexed || s.Index != testIndex {
			t.Errorf("segment %d: %s, %+v", s.ID, s.State, s.Index)
		}
		on[s.ID] = s.On[0]
	}
	// Node 1 has 6000 rows, node 2 has 2000, node 3 has none: the largest segments go where the fewest rows are.
	want := map[int64]int64{1: 1, 2: 1, 3: 2, 4: 3, 5: 2, 6: 3}
	if d := cmp.Diff(want, on); d != "" {
		t.Error(d)
	}
}

// TestScaleResegments checks that a small collection can be scaled to a large one: rows are multiplied before
// they are cut into segments.
func TestScaleResegments(t *testing.T) {
	var list []planned
	for i := range int64(6) { // 9,000 rows in two channels
		list = append(list, planned{10 + i, 1500, replay.Indexed, 1 + i%2, fmt.Sprint("c", i%2)})
	}
	l := layoutOf(2, map[string]int64{"c0": 1, "c1": 2}, list)
	for _, text := range []string{"scale=1e5,segment-rows=500k,balance", "segment-rows=500k,balance,scale=1e5"} {
		c, err := ParseChange(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := apply(l, c)
		if err != nil {
			t.Fatal(err)
		}
		checkLayout(t, text, v.Layout)
		if n, _ := rows(v.Layout); n != 900_000_000 || len(v.Segments) != 1800 {
			t.Errorf("%s: %d rows in %d segments", text, n, len(v.Segments))
		}
		for _, s := range v.Segments {
			if s.Rows != 500_000 || s.State != replay.Indexed {
				t.Fatalf("%s: segment %d has %d rows, %s", text, s.ID, s.Rows, s.State)
			}
		}
	}
}

// TestApplyAnswers checks that assumptions are noted, and that a word without effect is an error instead of a
// prediction of the present cluster.
func TestApplyAnswers(t *testing.T) {
	small := layoutOf(1, map[string]int64{"c0": 1}, []planned{
		{1, 500, replay.Growing, 1, "c0"}, {2, 5000, replay.Unindexed, 1, "c0"},
	})
	bare := clone(small)
	bare.Collection.Index = replay.Index{}
	bits := clone(bare)
	bits.Collection.Element = dist.Bit
	one := layoutOf(1, map[string]int64{"c0": 1}, []planned{
		{1, 500, replay.Growing, 1, "c0"}, {2, 5000, replay.Indexed, 1, "c0"},
	})
	even := layoutOf(2, map[string]int64{"c0": 1}, []planned{
		{1, 5000, replay.Indexed, 1, "c0"}, {2, 5000, replay.Indexed, 2, "c0"},
	})
	lists := layoutOf(1, map[string]int64{"c0": 1}, []planned{{1, 5000, replay.Indexed, 1, "c0"}})
	lists.Collection.Index = replay.Index{Type: typeIVF, NList: 128}
	lists.Segments[0].Index = lists.Collection.Index
	mute := clone(even) // nodes that do not report their cores
	for i := range mute.Nodes {
		mute.Nodes[i].Cores = 0
	}
	for _, c := range []struct {
		layout *replay.Layout
		change string
		note   string
		err    string
	}{
		{small, "index", "1 sealed segments have fewer than 1024 rows", ""},
		{bare, "index", "no index type in the metadata: assuming HNSW", ""},
		{bare, "index", "assuming M=18 and efConstruction=240", ""},
		{bare, "type=IVF_FLAT", "nlist unknown: assuming 128", ""},
		{bits, "index", "no index type in the metadata: assuming BIN_IVF_FLAT", ""},
		{small, "segment-rows=1k", "1 growing segments not re-cut", ""},
		{small, "scale=2", "5500 rows become 11000", ""},
		{one, "nodes=+1,balance,index", "", ""},
		{mute, "cores=16", "", ""},
		{bare, "type=BIN_IVF_FLAT", "", "BIN_IVF_FLAT cannot index float32 vectors"},
		{bits, "type=IVF_FLAT", "", "IVF_FLAT cannot index"},
		{small, "replicas=2", "", "2 replicas need as many query nodes, the collection has 1; add nodes=+1"},
		{small, "scale=1e6", "", "2000000 segments; more than 1000000 are not simulated"},
		{even, "index", "", "index has no effect on this cluster"},
		{even, "type=HNSW", "", "index has no effect"},
		{lists, "m=32", "", "apply to HNSW, and the collection's index is IVF_FLAT"},
		{even, "segment-rows=5k", "", "scale has no effect"},
		{one, "scale=1", "", "scale has no effect"},
		{one, "replicas=1", "", "replicas has no effect"},
		{even, "balance", "", "balance has no effect"},
		{one, "cores=4", "", "cores has no effect"},
		{mute, "cores=8", "", "cores has no effect"},
		{even, "nodes=+2", "", "2 of 2 added nodes have nothing to search"},
	} {
		change, err := ParseChange(c.change)
		if err != nil {
			t.Fatal(err)
		}
		v, err := apply(c.layout, change)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.change, err, c.err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.change, err)
		case !strings.Contains(strings.Join(v.notes, "\n"), c.note):
			t.Errorf("%s: notes %q, want %q", c.change, v.notes, c.note)
		}
	}
}
