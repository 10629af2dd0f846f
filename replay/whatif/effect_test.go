package whatif

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/segment"
	"kitescope/replay"
)

// A small collection stands for a large one: rows first, then the segments they are cut into.
func TestScaledRowsAreCutAnew(t *testing.T) {
	var list []planned
	for i := range int64(6) { // 9,000 rows in two channels and three partitions
		list = append(list, planned{10 + i, 1500, replay.Indexed, 1 + i%2, fmt.Sprint("c", i%2)})
	}
	l := layoutOf(2, map[string]int64{"c0": 1, "c1": 2}, list)
	for i := range l.Segments {
		l.Segments[i].Partition = int64(i / 2)
	}
	for _, text := range []string{"scale=1e5,segment-rows=500k,balance", "segment-rows=500k,balance,scale=1e5"} {
		c, err := ParseChange(text)
		if err != nil {
			t.Fatal(err)
		}
		v := apply(l, c)
		sound(t, text, v.Layout)
		everyRowOnce(t, text, l, v, c.Scale)
		if n, _ := rows(v.Layout); n != 900_000_000 || len(v.Segments) != 1800 || len(v.void) != 0 {
			t.Errorf("%s: %d rows in %d segments, void %q", text, n, len(v.Segments), v.void)
		}
		for _, s := range v.Segments {
			if s.Rows != 500_000 || s.State != replay.Indexed {
				t.Fatalf("%s: segment %d has %d rows, %s", text, s.ID, s.Rows, s.State)
			}
		}
	}
}

// Copies of what was cut of the rows that are here cost what that costs; none is made of the same row twice.
func TestScaledSegmentsAreMeasuredWhereTheyCanBe(t *testing.T) {
	loaded, queries := stored(t, 470590760626297661, 102, dist.L2, replay.Index{Type: typeHNSW, M: 8, EFConstruction: 64}) // hnsw_l2_parts, 9,000 rows
	r, err := Predict(t.Context(), Input{
		Loaded: loaded, Log: queries, Sessions: []int{4}, Check: -1, Limits: quick,
		Changes: []Change{{Name: "scale=4,segment-rows=4k", Scale: 4, SegmentRows: 4000}, {Name: "scale=100,segment-rows=100k", Scale: 100, SegmentRows: 100_000}},
	})
	if err != nil {
		t.Fatal(err)
	}
	small, large := &r.Others[0], &r.Others[1]
	// Two are cut of the rows that are here, and seven like them.
	if n := len(small.Layout.Segments); n != 9 || math.Abs(small.Modelled-28.0/36) > 1e-9 || !strings.Contains(strings.Join(small.Notes, "\n"), "7 segments: are more of the same") {
		t.Errorf("36,000 rows: %d segments, modelled %v, notes %q", n, small.Modelled, small.Notes)
	}
	if n := len(large.Layout.Segments); n != 9 || large.Modelled != 1 || !strings.Contains(strings.Join(large.Notes, "\n"), "9 segments: are more of the same") {
		t.Errorf("900,000 rows: %d segments, modelled %v, notes %q", n, large.Modelled, large.Notes)
	}
	// A graph of 100,000 rows walks little farther than one of 4,000.
	if large.Cost.CPU > 10*small.Cost.CPU {
		t.Errorf("nine segments of 100,000 rows cost %v, of 4,000 %v", large.Cost.CPU, small.Cost.CPU)
	}
}

// What a change says and does not do is an error, and no prediction of the cluster as it is.
func TestChangesWithoutEffect(t *testing.T) {
	one := layoutOf(1, map[string]int64{"c0": 1}, []planned{{1, 500, replay.Growing, 1, "c0"}, {2, 5000, replay.Indexed, 1, "c0"}})
	grows := layoutOf(1, map[string]int64{"c0": 1}, []planned{{1, 500, replay.Growing, 1, "c0"}})
	even := layoutOf(2, map[string]int64{"c0": 1}, []planned{{1, 5000, replay.Indexed, 1, "c0"}, {2, 5000, replay.Indexed, 2, "c0"}})
	lists := layoutOf(1, map[string]int64{"c0": 1}, []planned{{1, 5000, replay.Indexed, 1, "c0"}})
	lists.Collection.Index = replay.Index{Type: typeIVF, NList: 128}
	lists.Segments[0].Index = lists.Collection.Index
	mute, half := clone(even), clone(even) // nodes that do not tell their cores
	for i := range mute.Nodes {
		mute.Nodes[i].Cores = 0
	}
	half.Nodes[1] = mute.Nodes[1]
	lone := layoutOf(1, map[string]int64{"c0": 1, "c1": 1}, []planned{{1, 1463, replay.Indexed, 1, "c0"}, {2, 1537, replay.Indexed, 1, "c1"}})
	pair := layoutOf(1, map[string]int64{"c0": 1}, []planned{{1, 1463, replay.Indexed, 1, "c0"}, {2, 1537, replay.Indexed, 1, "c0"}})
	bare := clone(lone)
	bare.Segments[1].State, bare.Segments[1].Index = replay.Unindexed, replay.Index{}
	nobody := layoutOf(1, map[string]int64{"c0": 1}, []planned{{1, -1, replay.Indexed, 1, "c0"}})
	for _, c := range []struct {
		layout *replay.Layout
		change string
		want   string // "" it has an effect
	}{
		{even, "index", "index has no effect: no growing segments, and every sealed segment has its index"},
		{one, "index", ""},
		{even, "type=HNSW", "every sealed segment has such an index"},
		{lists, "type=HNSW", ""},
		{lists, "m=32", "m has no effect: it applies to HNSW, and the collection's index is IVF_FLAT"},
		{lists, "ef=128", "ef has no effect: no segment has an HNSW index"},
		{lists, "type=HNSW,ef=128", ""},
		{one, "ef=64", "ef has no effect: searches already use 64"},
		{one, "ef=32", ""},
		{even, "segment-rows=5k", "every sealed segment already has that many rows"},
		{lone, "segment-rows=1500", "segment-rows has no effect: segments of that size would be as many and as large as now"},
		{lone, "segment-rows=1500,balance", "segment-rows has no effect: segments of that size"},
		{lone, "segment-rows=500", ""},
		{lone, "scale=2,segment-rows=1500", ""},
		{pair, "segment-rows=1500", ""},
		{bare, "segment-rows=1500", "segment-rows has no effect: segments of that size"},
		{grows, "segment-rows=1k", "no sealed segments, and only those are re-cut; add index"},
		{grows, "scale=2,segment-rows=1k", "segment-rows has no effect: no sealed segments"},
		{grows, "index,segment-rows=100", ""},
		{one, "scale=1", "scale has no effect: the collection already has that many rows"},
		{one, "scale=1.00001", "scale has no effect: the change is less than one row"},
		{one, "scale=0.99999", "scale has no effect: the change is less than one row"},
		{nobody, "scale=0.5", "scale has no effect: row count unknown"},
		{nobody, "scale=2", ""},
		{one, "scale=1e6", "2000000 segments; more than 1000000 are not simulated: segment-rows=N makes fewer"},
		{one, "scale=1e6,segment-rows=1k", "segments; more than 1000000 are not simulated"},
		{one, "scale=1e6,segment-rows=1M,index", ""},
		{one, "replicas=1", "replicas has no effect: there are that many already"},
		{one, "replicas=2", "2 replicas need as many query nodes, the collection has 1; add nodes=+1"},
		{one, "replicas=2,nodes=+1", ""},
		{one, "balance", "each replica has one node"},
		{even, "balance", "rows are spread as evenly as segments allow"},
		{one, "cores=4", "cores has no effect: every node has that many already"},
		{one, "cores=8", ""},
		{mute, "cores=8", "cores has no effect: 2 of 2 nodes do not report theirs, and 8 are already assumed for them"},
		{mute, "cores=16", ""},
		{half, "cores=8", ""},
		{half, "cores=4", ""},
		{even, "nodes=+2", "nodes has no effect: 2 of 2 added nodes have nothing to search: with auto-balance off, nothing moves to them; add balance"},
		{one, "nodes=+2,segment-rows=1k", "nodes has no effect: 2 of 2 added nodes"},
		{one, "nodes=+2,segment-rows=1k,balance", ""},
	} {
		change, err := ParseChange(c.change)
		if err != nil {
			t.Fatal(err)
		}
		err = effect(apply(c.layout, change), change, &asked{params: segment.Params{K: 10, SearchParams: engine.SearchParams{EF: 64}}})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.change, err, c.want)
		}
	}
}

func TestPredictRefusesWhatHasNoEffect(t *testing.T) {
	loaded, queries := stored(t, 470590760626297661, 102, dist.L2, replay.Index{Type: typeHNSW, M: 8, EFConstruction: 64})
	in := Input{Loaded: loaded, Log: queries, Sessions: []int{4}, Check: -1, Limits: quick, Changes: []Change{{Name: "index", Index: true}, {Name: "ef=32", EF: 32}}}
	if _, err := Predict(t.Context(), in); err == nil || !strings.Contains(err.Error(), `change "index": index has no effect`) {
		t.Errorf("%v", err)
	}
	in.Likely = true // nobody named them
	r, err := Predict(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Others) != 1 || r.Others[0].Change.Name != "ef=32" {
		t.Errorf("%d predictions", len(r.Others))
	}
	if slices.ContainsFunc(Causes(loaded.Layout, 64), func(c Change) bool { return c.Name == "index" }) {
		t.Error("index is a cause where all is indexed")
	}
}
