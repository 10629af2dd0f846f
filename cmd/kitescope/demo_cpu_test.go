package main

import (
	"bytes"
	"math"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// TestDemoKeepsTheCPUOfItsCapture: the processor time that the demo shows is what was captured, however long it runs.
func TestDemoKeepsTheCPUOfItsCapture(t *testing.T) {
	t.Parallel() // it waits
	demo, err := startedDemo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(demo.stop)
	captured := map[string]float64{} // by where the process is served now
	for was, text := range metricsByAddress(demo.answers) {
		m, err := live.ParseMetrics(bytes.NewReader(text), demo.taken())
		if err != nil {
			t.Fatal(err)
		}
		is, _ := demo.servers.Address(was)
		captured[is], _, _ = (&model.Process{Metrics: m}).CPU()
	}
	src, err := source.Open(t.Context(), demo.from(), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := meta.Load(t.Context(), snap, meta.Want{Parts: model.PartAll})
	if err != nil {
		t.Fatal(err)
	}
	for name, window := range map[string]time.Duration{"in the UI": 0, "in diagnose": time.Second} {
		client, err := live.Open(live.Options{Now: clockAt(demo.taken()), Window: window})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		for range 2 {
			r, err := client.Ask(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			for _, n := range r.QueryNodes() {
				cores, _, ok := n.Process.CPU()
				if had := captured[n.Address]; had == 0 || math.Abs(cores-had) > 1e-6*had {
					t.Errorf("%s: %s uses %v cores (%v), captured were %v", name, n.Name(), cores, ok, had)
				}
				if ok {
					seen++
				}
			}
			if seen == 0 {
				t.Error("no process told its processor time")
			}
			time.Sleep(1100 * time.Millisecond)
		}
	}
}
