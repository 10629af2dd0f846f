package whatif

import (
	"testing"
	"time"
)

// TestGainAtRequestedLoad checks that Best compares gains at the load of the report: with two sessions, a
// cluster with five times the capacity gains little.
func TestGainAtRequestedLoad(t *testing.T) {
	at := func(name string, qps, most float64, p99 time.Duration) Prediction {
		return Prediction{
			Change: Change{Name: name}, Outcome: &Outcome{QPS: qps, P99: p99}, Most: most, Gain: most / 1000,
			GainAtLoad: qps / 500, Recall: -1,
		}
	}
	r := &Report{Load: Load{Sessions: 2}, Base: at("", 500, 1000, 8*time.Millisecond), Others: []Prediction{
		at("nodes=+8,balance", 565, 5410, 7*time.Millisecond), at("index", 750, 2000, 5*time.Millisecond),
		at("ef=16", 755, 1500, 5*time.Millisecond),
		{
			Change: Change{Name: "scale=0.1", Scale: 0.1}, Outcome: &Outcome{QPS: 4000}, Most: 9000, Gain: 9,
			GainAtLoad: 8, Recall: -1,
		},
		at("cores=1", 500, 400, 9*time.Millisecond),
	}}
	if b := r.Best(); b == nil || b.Change.Name != "index" { // equal to ef=16 at this load, with a higher maximum
		t.Errorf("best: %+v", b)
	}
	r.Load = Load{Rate: 500}
	r.Others[1].Outcome.Saturated = true
	if b := r.Best(); b == nil || b.Change.Name != "ef=16" { // the lowest p99 that meets the rate
		t.Errorf("best at a rate: %+v", b)
	}
	r.Load, r.Others = Load{Sessions: 2}, r.Others[3:]
	if b := r.Best(); b != nil {
		t.Errorf("best where nothing is: %+v", b)
	}
}

func TestWorst(t *testing.T) {
	point := func(qps float64, p99 time.Duration) CheckPoint {
		return CheckPoint{MeasuredQPS: 100, PredictedQPS: qps, MeasuredP99: 10 * time.Millisecond, PredictedP99: p99}
	}
	c := Check{Live: []CheckPoint{point(100, 10*time.Millisecond), point(62, 16*time.Millisecond)}}
	if qps, p99 := c.Worst(); qps != 0.38 || p99 < 0.59 || p99 > 0.61 {
		t.Errorf("%v, %v", qps, p99)
	}
	if qps, p99 := (&Check{}).Worst(); qps != -1 || p99 != -1 {
		t.Errorf("nothing was checked: %v, %v", qps, p99)
	}
}
