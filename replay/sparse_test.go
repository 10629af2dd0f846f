package replay_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/binlog/binlogtest"
	"kitescope/engine/dist"
	"kitescope/engine/segment"
	"kitescope/engine/sparse"
	"kitescope/replay"
	"kitescope/replay/load"
)

// sparseRandom returns rows of small integers, so that many scores are equal.
func sparseRandom(t *testing.T, rng *rand.Rand, n int) *engine.Vectors {
	t.Helper()
	rows := make([][]byte, n)
	for i := range rows {
		for d := range uint32(40) {
			if rng.IntN(4) == 0 {
				rows[i] = sparse.AppendPair(rows[i], d*1_000_003, float32(1+rng.IntN(5)))
			}
		}
	}
	v, err := engine.JoinSparse(rows)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// addSparse writes a segment of sparse vectors, and its index as rows.
func (c *cluster) addSparse(t *testing.T, id int64, state replay.State, v *engine.Vectors) {
	t.Helper()
	keys := make([]int64, v.Rows)
	for i := range keys {
		keys[i] = 1000*id + int64(i)
	}
	files := &segment.Files{Collection: 1, Partition: 2, Segment: id, Insert: map[int64][]string{}}
	for _, col := range []*binlog.Column{
		{Descriptor: binlog.Descriptor{Field: keyField, Type: binlog.Int64}, Int64s: keys},
		{
			Descriptor: binlog.Descriptor{Field: segment.TimestampField, Type: binlog.Int64},
			Int64s:     slices.Repeat([]int64{deletedFrom}, v.Rows),
		},
		{Descriptor: binlog.Descriptor{Field: vectorField, Type: binlog.SparseFloatVector}, Vectors: v},
	} {
		col.Rows = v.Rows
		var b bytes.Buffer
		if err := binlogtest.WriteColumn(&b, col); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("insert_log/1/2/%d/%d/7", id, col.Field)
		c.memory[name] = b.Bytes()
		files.Insert[col.Field] = []string{name}
	}
	s := replay.Segment{
		ID: id, Partition: 2, PartitionName: "_default", Channel: channel(0), State: state, Rows: int64(v.Rows),
		On: []int64{1}, Files: files,
	}
	if state == replay.Indexed {
		blob := binary.LittleEndian.AppendUint64(nil, uint64(v.Rows))
		blob = binary.LittleEndian.AppendUint64(blob, uint64(sparse.Dim(v)))
		blob = binary.LittleEndian.AppendUint32(blob, 0)
		for i := range v.Rows {
			blob = append(binary.LittleEndian.AppendUint64(blob, uint64(len(v.Row(i))/sparse.PairBytes)), v.Row(i)...)
		}
		var file bytes.Buffer
		if err := binlogtest.WriteIndexFile(&file,
			binlog.Descriptor{Collection: 1, Partition: 2, Segment: id, Field: vectorField}, 50, blob); err != nil {
			t.Fatal(err)
		}
		s.Index = replay.Index{Type: "SPARSE_INVERTED_INDEX"}
		folder := fmt.Sprintf("index_files/50/1/2/%d", id)
		c.memory[folder+"/SPARSE_INVERTED_INDEX"] = file.Bytes()
		files.Indexes = []string{folder}
	}
	c.layout.Segments = append(c.layout.Segments, s)
}

// TestSparseReplay checks that a replay over an indexed and a growing segment of sparse vectors finds all hits of a
// comparison with each row.
func TestSparseReplay(t *testing.T) {
	for _, metric := range []engine.Metric{dist.InnerProduct, dist.BM25} {
		rng := rand.New(rand.NewPCG(7, uint64(metric)))
		c := newCluster(1, 1)
		col := &c.layout.Collection
		col.Dim, col.Element, col.Metric, col.Schema.Metric = 0, dist.Sparse, metric, metric
		c.addSparse(t, 1, replay.Indexed, sparseRandom(t, rng, 300))
		c.addSparse(t, 2, replay.Growing, sparseRandom(t, rng, 200))
		loaded := loadOf(t, c, c.layout, nil)
		if len(loaded.Parts) != 2 || loaded.Parts[0].Data.Index == nil {
			t.Fatalf("%+v", loaded.Parts)
		}
		options := segment.Milvus(2, 5)
		target := newTarget(t, loaded, replay.TargetOptions{Options: options})
		var requests []*load.Request
		for i := range 20 {
			requests = append(requests, &load.Request{Number: i, Vectors: sparseRandom(t, rng, 2), K: 10})
		}
		truth, err := replay.Exact(t.Context(), loaded, requests, options, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range requests {
			a := ask(t, target, r)
			for q, want := range truth.Hits[r.Number] {
				if len(a.Hits[q]) != 10 || len(want) != 10 {
					t.Fatalf("%d hits, %d expected", len(a.Hits[q]), len(want))
				}
				for i, h := range a.Hits[q] {
					if h.Distance != want[i].Distance &&
						(metric == dist.InnerProduct || abs(h.Distance-want[i].Distance) > 1e-5*abs(h.Distance)) {
						t.Errorf("%s, request %d, hit %d: %v at %g, truth %g", metric, r.Number, i, h.Key, h.Distance,
							want[i].Distance)
					}
				}
			}
		}
	}
}

func abs(x float32) float32 { return max(x, -x) }
