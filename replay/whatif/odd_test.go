package whatif

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/engine"
	"kitescope/replay"
	"kitescope/replay/log"
	"kitescope/replay/simulate"
)

// Layouts that nobody should have, and every change of them: nothing panics, and nothing becomes more than can be simulated.
func TestApplyToOddLayouts(t *testing.T) {
	segments := func(rows int64, on ...int64) []replay.Segment {
		return []replay.Segment{
			{ID: 1, Channel: "c0", Rows: rows, On: on},
			{ID: 2, Channel: "c1", Rows: rows, State: replay.Indexed, Index: testIndex, On: on},
			{ID: math.MaxInt64 - 5, Rows: rows, State: replay.Unindexed},
		}
	}
	node := []replay.Node{{ID: 1, Name: "querynode-1"}}
	two := []replay.Replica{{ID: 1, Nodes: []int64{1}}, {ID: 2}}
	for name, l := range map[string]*replay.Layout{
		"nothing":              {},
		"no nodes":             {Segments: segments(5000)},
		"no replicas":          {Nodes: node, Segments: segments(5000, 1)},
		"fewer places":         {Nodes: node, Replicas: two, Segments: segments(5000, 1)},
		"more places":          {Nodes: node, Replicas: two, Segments: segments(5000, 1, 1, 1)},
		"nodes that are not":   {Nodes: node, Replicas: two, Segments: segments(5000, 7, 8)},
		"no rows":              {Nodes: node, Replicas: two, Segments: segments(0, 1)},
		"unknown rows":         {Nodes: node, Replicas: two, Segments: segments(-1, 1)},
		"more rows than there": {Nodes: node, Replicas: two, Segments: segments(math.MaxInt64/2, 1)},
	} {
		for _, text := range []string{
			"index", "balance", "nodes=+2", "nodes=+2,balance", "nodes=+5000,replicas=1000,scale=20000", "replicas=2", "type=FLAT", "type=IVF_FLAT", "m=32",
			"segment-rows=1", "segment-rows=1k", "scale=1e6", "scale=1e-6", "scale=2.5", "index,segment-rows=1000,scale=3,replicas=1,balance", "cores=8,grouping=off,read-ratio=2",
		} {
			c, err := ParseChange(text)
			if err != nil {
				t.Fatal(err)
			}
			v := apply(l, c)
			if n := len(v.Segments); n > mostSegments || n*len(v.Replicas) > mostPlaces {
				t.Errorf("%s: %s: %d segments, %d replicas", name, text, n, len(v.Replicas))
			}
			if n := v.Node(1); n != nil && (n.Read.MaxNQ == 0 || n.Read.ConcurrencyRatio == 0) {
				t.Errorf("%s: %s: a node has no settings: %+v", name, text, n.Read)
			}
		}
		Causes(l, 0)
	}
}

func TestReplicasLeadChannelsOfWhichNobodyTells(t *testing.T) {
	l := layoutOf(2, map[string]int64{}, []planned{{1, 2000, replay.Growing, 1, "c0"}})
	l.Replicas[0].Leaders = nil
	v := apply(l, Change{Name: "replicas=2", Replicas: 2})
	if on := v.Segments[0].On; len(on) != 2 || on[0] == 0 || on[1] == 0 {
		t.Errorf("what grows is on nodes %v", on)
	}
}

// A request's overhead is paid by each task that package simulate makes of it, and no other.
func TestDemandCountsTasksAsTheyAreSimulated(t *testing.T) {
	l := layoutOf(2, map[string]int64{"c0": 1, "c1": 1}, []planned{
		{1, 2000, replay.Growing, 1, "c0"},
		{2, 2000, replay.Unindexed, 1, "c0"},
		{3, 2000, replay.Unindexed, 1, "c0"},
		{4, 2000, replay.Growing, 1, "c1"},
		{5, 3000, replay.Unindexed, 2, "c1"},
	})
	l.ChunkRows = 1000
	p := &priced{variant: &variant{Layout: l}, costs: make([]Measured, 5)}
	for i := range p.costs {
		p.costs[i].Mean = time.Millisecond
	}
	d, err := p.demand(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if d.nodes[0].tasks != 3 || d.nodes[1].tasks != 1 || d.nodes[0].leads != 2 || d.hops != 2 || d.nodes[0].cpu != 6.8e6 || d.nodes[1].cpu != 1.6e6 {
		t.Errorf("%+v", d)
	}
	// Two growing segments of two chunks, for each of two vectors.
	if got := time.Duration(d.nodes[0].known); got != 8*chunkCost || d.nodes[1].known != 0 || d.known <= 0 {
		t.Errorf("%v in chunks, %v of a lone request", got, d.known)
	}
	c, _ := p.cluster(Overheads{Task: 3 * time.Millisecond})
	most, err := simulate.Capacity(t.Context(), c, 2)
	if err != nil {
		t.Fatal(err)
	}
	// The simulation's own sum is that of the demand: 4 cores, 6.8 ms in segments (a second vector is cheaper row by row), 3 ms for each of two shards and a tenth of that for each of
	// three tasks, which no leader elsewhere passes on, for two vectors.
	if want := 2 * l.Nodes[0].Cores / 0.0137; math.Abs(most.QPS-want) > 0.01*want {
		t.Errorf("%v vectors a second at most, want %v", most.QPS, want)
	}
	if got := d.task(most.QPS/2, 1); math.Abs(got+d.nodes[0].known/2.3-3e6) > 1e4 {
		t.Errorf("a task takes %v, want 3ms less chunks", time.Duration(got))
	}
}

func TestWhatMostRequestsSay(t *testing.T) {
	for range 20 { // in whatever order
		for want, counts := range map[int]map[int]int{0: {0: 100, 64: 1}, 5: {7: 3, 5: 3, 0: 2}} {
			l := &log.Log{}
			for ef, n := range counts {
				l.Requests = append(l.Requests, slices.Repeat([]log.Request{{SearchParams: engine.SearchParams{EF: ef}}}, n)...)
			}
			if got := commonest(l, func(r *log.Request) int { return r.EF }); got != want {
				t.Fatalf("%d is taken of %v, want %d", got, counts, want)
			}
		}
	}
}

func TestEnoughSessionsCanBeSimulated(t *testing.T) {
	for _, nodes := range []int{1, 300, 10_000} {
		c := &simulate.Cluster{Nodes: make([]simulate.Node, nodes)}
		var shard simulate.Shard
		for i := range c.Nodes {
			c.Nodes[i].Read.Cores = 8
			shard.Segments = append(shard.Segments, simulate.Segment{Node: i, Mean: time.Millisecond})
		}
		c.Collections = []simulate.Collection{{Weight: 1, Replicas: [][]simulate.Shard{{shard}}}}
		n := enough(c)
		if int64(n)*tasks(c) > simulate.MostTasks || n < 48 {
			t.Errorf("%d nodes: %d sessions", nodes, n)
		}
	}
}

func TestWhatHoldsForAllIsSaidOnce(t *testing.T) {
	r := &Report{Base: Prediction{Notes: []string{"a", "b"}}, Others: []Prediction{{Notes: []string{"c", "a"}}, {Notes: []string{"a", "b"}}}, Notes: []string{"x"}}
	r.gather()
	if !slices.Equal(r.Notes, []string{"x", "a"}) || !slices.Equal(r.Base.Notes, []string{"b"}) || !slices.Equal(r.Others[0].Notes, []string{"c"}) {
		t.Errorf("%+v", r)
	}
}

func TestIndexesThatTheModelDoesNotKnow(t *testing.T) {
	l := layoutOf(1, map[string]int64{"c0": 1}, []planned{{1, 2000, replay.Growing, 1, "c0"}, {2, 2000, replay.Growing, 1, "c0"}})
	loaded, queries := loadedOf(t, l, 10)
	for i, x := range []replay.Index{{Type: "IVF_PQ", NList: 16}, {Type: "DISKANN"}} {
		l.Segments[i].State, l.Segments[i].Index = replay.Indexed, x // whose files could not be had
	}
	loaded = loaded.With(l, loaded.Parts)
	r, err := Predict(t.Context(), Input{Loaded: loaded, Log: queries, Sessions: []int{1}, Check: time.Millisecond, Limits: quick})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(append(r.Notes, r.Base.Notes...), "\n")
	for _, want := range []string{
		"what IVF_PQ cost not measured: assuming it reads its lists like IVF_FLAT does", "what DISKANN cost not measured: assuming HNSW",
		"no graph could be measured", "no segment was measured unchanged",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("notes %s\nwant %q", text, want)
		}
	}
	if r.Base.Modelled != 1 || r.Check.QPS != -1 || len(r.Check.Points) != 0 {
		t.Errorf("modelled %v, check %+v", r.Base.Modelled, r.Check)
	}
}
