package whatif

import (
	"path/filepath"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/object"
	"kitescope/engine/segment"
	"kitescope/engine/segment/segmenttest"
	"kitescope/replay"
	"kitescope/replay/log"
)

// stored loads a collection that a real Milvus 2.3.5 wrote (testdata/storage): all its segments, on one node.
func stored(t *testing.T, collection, vector int64, metric engine.Metric, x replay.Index) (*replay.Loaded, *log.Log) {
	t.Helper()
	return storedIn(t, filepath.Join("..", "..", "testdata", "storage", "2.3.5"), collection, vector, metric, x)
}

// binaryLists are collections of bits that a real Milvus 2.3.5 wrote.
var binaryLists = filepath.Join("..", "..", "engine", "segment", "testdata", "bin_ivf_flat")

// storedIn loads a collection of a folder.
func storedIn(t *testing.T, folder string, collection, vector int64, metric engine.Metric, x replay.Index) (*replay.Loaded, *log.Log) {
	t.Helper()
	store, err := object.OpenFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	files, err := segmenttest.Find(t.Context(), store, "")
	if err != nil {
		t.Fatal(err)
	}
	loaded := &replay.Loaded{}
	var list []planned
	var data []*segment.Segment
	for _, f := range files {
		if f.Collection != collection {
			continue
		}
		s, err := segment.Open(t.Context(), store, f, segment.Schema{PrimaryKey: 100, Vector: vector, Metric: metric})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Release)
		state := replay.Unindexed
		if s.Index != nil {
			state = replay.Indexed
		}
		data, list = append(data, s), append(list, planned{s.ID, int64(s.Rows), state, 1, "c0"})
	}
	if len(data) == 0 {
		t.Fatal("no segments")
	}
	l := layoutOf(2, map[string]int64{"c0": 1}, list)
	l.Collection.Index, l.Collection.Metric, l.Collection.Element = x, metric, data[0].Vectors.Element
	for i, s := range data {
		if l.Segments[i].State == replay.Indexed {
			l.Segments[i].Index = x
		}
		loaded.Parts = append(loaded.Parts, &replay.Part{Info: &l.Segments[i], State: l.Segments[i].State, Data: s})
	}
	loaded.Layout = l
	return loaded, &log.Log{Name: "own vectors", Vectors: someRows(t, data), Requests: []log.Request{{NQ: 30, K: 5, SearchParams: engine.SearchParams{EF: 64, NProbe: 8}}}}
}

// someRows are a few of each segment's rows.
func someRows(t *testing.T, data []*segment.Segment) *engine.Vectors {
	t.Helper()
	if data[0].Vectors.Element == dist.Bit {
		v, err := data[0].Vectors.Slice(0, 30)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	var values []float32
	for _, s := range data {
		for i := range 30 / len(data) {
			values = append(values, s.Vectors.Float32(i*s.Rows/31)...)
		}
	}
	v, err := engine.FromFloat32s(data[0].Vectors.Dim, values)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPredictOfARealCollection(t *testing.T) {
	loaded, queries := stored(t, 470590760626297661, 102, dist.L2, replay.Index{Type: typeHNSW, M: 8, EFConstruction: 64}) // hnsw_l2_parts
	r, err := Predict(t.Context(), Input{
		Loaded: loaded, Log: queries, Sessions: []int{4}, Check: -1, Limits: quick,
		Changes: []Change{{Name: "type=FLAT", Type: typeFlat}, {Name: "segment-rows=4k", SegmentRows: 4000}, {Name: "balance", Balanced: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for _, p := range loaded.Parts {
		rows += p.Info.Rows
	}
	if rows != 9000 || r.Base.Recall < 0.95 || !r.Base.Measured || r.Base.Cost.Indexed != r.Base.Cost.CPU || r.Check.FitMedian <= 0 {
		t.Errorf("%d rows, recall %v, measured %v, cost %+v, check %+v", rows, r.Base.Recall, r.Base.Measured, r.Base.Cost, r.Check)
	}
	flat, cut, balanced := &r.Others[0], &r.Others[1], &r.Others[2]
	if flat.Recall != 1 || flat.Cost.Unindexed != flat.Cost.CPU || !flat.Measured {
		t.Errorf("FLAT: recall %v, cost %+v", flat.Recall, flat.Cost)
	}
	if cut.Recall < 0.9 || !cut.Measured || len(cut.Layout.Segments) != 3 && len(cut.Layout.Segments) != 2 {
		t.Errorf("segments of 4000 rows: recall %v, %d segments", cut.Recall, len(cut.Layout.Segments))
	}
	if balanced.Cost.Critical > r.Base.Cost.Critical || balanced.Nodes[1].Segments == 0 || balanced.Cost.CPU != r.Base.Cost.CPU {
		t.Errorf("balanced: %+v after %+v", balanced.Cost, r.Base.Cost)
	}
}

func TestPredictOfRealLists(t *testing.T) {
	loaded, queries := stored(t, 470590760626297870, 101, dist.L2, replay.Index{Type: typeIVF, NList: 32}) // ivf_cold
	r, err := Predict(t.Context(), Input{
		Loaded: loaded, Log: queries, Sessions: []int{4}, Check: -1, Limits: quick, Changes: []Change{{Name: "scale=4", Scale: 4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Base.Measured || r.Base.Recall < 0.8 || r.Base.Cost.Indexed != r.Base.Cost.CPU {
		t.Errorf("measured %v, recall %v, cost %+v, notes %s", r.Base.Measured, r.Base.Recall, r.Base.Cost, strings.Join(r.Base.Notes, "\n"))
	}
	if p := &r.Others[0]; p.Modelled != 0.75 || p.Cost.CPU < 3*r.Base.Cost.CPU {
		t.Errorf("four times as many: modelled %v, cost %v of %v", p.Modelled, p.Cost.CPU, r.Base.Cost.CPU)
	}
}

func TestPredictOfRealCosines(t *testing.T) {
	loaded, queries := stored(t, 470590760626297790, 101, dist.Cosine, replay.Index{Type: typeHNSW, M: 16, EFConstruction: 64}) // hnsw_sim
	r, err := Predict(t.Context(), Input{
		Loaded: loaded, Log: queries, Sessions: []int{4}, Check: -1, Limits: quick, Changes: []Change{{Name: "segment-rows=1500", SegmentRows: 1500}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Base.Recall < 0.95 {
		t.Errorf("recall %v", r.Base.Recall)
	}
	// Two segments, whose answers are merged: the greatest similarity first.
	if p := &r.Others[0]; p.Recall < 0.95 || len(p.Layout.Segments) != 2 || !p.Measured {
		t.Errorf("two segments: recall %v, %d, measured %v", p.Recall, len(p.Layout.Segments), p.Measured)
	}
}

// TestPredictOfRealBits: lists of bits are searched and modelled as those of numbers are.
func TestPredictOfRealBits(t *testing.T) {
	loaded, queries := storedIn(t, binaryLists, 470703625313714194, 101, dist.Hamming, replay.Index{Type: typeBinIVF, NList: 24})
	r, err := Predict(t.Context(), Input{
		Loaded: loaded, Log: queries, Sessions: []int{4}, Check: -1, Limits: quick,
		Changes: []Change{{Name: "scale=4", Scale: 4}, {Name: "type=FLAT", Type: typeFlat}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Base.Measured || r.Base.Recall < 0.3 || r.Base.Recall == 1 || r.Base.Cost.Indexed != r.Base.Cost.CPU {
		t.Errorf("measured %v, recall %v, cost %+v, notes %s", r.Base.Measured, r.Base.Recall, r.Base.Cost, strings.Join(r.Base.Notes, "\n"))
	}
	larger, flat := &r.Others[0], &r.Others[1]
	if text := strings.Join(larger.Notes, "\n"); larger.Modelled != 0.75 || larger.Cost.CPU < 2*r.Base.Cost.CPU || strings.Contains(text, "is taken to") {
		t.Errorf("four times as many: modelled %v, cost %v of %v, notes %s", larger.Modelled, larger.Cost.CPU, r.Base.Cost.CPU, text)
	}
	if flat.Recall != 1 || !flat.Measured || flat.Cost.Unindexed != flat.Cost.CPU {
		t.Errorf("FLAT: recall %v, cost %+v", flat.Recall, flat.Cost)
	}
}
