package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestQueueUnreachable(t *testing.T) {
	queue := func(outcome model.Outcome) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.AddResponses().Queue = &model.Queue{
				Kind: "kafka", Address: "10.0.0.9:9092", Outcome: outcome, Reason: "no broker",
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("queue-unreachable"), []rulestest.Case{
		{Name: "answers", Change: queue(model.Answered)},
		{
			Name: "refused, nodes did not say", Change: queue(model.Refused),
			Want: []string{"info / the message queue (kafka) at 10.0.0.9:9092 is not responding: refused: no broker"},
		},
		{Name: "out of reach, nodes keep up", Change: func(w *rulestest.World) {
			queue(model.Unreachable)(w)
			ticking(map[string]time.Duration{"datanode": time.Second, "querynode": 20 * time.Second})(w)
		}, Want: []string{"info / unreachable"}},
		{Name: "down", Change: func(w *rulestest.World) {
			queue(model.TimedOut)(w)
			ticking(map[string]time.Duration{"datanode": 15 * time.Second, "querynode": 20 * time.Second})(w)
		}, Want: []string{"error / and all nodes are at least 15 s behind"}},
		{Name: "denied", Change: queue(model.Denied), Skipped: "no usable response from the message queue: denied"},
		{Name: "left out", Change: func(w *rulestest.World) {
			w.AddResponses().Skipped = []model.Skipped{{What: "message queue", Reason: "RocksMQ is inside the process"}}
		}, Skipped: "RocksMQ is inside"},
		{Name: "not asked", Change: func(w *rulestest.World) { w.AddResponses() }, Skipped: "was not queried"},
	})
}
