package whatif

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kitescope/engine"
	"kitescope/engine/segment"
	"kitescope/replay"
	"kitescope/replay/log"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick are limits that keep tests cheap.
var quick = Limits{Queries: 16, Rounds: 2}

func TestPredict(t *testing.T) {
	loaded, queries := loadedOf(t, lopsided(), 40)
	var steps []string
	var changes []Change
	for _, text := range []string{"index", "ef=16", "scale=20", "type=IVF_FLAT", "index,segment-rows=5k,balance"} {
		c, err := ParseChange(text)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, c)
	}
	r, err := Predict(t.Context(), Input{
		Loaded: loaded, Log: queries, Changes: changes, Sessions: []int{1, 8}, Load: Load{Sessions: 8, Requests: 2000},
		Check: 60 * time.Millisecond, Limits: quick, Seed: 5, Progress: func(s string) { steps = append(steps, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	wholePrediction(t, &r.Base)
	if r.Base.Gain != 1 || !r.Base.Measured || r.Base.Recall < 0.9 || r.Base.Cost.Unindexed != 0 || r.Base.EF != 40 {
		t.Errorf("base: gain %v, measured %v, recall %v, cost %+v, ef %d", r.Base.Gain, r.Base.Measured, r.Base.Recall, r.Base.Cost, r.Base.EF)
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
	if m := scale.Modelled; m < 0.94 || m > 0.96 || scale.Recall != -1 || scale.Gain > 0.9 || scale.Cost.CPU < 2*r.Base.Cost.CPU {
		t.Errorf("scale=20: modelled %v, recall %v, gain %v, cost %v of %v", m, scale.Recall, scale.Gain, scale.Cost.CPU, r.Base.Cost.CPU)
	}
	if ivf.Measured || ivf.Recall != -1 || !strings.Contains(strings.Join(ivf.Notes, "\n"), "IVF_FLAT is not built here") {
		t.Errorf("type=IVF_FLAT: measured %v, recall %v, notes %q", ivf.Measured, ivf.Recall, ivf.Notes)
	}
	if !cut.Measured || len(cut.Layout.Segments) != 3 || cut.Recall < 0.9 {
		t.Errorf("segments of 5000 rows: measured %v, %d of them, recall %v", cut.Measured, len(cut.Layout.Segments), cut.Recall)
	}
	checkOf(t, &r.Check)
	if n := strings.Count(strings.Join(steps, "\n"), "build graph"); n != 3+3 {
		t.Errorf("%d graphs were built: %q", n, steps)
	}
	for _, want := range []string{"no live run given", "the simulation of this machine is off by up to"} {
		if !strings.Contains(strings.Join(r.Notes, "\n"), want) {
			t.Errorf("notes %q, want %q", r.Notes, want)
		}
	}
	roundTrip(t, r)
}

// wholePrediction holds one prediction to what is true of all.
func wholePrediction(t *testing.T, p *Prediction) {
	t.Helper()
	name, c := p.Change.Name, p.Cost
	if p.Outcome == nil || len(p.Curve) != 2 || p.Most < p.Curve[1].QPS || p.Gain <= 0 {
		t.Fatalf("%s: outcome %v, %d points, at most %v, gain %v", name, p.Outcome, len(p.Curve), p.Most, p.Gain)
	}
	if c.CPU <= 0 || c.Critical <= 0 || c.Critical > c.CPU || c.Node == "" || (c.CPU-c.Growing-c.Unindexed-c.Indexed).Abs() > time.Microsecond {
		t.Errorf("%s: cost %+v", name, c)
	}
	sum, parts, rows := time.Duration(0), 0.0, int64(0)
	for _, n := range p.Nodes {
		sum, parts, rows = sum+n.CPU, parts+n.Part, rows+n.Rows
	}
	all := int64(0)
	for i := range p.Layout.Segments {
		all += p.Layout.Segments[i].Rows
	}
	if (sum-c.CPU).Abs() > time.Microsecond || math.Abs(parts-1) > 1e-6 || rows != all {
		t.Errorf("%s: nodes add up to %v of %v, %v, %d of %d rows", name, sum, c.CPU, parts, rows, all)
	}
	if p.Outcome.Mean < c.Critical {
		t.Errorf("%s: a request takes %v, its node searches for %v", name, p.Outcome.Mean, c.Critical)
	}
}

func checkOf(t *testing.T, c *Check) {
	t.Helper()
	if len(c.Points) == 0 || c.QPS < 0 || c.P99 < 0 || c.FitMedian <= 0 || c.FitWorst < c.FitMedian || c.Calibrated != "" {
		t.Errorf("check %+v", c)
	}
	for _, p := range c.Points {
		if p.MeasuredQPS <= 0 || p.PredictedQPS <= 0 || p.MeasuredMean <= 0 || p.PredictedMean <= 0 {
			t.Errorf("%+v", p)
		}
	}
}

// simulated is what a change does to a cluster whose costs are known, without measuring.
func simulated(t *testing.T, l *replay.Layout, text string) Prediction {
	t.Helper()
	c := Change{Name: text}
	if text != "" {
		var err error
		if c, err = ParseChange(text); err != nil {
			t.Fatal(err)
		}
	}
	v := apply(l, c)
	p := &priced{variant: v, ask: &asked{params: segment.Params{SearchParams: engine.SearchParams{EF: 64}}}, recall: -1, modelled: make([]bool, len(v.Segments))}
	for i := range v.Segments {
		s := &v.Segments[i]
		ns := float64(s.Rows) * 1000 // row by row
		if s.State == replay.Indexed {
			ns = 200_000
		}
		p.costs = append(p.costs, Measured{Mean: time.Duration(ns), SD: time.Duration(ns / 10)})
	}
	x := &prediction{report: &Report{Load: Load{Sessions: 8, NQ: 1, K: 10, Seed: 1}}, points: []calibrated{{readings: []Overheads{{Task: 100 * time.Microsecond, Factor: 1}}}}}
	x.Progress, x.Sessions = func(string) {}, []int{1, 8}
	out, err := x.predict(t.Context(), p, c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGainsHaveTheRightSign(t *testing.T) {
	l := lopsided()
	base := simulated(t, l, "")
	base.Gain = 1
	r := &Report{Base: base}
	for _, c := range []struct {
		change    string
		low, high float64
	}{
		{"index", 5, 30},
		{"balance", 0.97, 1.2},
		{"index,balance", 5, 40},
		{"nodes=+1", 0.97, 1.03},
		{"cores=8", 1.7, 2.1},
		{"cores=2", 0.45, 0.6},
		{"scale=3", 0.25, 0.5},
	} {
		p := simulated(t, l, c.change)
		p.Gain = p.Most / base.Most
		if p.Gain < c.low || p.Gain > c.high {
			t.Errorf("%s: gain %.3g, want %g to %g", c.change, p.Gain, c.low, c.high)
		}
		r.Others = append(r.Others, p)
	}
	if joint, single := r.Others[2].Gain, r.Others[0].Gain; joint < single {
		t.Errorf("index and balance gain %v, index alone %v", joint, single)
	}
	text := strings.Join(base.Notes, "\n")
	for _, want := range []string{"querynode-1 does 97% of the work: 3 growing segments, compared row by row", "growing segments take 92% of a query's CPU"} {
		if !strings.Contains(text, want) {
			t.Errorf("notes %q, want %q", base.Notes, want)
		}
	}
	ranked := Explain(r)
	for i, want := range []string{"a query takes 7.1ms of the engine's CPU: 92% in growing segments, 8% in indexes", "indexing growing segments: ", "8 cores per node: "} {
		if !strings.HasPrefix(ranked[i], want) {
			t.Errorf("line %d is %q, want %q", i, ranked[i], want)
		}
	}
	if last := ranked[len(ranked)-1]; !strings.Contains(last, "one more node") || !strings.HasPrefix(last, "no gain from ") {
		t.Errorf("the last line is %q", last)
	}
	if all := strings.Join(ranked, "\n"); !strings.Contains(all, "balancing after indexing growing segments: ") || !strings.Contains(all, "2 cores per node: only 0.5") {
		t.Errorf("%s", all)
	}
}

func TestPredictWithoutNodes(t *testing.T) {
	l := lopsided()
	l.Nodes, l.Replicas = nil, nil
	for i := range l.Segments {
		l.Segments[i].On = nil
	}
	loaded, queries := loadedOf(t, l, 20)
	loaded.Parts = loaded.Parts[:5] // and one segment that could not be read
	r, err := Predict(t.Context(), Input{Loaded: loaded, Log: queries, Sessions: []int{1}, Check: -1, Limits: quick})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(append(r.Notes, r.Base.Notes...), "\n")
	for _, want := range []string{"no node reports serving the collection", "1 segments are not loaded", "segment 6 is not loaded", "simulation not compared with the engine"} {
		if !strings.Contains(text, want) {
			t.Errorf("notes %q, want %q", text, want)
		}
	}
	if r.Base.Measured || r.Base.Recall != -1 || r.Base.Modelled < 0.1 || r.Base.Modelled > 0.11 || r.Check.QPS != -1 {
		t.Errorf("measured %v, recall %v, modelled %v, check %+v", r.Base.Measured, r.Base.Recall, r.Base.Modelled, r.Check)
	}
}

func TestPredictCalibrated(t *testing.T) {
	loaded, queries := loadedOf(t, layoutOf(1, map[string]int64{"c0": 1}, []planned{{1, 2000, replay.Growing, 1, "c0"}}), 10)
	// Four cores that are busy for 2 ms with a request, which waits one more on the way.
	k, err := Calibrate(live("milvus", at(1, 40, 3*time.Millisecond, 333), at(8, 40, 4*time.Millisecond, 1990), at(32, 40, 16*time.Millisecond, 2000)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Predict(t.Context(), Input{Loaded: loaded, Log: queries, Sessions: []int{1, 32}, Check: -1, Limits: quick, Calibration: k})
	if err != nil {
		t.Fatal(err)
	}
	c := r.Check
	if c.Calibrated != "milvus" || len(c.Live) != 3 {
		t.Errorf("%+v", c)
	}
	for i, want := range []float64{333, 2000, 2000} {
		if got := c.Live[i].PredictedQPS; math.Abs(got-want) > 0.2*want {
			t.Errorf("%d sessions: %v queries per second, want %v", c.Live[i].Sessions, got, want)
		}
	}
	if got := r.Base.Curve[0].Mean; (got - 3*time.Millisecond).Abs() > 100*time.Microsecond {
		t.Errorf("a lone request takes %v", got)
	}
	roundTrip(t, r)
}

func TestPredictRefuses(t *testing.T) {
	loaded, queries := loadedOf(t, layoutOf(1, map[string]int64{"c0": 1}, []planned{{1, 300, replay.Growing, 1, "c0"}}), 5)
	other := *queries
	other.Vectors, _ = queries.Vectors.Slice(0, 5)
	other.Vectors.Dim = 8
	for want, in := range map[string]Input{
		"nothing is loaded":                   {Log: queries},
		"has no vectors":                      {Loaded: loaded, Log: &log.Log{Name: "access.log"}},
		"8 dimensions":                        {Loaded: loaded, Log: &other},
		"apply to HNSW, not to FLAT":          {Loaded: loaded, Log: queries, Changes: []Change{{Name: "x", Type: "FLAT", EF: 3}}},
		"collection docs: no segments loaded": {Loaded: loaded.With(loaded.Layout, nil), Log: queries},
	} {
		if _, err := Predict(t.Context(), in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for n := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		_, err := Predict(ctx, Input{Loaded: loaded, Log: queries, Changes: []Change{{Name: "i", Index: true, M: 4}}, Limits: quick, Progress: func(string) {
			if seen++; seen > 2*n {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at step %d: %v", 2*n, err)
		}
	}
}

// measured is what each segment of what was loaded costs a query of the log, by its id, and the recall.
func measured(ctx context.Context, loaded *replay.Loaded, l *log.Log, p segment.Params, limits Limits) (map[int64]Measured, float64, error) {
	limits = limits.withDefaults()
	a, err := sample(l, limits.Queries, p)
	if err != nil {
		return nil, -1, err
	}
	t := newCosts(loaded, a, limits, func(string) {})
	v := &variant{Layout: loaded.Layout}
	pieces, err := t.artifacts.pieces(ctx, v)
	if err != nil {
		return nil, -1, err
	}
	r, err := t.measure(ctx, pieces, a)
	if err != nil {
		return nil, -1, err
	}
	costs := map[int64]Measured{}
	for _, piece := range pieces {
		if m, ok := t.known[t.key(piece, a)]; ok {
			costs[piece.ID] = m
		}
	}
	return costs, r, nil
}

func TestMeasure(t *testing.T) {
	loaded, queries := loadedOf(t, lopsided(), 20)
	costs, recall, err := measured(t.Context(), loaded, queries, segment.Params{K: 5, SearchParams: engine.SearchParams{EF: 100}}, quick)
	if err != nil {
		t.Fatal(err)
	}
	if len(costs) != 6 || recall < 0.95 {
		t.Errorf("%d costs, recall %v", len(costs), recall)
	}
	for id, rows := range map[int64]float64{4: 2499, 6: 1499} { // one row of each is deleted
		if c := costs[id]; c.Distances != rows || c.Mean <= 0 || c.Walked != 0 {
			t.Errorf("segment %d: %+v", id, c)
		}
	}
	if c := costs[1]; c.Distances >= 3000 || c.Distances < 100 || c.Walked != 1 {
		t.Errorf("segment 1: %+v", c)
	}
}

func TestBuildsAreBounded(t *testing.T) {
	loaded, queries := loadedOf(t, lopsided(), 20)
	limits := quick
	limits.BuildRows = 3000
	r, err := Predict(t.Context(), Input{
		Loaded: loaded, Log: queries, Changes: []Change{{Name: "index", Index: true}}, Sessions: []int{1}, Check: -1, Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &r.Others[0]
	// segment 4 is built, of 2,500 rows; 5 and 6 are not
	if want := 4000.0 / 14500; math.Abs(p.Modelled-want) > 1e-9 || p.Recall != -1 || !strings.Contains(fmt.Sprint(p.Notes), "more than 3000 rows to build") {
		t.Errorf("modelled %v, want %v; recall %v, notes %q", p.Modelled, want, p.Recall, p.Notes)
	}
}
