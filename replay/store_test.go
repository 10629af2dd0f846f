package replay_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/binlog/binlogtest"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
	"kitescope/engine/object/objecttest"
	"kitescope/engine/segment"
	"kitescope/replay"
	"kitescope/replay/load"
)

// memory is a store of files that tests write.
type memory = objecttest.Files

const (
	keyField, vectorField = 100, 101
	deletedFrom           = 470590000000000000 // in engine/binlog's test delta logs, key i is deleted at this plus i
)

// cluster is a collection that tests write. Segment i has the keys from 100*i, each at x = key.
type cluster struct {
	memory
	layout *replay.Layout
}

func newCluster(nodes, channels int) *cluster {
	c := &cluster{memory: memory{}, layout: &replay.Layout{
		Collection: replay.Collection{
			Name: "c", Dim: 2, Schema: segment.Schema{PrimaryKey: keyField, Vector: vectorField, Metric: dist.L2},
		},
		Replicas: []replay.Replica{{ID: 9, Leaders: map[string]int64{}}},
	}}
	for n := range int64(nodes) {
		c.layout.Nodes = append(c.layout.Nodes, replay.Node{ID: n + 1, Name: fmt.Sprintf("querynode-%d", n+1)})
		c.layout.Replicas[0].Nodes = append(c.layout.Replicas[0].Nodes, n+1)
	}
	for i := range channels {
		c.layout.Replicas[0].Leaders[channel(i)] = int64(i%nodes) + 1
	}
	return c
}

func channel(i int) string { return fmt.Sprintf("dml_%d_v0", i) }

// add writes a segment with rows at (x, 0) and adds it to the layout.
func (c *cluster) add(t testing.TB, id int64, state replay.State, keys []int64, x []float32) *replay.Segment {
	t.Helper()
	values := make([]float32, 0, 2*len(x))
	for _, v := range x {
		values = append(values, v, 0)
	}
	v, err := engine.FromFloat32s(2, values)
	if err != nil {
		t.Fatal(err)
	}
	files := &segment.Files{Collection: 1, Partition: 2, Segment: id, Insert: map[int64][]string{}}
	for _, col := range []*binlog.Column{
		{Descriptor: binlog.Descriptor{Field: keyField, Type: binlog.Int64}, Int64s: keys},
		{
			Descriptor: binlog.Descriptor{Field: segment.TimestampField, Type: binlog.Int64},
			Int64s:     slices.Repeat([]int64{deletedFrom}, len(x)),
		},
		{Descriptor: binlog.Descriptor{Field: vectorField, Type: binlog.FloatVector}, Vectors: v},
	} {
		col.Rows = len(x)
		var b bytes.Buffer
		if err := binlogtest.WriteColumn(&b, col); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("insert_log/1/2/%d/%d/7", id, col.Field)
		c.memory[name] = b.Bytes()
		files.Insert[col.Field] = []string{name}
	}
	n := int64(len(c.layout.Segments))
	s := replay.Segment{
		ID: id, Partition: 2, PartitionName: "_default", Channel: channel(int(n) % len(c.layout.Replicas[0].Leaders)),
		State: state, Rows: int64(len(x)),
		On: []int64{n%int64(len(c.layout.Nodes)) + 1}, Files: files,
	}
	if state == replay.Indexed {
		s.Index = replay.Index{Type: "HNSW", M: 4}
		folder := fmt.Sprintf("index_files/50/1/2/%d", id)
		c.memory[folder+"/HNSW"] = graphOf(t, id, v)
		files.Indexes = []string{folder}
	}
	c.layout.Segments = append(c.layout.Segments, s)
	return &c.layout.Segments[n]
}

// graphOf returns an index file of vectors.
func graphOf(t testing.TB, id int64, v *engine.Vectors) []byte {
	t.Helper()
	x, err := hnsw.Build(t.Context(), v, hnsw.BuildOptions{
		M: 4, EFConstruction: 20, Seed: 1, Threads: 1, Library: engine.HNSWLib,
	})
	if err != nil {
		t.Fatal(err)
	}
	var blob, file bytes.Buffer
	if err := index.WriteKnowhere(&blob, x); err != nil {
		t.Fatal(err)
	}
	if err := binlogtest.WriteIndexFile(&file,
		binlog.Descriptor{Collection: 1, Partition: 2, Segment: id, Field: vectorField}, 50, blob.Bytes()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// line returns n keys from first, each located at its own number.
func line(first int64, n int) (keys []int64, x []float32) {
	for i := range n {
		keys = append(keys, first+int64(i))
		x = append(x, float32(first)+float32(i))
	}
	return keys, x
}

// addLine adds a segment with the rows of line.
func (c *cluster) addLine(t testing.TB, id int64, state replay.State, first int64, n int) *replay.Segment {
	t.Helper()
	keys, x := line(first, n)
	return c.add(t, id, state, keys, x)
}

// at returns a request for the k nearest rows of each place.
func at(t testing.TB, number, k int, x ...float32) *load.Request {
	t.Helper()
	var values []float32
	for _, v := range x {
		values = append(values, v, 0)
	}
	v, err := engine.FromFloat32s(2, values)
	if err != nil {
		t.Fatal(err)
	}
	return &load.Request{Number: number, Vectors: v, K: k, SearchParams: engine.SearchParams{EF: 20}}
}

// text returns hits as "key@distance".
func text(hits []load.Hit) (list []string) {
	for _, h := range hits {
		list = append(list, fmt.Sprintf("%s@%g", h.Key, h.Distance))
	}
	return list
}

func numbers(keys ...int64) (list []engine.Key) {
	for _, k := range keys {
		list = append(list, engine.NumberKey(k))
	}
	return list
}
