package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

func TestClockRegression(t *testing.T) {
	live := func(reserved time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Origin.Kind, w.Allocators[0].At = "etcd", modeltest.Now.Add(reserved)
			for _, v := range w.VChannels {
				v.Checkpoint.At = rulestest.TSOAgo(time.Hour)
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("clock-regression"), []rulestest.Case{
		{
			Name:   "checkpoint ahead",
			Change: func(w *rulestest.World) { w.VChannels[0].Checkpoint.At = rulestest.TSOAgo(-time.Minute) },
			Want:   []string{"error / 1 position is ahead of RootCoord's reserved timestamps by up to 60 s"},
		},
		{
			Name:   "a little ahead",
			Change: func(w *rulestest.World) { w.VChannels[0].Checkpoint.At = rulestest.TSOAgo(-5 * time.Second) },
		},
		{Name: "marked as dropped", Change: func(w *rulestest.World) { w.VChannels[0].Checkpoint.At = model.MaxTSO }},
		{Name: "segments ahead", Change: func(w *rulestest.World) {
			w.Segment(0).PositionAt, w.Segment(1).StartAt = rulestest.TSOAgo(-time.Hour), rulestest.TSOAgo(-time.Minute)
		}, Want: []string{"error / 2 positions are ahead of RootCoord's reserved timestamps by up to 60 min"}},
		{Name: "dropped segment", Change: func(w *rulestest.World) {
			w.Segment(0).PositionAt, w.Segment(0).State = rulestest.TSOAgo(-time.Hour), model.SegmentDropped
		}},
		{Name: "live, in step", Change: live(3 * time.Second)},
		{
			Name: "live, behind", Change: live(-5 * time.Minute),
			Want: []string{"warning nodes/rootcoord-1 cluster timestamps are 5 min behind this machine's clock"},
		},
		{
			Name: "live, ahead", Change: live(5 * time.Minute),
			Want: []string{"warning nodes/rootcoord-1 5 min ahead of this machine's clock"},
		},
		{
			Name: "a bundle of a live one",
			Change: func(w *rulestest.World) {
				live(-5 * time.Minute)(w)
				w.Origin.Kind, w.Origin.ByClock = "bundle", true
			},
			Want: []string{"warning nodes/rootcoord-1 5 min behind the clock of the machine that saved the bundle"},
		},
		{
			Name:   "a bundle of a file",
			Change: func(w *rulestest.World) { live(-5 * time.Minute)(w); w.Origin.Kind = "bundle" },
		},
		{Name: "live, nobody runs", Change: func(w *rulestest.World) { live(-5 * time.Minute)(w); w.Sessions = nil }},
		{
			Name: "no allocator", Change: func(w *rulestest.World) { w.Allocators = nil },
			Skipped: "the metadata has no timestamp allocator",
		},
	})
}

// TestClockOfADeadRootCoord checks that RootCoord's reservation is not used as the time if RootCoord does not
// respond.
func TestClockOfADeadRootCoord(t *testing.T) {
	w := rulestest.Healthy()
	w.Serve()
	w.Offset(time.Hour)
	w.Live("rootcoord").Outcome = model.Refused
	if ahead := facts.ClockAhead(w.Build()); ahead != 0 {
		t.Errorf("ahead by %s", ahead)
	}
	rulestest.RunCases(t, rulestest.ByID("clock-regression"), []rulestest.Case{
		{
			Name: "and another clock",
			Change: func(w *rulestest.World) {
				w.Serve()
				w.Offset(time.Hour)
				w.Live("rootcoord").Outcome = model.Refused
			},
			Want: []string{"warning nodes/rootcoord-1 timestamps are 60 min behind"},
		},
		{
			Name: "RootCoord answers", Change: func(w *rulestest.World) { w.Serve(); w.Offset(time.Hour) },
			Want: []string{"info nodes/rootcoord-1 timestamps are 60 min behind"},
		},
	})
}
