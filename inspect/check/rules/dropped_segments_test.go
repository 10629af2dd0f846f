package rules_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestDroppedNotCollected(t *testing.T) {
	drop := func(n int, ago time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			for _, s := range w.AddSmallSegments(n, ago+time.Hour) {
				s.State, s.DroppedAt = model.SegmentDropped, rulestest.TSOAgo(ago)
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("dropped-not-collected"), rulestest.Configured([]rulestest.Case{
		{Name: "within the retention", Change: drop(3, 26*time.Hour)},
		{
			Name: "past it", Change: drop(3, 28*time.Hour),
			Want: []string{"info / 3 dropped segments are overdue for garbage collection, the oldest dropped 28 h ago"},
		},
		{Name: "past the retention that is told", Change: func(w *rulestest.World) {
			drop(3, 7*time.Hour)(w)
			w.AddResponses()
			w.Live("datacoord").Config.Values["datacoordgcdroptolerance"] = "10800"
		}, Want: []string{"info / 3 dropped segments"}},
		{
			Name: "the collector is paused", Change: func(w *rulestest.World) {
				drop(3, 28*time.Hour)(w)
				w.AddResponses().Collector = &model.GarbageCollector{
					Paused: true, Remaining: 50 * time.Minute, Reporter: "mixcoord-1",
				}
			},
			Want: []string{
				"info / 3 dropped segments are overdue for garbage collection, the oldest dropped 28 h ago; garbage " +
					"collection is paused for another 50 min",
			},
		},
		{Name: "very many", Change: drop(1000, 28*time.Hour), Want: []string{"warning / 1,000 dropped segments"}},
		{
			Name: "without a time of dropping", Change: func(w *rulestest.World) {
				drop(2, 28*time.Hour)(w)
				w.Segments[len(w.Segments)-1].DroppedAt = 0
			},
			Want: []string{
				"info / 2 dropped segments are overdue for garbage collection, the oldest dropped 28 h ago; 1 " +
					"without a drop time",
			},
		},
		{Name: "a large collection dropped just now in 2.6", Change: func(w *rulestest.World) {
			drop(1500, 28*time.Hour)(w)
			for _, s := range w.Segments {
				s.DroppedAt = 0
			}
		}, Want: []string{"info / 1,500 dropped segments have no drop time and may never be collected"}},
		{Name: "without any time", Change: func(w *rulestest.World) {
			drop(1, 28*time.Hour)(w)
			s := w.Segments[len(w.Segments)-1]
			s.DroppedAt, s.PositionAt, s.StartAt, s.ExpireAt = 0, 0, 0, 0
		}},
		{
			Name:    "no time of the state",
			Change:  func(w *rulestest.World) { drop(3, 28*time.Hour)(w); w.Now = time.Time{} },
			Skipped: "time of the metadata is unknown",
		},
	}))
	for _, paused := range []bool{true, false} {
		f := rulestest.RunCheck(t, rulestest.ByID("dropped-not-collected"), func(w *rulestest.World) {
			drop(2, 28*time.Hour)(w)
			w.AddResponses().Collector = &model.GarbageCollector{
				Paused: paused, Remaining: time.Hour, Reporter: "mixcoord-1",
			}
		}).Findings[0]
		if told := strings.Contains(f.Message, "paused"); told != paused ||
			(f.Evidence[len(f.Evidence)-1].Source == "mixcoord-1 /management/data_gc") != paused {
			t.Errorf("paused %v: %s, %v", paused, f.Message, f.Evidence)
		}
	}
	rulestest.RunCases(t, rulestest.ByID("dropped-not-collected"),
		[]rulestest.Case{
			{Name: "processes were not asked", Change: drop(3, 26*time.Hour), Skipped: "): the nodes were not queried"},
		})
	r := rulestest.RunCheck(t, rulestest.ByID("dropped-not-collected"), func(w *rulestest.World) {
		drop(2, 28*time.Hour)(w)
		w.VChannels[0].Checkpoint.At = rulestest.TSOAgo(40 * time.Hour)
	})
	if e := r.Findings[0].Evidence; e[len(e)-1].Name != "with a checkpoint behind their last write" ||
		e[len(e)-1].Value != "2" {
		t.Errorf("what holds the collector up is missing: %v", e)
	}
	if f := r.Findings[0]; !slices.ContainsFunc(f.Objects, func(o model.Ref) bool {
		return o.Resource == "vchannels" && o.ID == rulestest.Channel0
	}) {
		t.Errorf("the channel that holds it up is not named: %v", f.Objects)
	}
}
