package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestIndexStuck(t *testing.T) {
	wait := func(state model.IndexState, since time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Index(0).State, w.Index(0).FinishedAt = state, time.Time{}
			w.Segment(0).PositionAt, w.Segment(0).ExpireAt, w.Segment(0).StartAt = rulestest.TSOAgo(since),
				rulestest.TSOAgo(since), rulestest.TSOAgo(since)
		}
	}
	and := func(f func(*rulestest.World), more func(*rulestest.World)) func(*rulestest.World) {
		return func(w *rulestest.World) { f(w); more(w) }
	}
	noBuilder := func(w *rulestest.World) { w.Sessions = append(w.Sessions[:5:5], w.Sessions[6:]...) }
	rulestest.RunCases(t, rulestest.ByID("index-stuck"), rulestest.Configured([]rulestest.Case{
		{
			Name: "in progress for long", Change: wait(model.IndexInProgress, 40*time.Minute),
			Want: []string{"warning indexes/1500 build unfinished on 1 segment, 90,000 rows, for up to 40 min"},
		},
		{
			Name: "unissued for long", Change: wait(model.IndexUnissued, 40*time.Minute),
			Want: []string{"warning indexes/1500 for up to 40 min"},
		},
		{
			Name: "tried again", Change: wait(model.IndexRetry, 40*time.Minute),
			Want: []string{"warning indexes/1500 for up to 40 min"},
		},
		{Name: "for a while", Change: wait(model.IndexInProgress, 20*time.Minute)},
		{
			Name: "others of another index finish",
			Change: and(wait(model.IndexUnissued, 40*time.Minute), func(w *rulestest.World) {
				s := rulestest.HealthySegment(9000, "other")
				s.Collection, s.Indexes[0].Index, s.Indexes[0].FinishedAt = 7, 8, rulestest.TimeAgo(time.Minute)
				w.Segments = append(w.Segments, s)
			}), Want: []string{"info indexes/1500 for up to 40 min"},
		},
		{
			Name: "others finish, and this fails again and again",
			Change: and(wait(model.IndexRetry, 40*time.Minute), func(w *rulestest.World) {
				w.Index(0).FailReason, w.Index(1).FinishedAt = "out of memory", rulestest.TimeAgo(time.Minute)
			}), Want: []string{"warning indexes/1500 for up to 40 min"},
		},
		{
			Name: "others finish, for more than a day",
			Change: and(wait(model.IndexUnissued, 30*time.Hour), func(w *rulestest.World) {
				w.Index(1).FinishedAt = rulestest.TimeAgo(time.Minute)
			}),
			Want: []string{"warning indexes/1500 for up to 30 h"},
		},
		{Name: "a queue before 2.5", Change: and(wait(model.IndexUnissued, 2*time.Hour), func(w *rulestest.World) {
			for i := range w.Segments {
				w.Index(i).FinishedAt = time.Time{}
			}
			s := w.Segment(1)
			s.PositionAt, s.ExpireAt, s.StartAt, w.Index(1).State = rulestest.TSOAgo(2*time.Hour),
				rulestest.TSOAgo(2*time.Hour), rulestest.TSOAgo(2*time.Hour), model.IndexInProgress
		}), Want: []string{"info indexes/1500 build unfinished on 2 segments, 180,000 rows, for up to 2 h"}},
		{
			Name: "nobody builds, before 2.5",
			Change: and(wait(model.IndexUnissued, 2*time.Hour), func(w *rulestest.World) {
				for i := range w.Segments {
					w.Index(i).FinishedAt = time.Time{}
				}
			}), Want: []string{"warning indexes/1500 for up to 2 h"},
		},
		{
			Name: "of an import under way",
			Change: and(wait(model.IndexUnissued, 2*time.Hour), func(w *rulestest.World) {
				w.Segment(0).Importing = true
			}),
		},
		{
			Name: "of an import that began long ago",
			Change: and(wait(model.IndexUnissued, 13*time.Hour), func(w *rulestest.World) {
				w.Segment(0).Importing = true
			}),
			Want: []string{"warning indexes/1500 for up to 13 h"},
		},
		{
			Name: "on a node that stops",
			Change: and(wait(model.IndexInProgress, 10*time.Minute), func(w *rulestest.World) {
				w.Another("indexnode", 16)
				w.Index(0).Node, w.Sessions[len(w.Sessions)-1].Stopping = 16, true
			}),
		},
		{
			Name:   "on a node that is gone",
			Change: and(wait(model.IndexInProgress, 3*time.Minute), func(w *rulestest.World) { w.Index(0).Node = 99 }),
			Want:   []string{"warning indexes/1500 for up to 3 min"},
		},
		{
			Name:   "on a node that has just gone",
			Change: and(wait(model.IndexInProgress, time.Minute), func(w *rulestest.World) { w.Index(0).Node = 99 }),
		},
		{
			Name: "no index node", Change: and(wait(model.IndexUnissued, 3*time.Minute), noBuilder),
			Want: []string{"warning indexes/1500 no index node is registered"},
		},
		{
			Name:   "stopped cluster",
			Change: and(wait(model.IndexUnissued, 3*time.Minute), func(w *rulestest.World) { w.Sessions = nil }),
		},
		{
			Name: "others finish",
			Change: and(wait(model.IndexUnissued, 40*time.Minute), func(w *rulestest.World) {
				w.Index(1).FinishedAt = rulestest.TimeAgo(time.Minute)
			}),
			Want: []string{"info indexes/1500 for up to 40 min"},
		},
		{
			Name: "data nodes build from 2.6 on",
			Change: and(wait(model.IndexInProgress, 3*time.Minute), func(w *rulestest.World) {
				noBuilder(w)
				w.Another("mixcoord", 20)
				w.Index(0).Node = 5
			}),
		},
		{
			Name: "scalar field",
			Change: and(wait(model.IndexUnissued, 40*time.Minute),
				func(w *rulestest.World) { w.Indexes[0].Field = 102 }),
			Want: []string{"info indexes/1500 docs.tag"},
		},
		{
			Name: "flat",
			Change: and(wait(model.IndexUnissued, 40*time.Minute), func(w *rulestest.World) {
				w.Indexes[0].Type = "BIN_FLAT"
			}),
		},
	}))
}
