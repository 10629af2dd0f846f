package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestL0Backlog(t *testing.T) {
	pile := func(n int, age time.Duration, deletes int64) func(*rulestest.World) {
		return func(w *rulestest.World) {
			for _, s := range w.AddSmallSegments(n, age) {
				s.Level, s.Rows, s.DeletedRows, s.Partition = model.LevelL0, 0, deletes, -1
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("l0-backlog"), []rulestest.Case{
		{Name: "none"},
		{Name: "some", Change: pile(90, 2*time.Hour, 10)},
		{
			Name: "too many, of few deletes", Change: pile(91, 2*time.Hour, 10),
			Want: []string{
				"info vchannels/" + rulestest.Channel0 + " 91 L0 segments of docs on " + rulestest.Channel0 +
					" hold 910 deletes, the oldest for 2 h",
			},
		},
		{
			Name: "too many", Change: pile(91, 2*time.Hour, 2000),
			Want: []string{
				"warning vchannels/" + rulestest.Channel0 + " 91 L0 segments of docs on " + rulestest.Channel0 +
					" hold 182,000 deletes",
			},
		},
		{
			Name:   "too many, not loaded",
			Change: func(w *rulestest.World) { pile(91, 2*time.Hour, 2000)(w); w.LoadStates = nil },
			Want:   []string{"info vchannels/" + rulestest.Channel0 + " 91 L0 segments"},
		},
		{Name: "too many, young", Change: pile(91, 30*time.Minute, 10)},
		{
			Name: "too large", Change: pile(3, 2*time.Hour, 10_000_000),
			Want: []string{"warning vchannels/" + rulestest.Channel0 + " 3 L0 segments"},
		},
		{
			Name:   "collection gone",
			Change: func(w *rulestest.World) { pile(91, 2*time.Hour, 10)(w); w.Collections = nil },
		},
	})
}
