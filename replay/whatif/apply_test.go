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

// applied is the layout that a change leads to, with all that is said of it.
func applied(l *replay.Layout, c Change) (*replay.Layout, []string) {
	v := apply(l, c)
	return v.Layout, append(v.notes, v.void...)
}

// drawn is a layout by chance: one to five nodes, one or two replicas, some channels, states of all kinds.
func drawn(r *rand.Rand) *replay.Layout {
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
			ID: int64(100 + i), Partition: int64(r.IntN(2)), Channel: fmt.Sprint("c", r.IntN(channels)), State: replay.State(r.IntN(3)),
			Rows: int64(r.IntN(100_000)), On: make([]int64, replicas),
		}
		for j := range l.Replicas {
			q := &l.Replicas[j]
			s.On[j] = q.Nodes[r.IntN(len(q.Nodes))]
			if s.State == replay.Growing {
				s.On[j] = q.Leaders[s.Channel]
			}
		}
		if s.State == replay.Indexed {
			s.Rows += leastIndexed
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

// sound is what holds of every layout: ids differ, segments are where a node of their replica is, growing ones with their leader.
func sound(t *testing.T, name string, l *replay.Layout) {
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
		l := drawn(r)
		before := clone(l)
		all, states := rows(l)
		for _, text := range []string{
			"index", "balance", "nodes=+2", "nodes=+2,balance", "type=IVF_FLAT", "type=FLAT", "m=32", "segment-rows=20k", "index,segment-rows=7777", "replicas=1",
			"replicas=2", "nodes=+3,replicas=3", "scale=2.5", "scale=0.3", "scale=3,segment-rows=50k,index,balance,nodes=+1",
		} {
			c, err := ParseChange(text)
			if err != nil {
				t.Fatal(err)
			}
			v := apply(l, c)
			sound(t, text, v.Layout)
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
			everyRowOnce(t, text, l, v, c.Scale)
		}
		if d := cmp.Diff(before, l); d != "" {
			t.Fatalf("the layout itself was changed: %s", d)
		}
	}
}

// everyRowOnce holds provenance against the base: without scale, each base row is in one segment, once.
func everyRowOnce(t *testing.T, name string, l *replay.Layout, v *variant, scale float64) {
	t.Helper()
	count := map[int64]int64{}
	for i := range v.Segments {
		sum := int64(0)
		s := v.Segments[i]
		spans := v.from[s.ID]
		if spans == nil && !v.copies[s.ID] {
			spans = []span{{s.ID, 0, s.Rows}}
		}
		for _, x := range spans {
			sum += x.rows
			count[x.segment] += x.rows
		}
		if sum != s.Rows && !v.copies[s.ID] {
			t.Errorf("%s: segment %d has %d rows, and its spans %d", name, v.Segments[i].ID, v.Segments[i].Rows, sum)
		}
	}
	for i := range l.Segments {
		s := &l.Segments[i]
		if count[s.ID] != s.Rows && scale == 0 {
			t.Errorf("%s: %d of %d rows of segment %d are somewhere", name, count[s.ID], s.Rows, s.ID)
		}
	}
}

func TestNodesAloneChangeNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		l := drawn(r)
		got, notes := applied(l, Change{Nodes: 2})
		if d := cmp.Diff(l.Segments, got.Segments); d != "" {
			t.Error(d)
		}
		if len(got.Nodes) != len(l.Nodes)+2 || !strings.Contains(strings.Join(notes, "\n"), "2 of 2 added nodes have nothing to search") {
			t.Errorf("%d nodes, notes %q", len(got.Nodes), notes)
		}
		spread, notes := applied(l, Change{Nodes: 2, Balanced: true})
		if strings.Contains(strings.Join(notes, "\n"), "2 of 2 added nodes") && sealed(l) > 4*len(spread.Nodes) {
			t.Errorf("nothing was moved: %q", notes)
		}
	}
}

func sealed(l *replay.Layout) (n int) {
	for i := range l.Segments {
		if l.Segments[i].State != replay.Growing {
			n++
		}
	}
	return n
}

func TestBalanceEvensRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		l := drawn(r)
		before := &variant{Layout: l}
		after := apply(l, Change{Balanced: true})
		for q := range l.Replicas {
			if a, b := before.spread(q), after.spread(q); b > a {
				t.Errorf("replica %d: the fullest node had %d rows more than the emptiest, now %d", q, a, b)
			}
		}
		again := apply(after.Layout, Change{Balanced: true})
		if d := cmp.Diff(after.Segments, again.Segments); d != "" {
			t.Errorf("balancing again changes: %s", d)
		}
	}
	got, _ := applied(lopsided(), Change{Index: true, Balanced: true})
	v := &variant{Layout: got}
	if s := v.spread(0); s > 1500 {
		t.Errorf("spread %d: %v", s, v.rowsOn(0, nil))
	}
}

func TestIndexGivesSealedSegmentsToWorkers(t *testing.T) {
	got, _ := applied(lopsided(), Change{Index: true})
	on := map[int64]int64{}
	for _, s := range got.Segments {
		if s.State != replay.Indexed || s.Index != testIndex {
			t.Errorf("segment %d: %s, %+v", s.ID, s.State, s.Index)
		}
		on[s.ID] = s.On[0]
	}
	// 6000 rows are on node 1, 2000 on node 2, none on node 3: the largest go where the fewest are.
	want := map[int64]int64{1: 1, 2: 1, 3: 2, 4: 3, 5: 2, 6: 3}
	if d := cmp.Diff(want, on); d != "" {
		t.Error(d)
	}
}

func TestApplyNotes(t *testing.T) {
	small := layoutOf(1, map[string]int64{"c0": 1}, []planned{{1, 500, replay.Growing, 1, "c0"}, {2, 5000, replay.Unindexed, 1, "c0"}})
	bare := clone(small)
	bare.Collection.Index = replay.Index{}
	bits := clone(bare)
	bits.Collection.Element = dist.Bit
	for _, c := range []struct {
		layout *replay.Layout
		change string
		want   string // in notes
		not    string
	}{
		{small, "index", "1 sealed segments have fewer than 1024 rows", "assuming"},
		{bare, "index", "no index type in the metadata: assuming HNSW", ""},
		{bare, "index", "assuming M=18 and efConstruction=240", ""},
		{bare, "type=IVF_FLAT", "nlist unknown: assuming 128", ""},
		{bare, "type=BIN_IVF_FLAT", "BIN_IVF_FLAT cannot index float32 vectors", ""},
		{bits, "index", "no index type in the metadata: assuming BIN_IVF_FLAT", "nlist unknown"},
		{bits, "type=BIN_IVF_FLAT", "nlist unknown: assuming 128", ""},
		{bits, "type=IVF_FLAT", "IVF_FLAT cannot index", ""},
		{small, "replicas=2", "2 replicas need as many query nodes, the collection has 1; add nodes=+1", ""},
		{small, "segment-rows=1k", "1 growing segments not re-cut", ""},
		{small, "scale=1e6", "2000000 segments; more than 1000000 are not simulated", ""},
		{small, "scale=2", "5500 rows become 11000", ""},
		{small, "scale=2", "1 growing segments are copied too", ""},
	} {
		change, err := ParseChange(c.change)
		if err != nil {
			t.Fatal(err)
		}
		_, notes := applied(c.layout, change)
		text := strings.Join(notes, "\n")
		if !strings.Contains(text, c.want) || c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: notes %q, want %q, not %q", c.change, notes, c.want, c.not)
		}
	}
}

func TestPlace(t *testing.T) {
	got, notes := applied(lopsided(), Change{Place: map[int64]int64{1: 3, 4: 2, 77: 1, 2: 9}})
	text := strings.Join(notes, "\n")
	for _, want := range []string{"move of segment 77 to node 1 skipped: segment not served", "segment 4 is growing", "to node 9 skipped: node not in any replica"} {
		if !strings.Contains(text, want) {
			t.Errorf("notes %q, want %q", notes, want)
		}
	}
	for _, s := range got.Segments {
		want := map[int64]int64{1: 3, 2: 1, 3: 2, 4: 1, 5: 1, 6: 1}[s.ID]
		if s.On[0] != want {
			t.Errorf("segment %d is on node %d, want %d", s.ID, s.On[0], want)
		}
	}
}
