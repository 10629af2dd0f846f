package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

func TestWALAppendSlow(t *testing.T) {
	appends := func(role, name string, count, each float64, labels ...model.Pair) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.AddMetricsToAll()
			withMetrics(role, func(m *model.Metrics) { modeltest.AddTimes(m, name, count, each, labels...) })(w)
		}
	}
	produce := model.Pair{Key: "message_op_type", Value: "produce"}
	const stream = "milvus_msgstream_request_latency"
	rulestest.RunCases(t, rulestest.ByID("wal-append-slow"), []rulestest.Case{
		{Name: "as it should be", Change: appends("rootcoord", stream, 400, 9, produce)},
		{
			Name: "slow", Change: appends("rootcoord", stream, 400, 140, produce),
			Want: []string{"warning / the message queue takes 140 ms to accept a message from rootcoord-1"},
		},
		{
			Name: "a little slow", Change: appends("rootcoord", stream, 400, 70, produce),
			Want: []string{"info / the message queue takes 70 ms"},
		},
		{
			Name: "few messages", Change: appends("rootcoord", stream, 4, 900, produce),
			Skipped: "no process wrote ten messages",
		},
		{
			Name:    "reading is another thing",
			Change:  appends("rootcoord", stream, 400, 900, model.Pair{Key: "message_op_type", Value: "consume"}),
			Skipped: "no process wrote ten messages",
		},
		{Name: "a streaming node of 2.6, in seconds", Change: func(w *rulestest.World) {
			rulestest.Modern(w)
			w.AddResponses()
			appends("streamingnode", "milvus_wal_append_message_duration_seconds", 400, 0.25)(w)
		}, Want: []string{"warning / 250 ms to accept a message from streamingnode-7"}},
		{Name: "one that is well, in seconds", Change: func(w *rulestest.World) {
			rulestest.Modern(w)
			w.AddResponses()
			appends("streamingnode", "milvus_wal_append_message_duration_seconds", 400, 0.008)(w)
		}},
	})
}
