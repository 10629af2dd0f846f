package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestLoadStuck(t *testing.T) {
	// loading sets the collection to Loading, with its newest segment loaded some time ago.
	loading := func(ago time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Serve()
			w.LoadStates[0].Status = "Loading"
			w.Runtime.Loaded[0].Percent = 40
			w.Query(rulestest.NodeB).Distribution.Sealed[0].Version = rulestest.Nanos(ago)
		}
	}
	rulestest.RunCases(t, rulestest.ByID("load-stuck"), []rulestest.Case{
		{
			Name: "for half an hour", Change: loading(30 * time.Minute),
			Want: []string{"warning collections/1000 is loading at 40%, without progress for 30 min"},
		},
		{Name: "moving", Change: loading(time.Minute)},
		{Name: "loaded", Change: (*rulestest.World).Serve},
		{Name: "begun, and nothing there", Change: func(w *rulestest.World) {
			loading(time.Minute)(w)
			for _, id := range []model.NodeID{rulestest.NodeA, rulestest.NodeB} {
				w.Query(id).Distribution = &model.Distribution{}
			}
		}, Want: []string{"info collections/1000 no query node has any of it yet"}},
		{Name: "versions are no times", Change: func(w *rulestest.World) {
			loading(time.Minute)(w)
			for _, id := range []model.NodeID{rulestest.NodeA, rulestest.NodeB} {
				d := w.Query(id).Distribution
				d.Channels[0].Version = 1
				for i := range d.Sealed {
					d.Sealed[i].Version = 1
				}
			}
		}, Skipped: "time of its last progress"},
	})
}
