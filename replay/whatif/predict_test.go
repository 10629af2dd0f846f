package whatif

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/object"
	"kitescope/engine/segment"
	"kitescope/engine/segment/segmenttest"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/log"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testLimits holds limits that keep tests fast.
var testLimits = Limits{Queries: 16, Rounds: 2}

func parsed(t *testing.T, texts ...string) (list []Change) {
	t.Helper()
	for _, text := range texts {
		c, err := ParseChange(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

func TestPredict(t *testing.T) {
	loaded, queries := loadedOf(t, unbalancedLayout(), 40)
	var steps []string
	r, err := Predict(t.Context(), Input{
		Loaded: loaded, Log: queries,
		Changes: parsed(t, "index", "ef=16", "scale=20", "type=IVF_FLAT", "index,segment-rows=5k,balance"),
		Load:    Load{Sessions: 8, Requests: 2000}, Limits: testLimits, Seed: 5,
		Progress: func(s string) { steps = append(steps, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	wholePrediction(t, &r.Base)
	if r.Base.Gain != 1 || !r.Base.Measured || r.Base.Recall < 0.9 || r.Base.Cost.Unindexed != 0 || r.Base.EF != 40 {
		t.Errorf("base: gain %v, measured %v, recall %v, cost %+v, ef %d", r.Base.Gain, r.Base.Measured, r.Base.Recall,
			r.Base.Cost, r.Base.EF)
	}
	for i := range r.Others {
		wholePrediction(t, &r.Others[i])
	}
	index, ef, scale, ivf, cut := &r.Others[0], &r.Others[1], &r.Others[2], &r.Others[3], &r.Others[4]
	if index.Cost.Growing != 0 || !index.Measured || index.Recall < 0.9 {
		t.Errorf("index: %+v, recall %v", index.Cost, index.Recall)
	}
	if ef.EF != 16 || ef.Recall > r.Base.Recall || ef.Recall < 0.8 || ef.Cost.Growing != r.Base.Cost.Growing {
		t.Errorf("ef=16: ef %d, recall %v of %v, cost %+v", ef.EF, ef.Recall, r.Base.Recall, ef.Cost)
	}
	if m := scale.Modelled; m < 0.94 || m > 0.96 || scale.Recall != -1 || scale.Gain > 0.9 ||
		scale.Cost.CPU < 2*r.Base.Cost.CPU {
		t.Errorf("scale=20: modelled %v, recall %v, gain %v, cost %v of %v", m, scale.Recall, scale.Gain,
			scale.Cost.CPU, r.Base.Cost.CPU)
	}
	if ivf.Measured || ivf.Recall != -1 ||
		!strings.Contains(strings.Join(ivf.Notes, "\n"), "an index that is not built here: IVF_FLAT") {
		t.Errorf("type=IVF_FLAT: measured %v, recall %v, notes %q", ivf.Measured, ivf.Recall, ivf.Notes)
	}
	if cut.Modelled != 1 || cut.Layout.Segments != 3 ||
		!strings.Contains(strings.Join(cut.Notes, "\n"), "3 segments are copies, or re-cut") {
		t.Errorf("segments of 5000 rows: modelled %v, %d of them, notes %q", cut.Modelled, cut.Layout.Segments,
			cut.Notes)
	}
	if c := r.Check; c.FitMedian <= 0 || c.FitWorst < c.FitMedian || c.Calibrated != "" {
		t.Errorf("check %+v", c)
	}
	if n := strings.Count(strings.Join(steps, "\n"), "build graph"); n != 3 {
		t.Errorf("%d graphs were built: %q", n, steps)
	}
	if !strings.Contains(strings.Join(r.Notes, "\n"), "no live run given") {
		t.Errorf("notes %q", r.Notes)
	}
	roundTrip(t, r)
}

// wholePrediction checks the invariants of a prediction.
func wholePrediction(t *testing.T, p *Prediction) {
	t.Helper()
	name, c := p.Change.Name, p.Cost
	if p.Outcome == nil || p.Most < p.Outcome.QPS || p.Gain <= 0 || p.GainAtLoad <= 0 {
		t.Fatalf("%s: outcome %v, at most %v, gain %v", name, p.Outcome, p.Most, p.Gain)
	}
	if c.CPU <= 0 || c.Critical <= 0 || c.Critical > c.CPU || c.Node == "" ||
		(c.CPU-c.Growing-c.Unindexed-c.Indexed).Abs() > time.Microsecond {
		t.Errorf("%s: cost %+v", name, c)
	}
	if p.Outcome.Mean < c.Critical {
		t.Errorf("%s: a request takes %v, its node searches for %v", name, p.Outcome.Mean, c.Critical)
	}
}

// simulated returns the prediction of a change to a cluster with given costs, without measuring.
func simulated(t *testing.T, l *replay.Layout, text string) Prediction {
	t.Helper()
	c, v := Change{Name: text}, &variant{Layout: clone(l)}
	if text != "" {
		c = parsed(t, text)[0]
		var err error
		if v, err = apply(l, c); err != nil {
			t.Fatal(err)
		}
	}
	p := newPriced(l, v, func(s *replay.Segment) time.Duration {
		if s.State == replay.Indexed {
			return 200 * time.Microsecond
		}
		return time.Duration(s.Rows) * time.Microsecond // row by row
	})
	x := &prediction{
		report: &Report{Load: Load{Sessions: 8, NQ: 1, K: 10, Seed: 1}},
		points: []calibratedLoad{{estimates: []Overheads{{Task: 100 * time.Microsecond, Factor: 1}}}},
	}
	x.Progress = func(string) {}
	out, err := x.predict(t.Context(), p, c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGainSigns(t *testing.T) {
	l := unbalancedLayout()
	base := simulated(t, l, "")
	for _, c := range []struct {
		change    string
		low, high float64
	}{
		{"index", 5, 30},
		{"balance", 0.97, 1.2},
		{"index,balance", 5, 40},
		{"cores=8", 1.7, 2.1},
		{"cores=2", 0.45, 0.6},
		{"scale=3", 0.25, 0.5},
	} {
		if gain := simulated(t, l, c.change).Most / base.Most; gain < c.low || gain > c.high {
			t.Errorf("%s: gain %.3g, want %g to %g", c.change, gain, c.low, c.high)
		}
	}
}

func TestPredictWithoutNodes(t *testing.T) {
	l := unbalancedLayout()
	l.Nodes, l.Replicas = nil, nil
	for i := range l.Segments {
		l.Segments[i].On = nil
	}
	loaded, queries := loadedOf(t, l, 20)
	loaded.Parts = loaded.Parts[:5] // one segment is not loaded
	r, err := Predict(t.Context(), Input{Loaded: loaded, Log: queries, Limits: testLimits})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(append(r.Notes, r.Base.Notes...), "\n")
	for _, want := range []string{"no node reports serving the collection", "1 segments are not loaded"} {
		if !strings.Contains(text, want) {
			t.Errorf("notes %q, want %q", text, want)
		}
	}
	if r.Base.Measured || r.Base.Recall != -1 || r.Base.Modelled < 0.1 || r.Base.Modelled > 0.11 {
		t.Errorf("measured %v, recall %v, modelled %v", r.Base.Measured, r.Base.Recall, r.Base.Modelled)
	}
}

func TestPredictCalibrated(t *testing.T) {
	loaded, queries := loadedOf(t,
		layoutOf(1, map[string]int64{"c0": 1}, []planned{{1, 2000, replay.Growing, 1, "c0"}}), 10)
	// A request keeps the four cores busy for 2 ms and waits 1 ms more on the way.
	k, err := Calibrate(live("milvus", at(1, 40, 3*time.Millisecond, 333), at(8, 40, 4*time.Millisecond, 1990),
		at(32, 40, 16*time.Millisecond, 2000)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Predict(t.Context(), Input{
		Loaded: loaded, Log: queries, Load: Load{Sessions: 1}, Limits: testLimits, Calibration: k,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Check.Calibrated != "milvus" || len(r.Check.Live) != 3 {
		t.Errorf("%+v", r.Check)
	}
	for _, p := range r.Check.Live {
		if math.Abs(p.PredictedQPS/p.MeasuredQPS-1) > 0.2 {
			t.Errorf("%d sessions: %v queries per second, want %v", p.Sessions, p.PredictedQPS, p.MeasuredQPS)
		}
	}
	if got := r.Base.Outcome.Mean; (got - 3*time.Millisecond).Abs() > 100*time.Microsecond {
		t.Errorf("a lone request takes %v", got)
	}
}

func TestPredictRefuses(t *testing.T) {
	loaded, queries := loadedOf(t, unbalancedLayout(), 5)
	other := *queries
	other.Vectors, _ = queries.Vectors.Slice(0, 5)
	other.Vectors.Dim = 8
	for want, in := range map[string]Input{
		"has no vectors":                      {Loaded: loaded, Log: &log.Log{Name: "access.log"}},
		"8 dimensions":                        {Loaded: loaded, Log: &other},
		"collection docs: no segments loaded": {Loaded: loaded.With(loaded.Layout, nil), Log: queries},
		`change "ef=40": ef has no effect: searches already use 40`: {
			Loaded: loaded, Log: queries, Changes: parsed(t, "ef=40"),
		},
	} {
		if _, err := Predict(t.Context(), in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for n := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		_, err := Predict(ctx, Input{
			Loaded: loaded, Log: queries, Changes: []Change{{Name: "i", Index: true, M: 4}},
			Limits: testLimits, Progress: func(string) {
				if seen++; seen > 2*n {
					cancel()
				}
			},
		})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at step %d: %v", 2*n, err)
		}
	}
}

// TestCausesAreTried checks that likely changes without effect are omitted instead of returned as errors.
func TestCausesAreTried(t *testing.T) {
	loaded, queries := loadedOf(t,
		layoutOf(1, map[string]int64{"c0": 1}, []planned{{1, 2000, replay.Indexed, 1, "c0"}}), 10)
	r, err := Predict(t.Context(), Input{
		Loaded: loaded, Log: queries, Limits: testLimits, Changes: Causes(loaded.Layout, 64), SkipInvalid: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range r.Others {
		names = append(names, r.Others[i].Change.Name)
	}
	if got := strings.Join(names, " "); got != "ef=32 cores=8" {
		t.Errorf("tried %q", got)
	}
}

func TestBuildLimit(t *testing.T) {
	loaded, queries := loadedOf(t, unbalancedLayout(), 20)
	limits := testLimits
	limits.BuildRows = 3000
	r, err := Predict(t.Context(), Input{Loaded: loaded, Log: queries, Changes: parsed(t, "index"), Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	p := &r.Others[0]
	// Segment 4, with 2,500 rows, is built; 5 and 6 are not.
	if want := 4000.0 / 14500; math.Abs(p.Modelled-want) > 1e-9 || p.Recall != -1 ||
		!strings.Contains(fmt.Sprint(p.Notes), "more than 3000 rows in all") {
		t.Errorf("modelled %v, want %v; recall %v, notes %q", p.Modelled, want, p.Recall, p.Notes)
	}
}

// TestPredictWithFilters checks that costs and recall are measured by filtered searches.
func TestPredictWithFilters(t *testing.T) {
	loaded, queries := loadedOf(t, unbalancedLayout(), 20)
	even := &log.Filter{} // half of the rows
	for segment := range 7 {
		for key := 0; key < 3000; key += 2 {
			even.Keys = append(even.Keys, engine.NumberKey(int64(segment*1_000_000+key)))
		}
	}
	for i := range queries.Requests {
		queries.Requests[i].Filter = even
	}
	r, err := Predict(t.Context(), Input{
		Loaded: loaded, Log: queries, Changes: parsed(t, "index", "scale=2"), Limits: testLimits,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(fmt.Sprint(r.Notes), "the log's filters, which leave out 50% of the rows") {
		t.Errorf("notes %q", r.Notes)
	}
	for _, p := range []Prediction{r.Base, r.Others[0]} {
		if p.Recall < 0.9 || p.Outcome.QPS <= 0 {
			t.Errorf("%s: recall %v, %v queries per second", p.Change.Name, p.Recall, p.Outcome.QPS)
		}
	}
}

// stored loads all segments of a collection that was written by Milvus 2.3.5, with a layout that has them on one
// node.
func stored(
	t *testing.T, folder string, collection, vector int64, metric engine.Metric, x replay.Index,
) (*replay.Loaded, *log.Log) {
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
	l := layoutOf(2, map[string]int64{"c0": 1}, list)
	l.Collection.Index, l.Collection.Metric, l.Collection.Element = x, metric, data[0].Vectors.Element
	for i, s := range data {
		if l.Segments[i].State == replay.Indexed {
			l.Segments[i].Index = x
		}
		loaded.Parts = append(loaded.Parts, &replay.Part{Info: &l.Segments[i], State: l.Segments[i].State, Data: s})
	}
	loaded.Layout = l
	v, err := data[0].Vectors.Slice(0, 30)
	if err != nil {
		t.Fatal(err)
	}
	return loaded,
		&log.Log{
			Name: "own vectors", Vectors: v,
			Requests: []log.Request{{NQ: 30, K: 5, SearchParams: engine.SearchParams{EF: 64, NProbe: 8}}},
		}
}

// TestPredictOfRealCollections covers graphs by L2 and cosine, and inverted lists of float and binary vectors.
func TestPredictOfRealCollections(t *testing.T) {
	own := filepath.Join("..", "..", "testdata", "storage", "2.3.5")
	for _, x := range []struct {
		name, folder       string
		collection, vector int64
		metric             engine.Metric
		index              replay.Index
		recall             float64
	}{
		{
			"hnsw_l2_parts", own, 470590760626297661, 102, dist.L2,
			replay.Index{Type: typeHNSW, M: 8, EFConstruction: 64},
			0.95,
		},
		{"ivf_cold", own, 470590760626297870, 101, dist.L2, replay.Index{Type: typeIVF, NList: 32}, 0.8},
		{
			"hnsw_sim", own, 470590760626297790, 101, dist.Cosine,
			replay.Index{Type: typeHNSW, M: 16, EFConstruction: 64},
			0.95,
		},
		{
			"bin_ivf_flat", filepath.Join("..", "..", "engine", "segment", "testdata", "bin_ivf_flat"),
			470703625313714194, 101,
			dist.Hamming,
			replay.Index{Type: typeBinIVF, NList: 24},
			0.3,
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			loaded, queries := stored(t, x.folder, x.collection, x.vector, x.metric, x.index)
			r, err := Predict(t.Context(), Input{
				Loaded: loaded, Log: queries, Limits: testLimits, Changes: parsed(t, "type=FLAT", "scale=4"),
			})
			if err != nil {
				t.Fatal(err)
			}
			if !r.Base.Measured || r.Base.Recall < x.recall || r.Base.Cost.Indexed != r.Base.Cost.CPU {
				t.Errorf("measured %v, recall %v, cost %+v, notes %q", r.Base.Measured, r.Base.Recall, r.Base.Cost,
					r.Base.Notes)
			}
			flat, larger := &r.Others[0], &r.Others[1]
			if flat.Recall != 1 || !flat.Measured || flat.Cost.Unindexed != flat.Cost.CPU {
				t.Errorf("FLAT: recall %v, cost %+v", flat.Recall, flat.Cost)
			}
			if larger.Modelled != 0.75 || larger.Cost.CPU < 2*r.Base.Cost.CPU {
				t.Errorf("four times as many: modelled %v, cost %v of %v, notes %q", larger.Modelled, larger.Cost.CPU,
					r.Base.Cost.CPU, larger.Notes)
			}
		})
	}
}

func live(target string, points ...load.Point) *replay.Result {
	return &replay.Result{Setup: replay.Setup{Target: target}, Points: points}
}

func at(sessions, ef int, mean time.Duration, qps float64) load.Point {
	return load.Point{
		Plan: load.Plan{Sessions: sessions}, EF: ef, QPS: qps, Latency: load.Latency{Count: 100, Mean: mean},
	}
}
