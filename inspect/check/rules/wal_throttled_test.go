package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
)

func TestWALThrottled(t *testing.T) {
	limited := func(mode string) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.RunStreaming(opened,
				rulestest.LogSeries("milvus_wal_rate_limit_controller_state", 1<<20, "source", "flusher", "state",
					mode))
		}
	}
	node := "nodes/streamingnode-30"
	rulestest.RunCases(t, rulestest.ByID("wal-throttled"), []rulestest.Case{
		{Name: "normal", Change: limited("normal")},
		{
			Name: "slowed down", Change: limited("slowdown"),
			Want: []string{"warning " + node + " slows down writes to 1 log (flusher)"},
		},
		{
			Name: "rejected", Change: limited("reject"),
			Want: []string{"error " + node + " rejects writes to 1 log (flusher)"},
		},
		{Name: "on its way back", Change: limited("recovery"), Want: []string{"info " + node}},
		{Name: "of a log that is not open", Change: func(w *rulestest.World) {
			w.RunStreaming(rulestest.LogSeries("milvus_wal_rate_limit_controller_state", 0, "source", "flusher",
				"state", "reject"))
		}},
	})
}
