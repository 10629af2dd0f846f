package whatif

import (
	"math/rand/v2"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/segment"
	"kitescope/replay"
	"kitescope/replay/log"
)

// planned is a segment of a test cluster, with its channel and node.
type planned struct {
	id, rows int64
	state    replay.State
	node     int64
	channel  string
}

const testDim = 24

var testIndex = replay.Index{Type: typeHNSW, M: 8, EFConstruction: 60}

// layoutOf returns a layout with one replica on the given number of nodes, with the leaders of its channels.
func layoutOf(nodes int, leaders map[string]int64, list []planned) *replay.Layout {
	l := &replay.Layout{
		Version:    "2.3.5",
		Collection: replay.Collection{ID: 7, Name: "docs", Dim: testDim, Metric: dist.L2, Index: testIndex},
	}
	r := replay.Replica{ID: 1, Leaders: leaders}
	for i := range nodes {
		id := int64(i + 1)
		l.Nodes = append(l.Nodes, replay.Node{ID: id, Name: "querynode-" + string(rune('0'+id)), Cores: 4})
		r.Nodes = append(r.Nodes, id)
	}
	l.Replicas = []replay.Replica{r}
	for _, p := range list {
		s := replay.Segment{
			ID: p.id, Partition: 1, Channel: p.channel, State: p.state, Rows: p.rows, On: []int64{p.node},
		}
		if p.state == replay.Indexed {
			s.Index = testIndex
		}
		l.Segments = append(l.Segments, s)
	}
	return l
}

// clustered draws random rows around 16 centers.
func clustered(t testing.TB, rows int, seed uint64) *engine.Vectors {
	t.Helper()
	centres := rand.New(rand.NewPCG(1, 1))
	var at [16][testDim]float32
	for i := range at {
		for j := range at[i] {
			at[i][j] = float32(centres.NormFloat64()) * 3
		}
	}
	r := rand.New(rand.NewPCG(seed, 2))
	values := make([]float32, 0, rows*testDim)
	for range rows {
		c := &at[r.IntN(len(at))]
		for j := range testDim {
			values = append(values, c[j]+float32(r.NormFloat64()))
		}
	}
	v, err := engine.FromFloat32s(testDim, values)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// loadedOf draws the vectors of a layout and a log of queries, and builds the graphs of indexed segments.
func loadedOf(t testing.TB, l *replay.Layout, queries int) (*replay.Loaded, *log.Log) {
	t.Helper()
	loaded := &replay.Loaded{Layout: l}
	for i := range l.Segments {
		info := &l.Segments[i]
		s := &segment.Segment{
			ID: info.ID, Rows: int(info.Rows), Vectors: clustered(t, int(info.Rows), uint64(info.ID)), Metric: dist.L2,
		}
		s.Deleted = engine.NewBitset(s.Rows)
		s.Deleted.Set(int(info.ID) % s.Rows)
		for row := range s.Rows {
			s.Int64s = append(s.Int64s, info.ID*1_000_000+int64(row))
			s.Timestamps = append(s.Timestamps, 1)
		}
		if info.State == replay.Indexed {
			var err error
			if s, err = buildGraph(t.Context(), s, testIndex, replay.OptionsFor(l.Version)); err != nil {
				t.Fatal(err)
			}
		}
		loaded.Parts = append(loaded.Parts, &replay.Part{Info: info, State: info.State, Data: s})
		loaded.Coverage.Rows += info.Rows
	}
	loaded.Coverage.Segments, loaded.Coverage.Loaded, loaded.Coverage.Covered = len(l.Segments), len(l.Segments),
		loaded.Coverage.Rows
	g := &log.Log{Name: "drawn", Format: "sample", Vectors: clustered(t, queries, 99)}
	for i := range queries {
		g.Requests = append(g.Requests, log.Request{First: i, NQ: 1, K: 10, SearchParams: engine.SearchParams{EF: 40}})
	}
	return loaded, g
}

// unbalancedLayout returns a cluster of three nodes. One node is the leader and has most of the rows, many in growing
// segments.
func unbalancedLayout() *replay.Layout {
	return layoutOf(3, map[string]int64{"c0": 1}, []planned{
		{1, 3000, replay.Indexed, 1, "c0"},
		{2, 3000, replay.Indexed, 1, "c0"},
		{3, 2000, replay.Indexed, 2, "c0"},
		{4, 2500, replay.Growing, 1, "c0"},
		{5, 2500, replay.Growing, 1, "c0"},
		{6, 1500, replay.Growing, 1, "c0"},
	})
}
