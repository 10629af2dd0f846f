package rules_test

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestDDLStuck(t *testing.T) {
	task := func(state string, since time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Tasks = append(w.Tasks, &model.Task{
				ID: 77, Type: "broadcast", SubType: "DropCollection", State: state, Progress: "1/2 acknowledged",
				StartedAt: rulestest.TimeAgo(since),
			})
		}
	}
	rulestest.RunCases(t, rulestest.ByID("ddl-stuck"), []rulestest.Case{
		{
			Name: "waits", Change: task("WaitAck", 11*time.Minute),
			Want: []string{
				"warning tasks/broadcast/77 broadcast of DropCollection has been in state WaitAck for at least 11 " +
					"min: 1/2 acknowledged",
			},
		},
		{Name: "pending", Change: task("Pending", time.Hour), Want: []string{"warning tasks/broadcast/77"}},
		{Name: "under way", Change: task("WaitAck", 9*time.Minute)},
		{Name: "over", Change: task("Tombstone", time.Hour)},
		{Name: "acknowledged by none", Change: func(w *rulestest.World) {
			task("Pending", time.Hour)(w)
			w.Tasks[len(w.Tasks)-1].StartedAt = time.Time{}
		}},
	})
	field := func(state string, changed time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Collections[0].Fields[1].State, w.Collections[0].UpdatedAt = state, rulestest.TSOAgo(changed)
		}
	}
	rulestest.RunCases(t, rulestest.ByID("ddl-stuck"), []rulestest.Case{
		{Name: "a field is added", Change: field("Creating", time.Minute)},
		{
			Name: "a field is not added", Change: field("Creating", time.Hour),
			Want: []string{"warning fields/1000/101 field vec of docs has been in state Creating for at least 60 min"},
		},
		{
			Name:   "a field, unknown since when",
			Change: func(w *rulestest.World) { w.Collections[0].Fields[1].State = "Creating" },
		},
		{
			Name: "tasks not read", Change: func(w *rulestest.World) { w.Loaded &^= model.PartTasks },
			Skipped: "broadcasts: the metadata could not be read",
		},
	})
	f := rulestest.RunCheck(t, rulestest.ByID("ddl-stuck"), func(w *rulestest.World) {
		task("WaitAck", time.Hour)(w)
		w.Tasks[len(w.Tasks)-1].Unacknowledged = []string{
			rulestest.Channel0, rulestest.PChannel + "_vcchan", "by-dev-rootcoord-dml_1", "unknown_1v0",
		}
	}).Findings[0]
	want := []model.Ref{
		{Resource: "pchannels", ID: rulestest.PChannel, Name: rulestest.PChannel},
		facts.RefVChannel(rulestest.Channel0),
		{Resource: "pchannels", ID: "by-dev-rootcoord-dml_1", Name: "by-dev-rootcoord-dml_1"},
		facts.RefVChannel(rulestest.Channel1),
	}
	if !slices.Equal(f.Objects, want) {
		t.Errorf("it waits for %v", f.Objects)
	}
}
