package rules_test

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

func TestTimetickLag(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("timetick-lag"), []rulestest.Case{
		{Name: "current", Change: ticking(map[string]time.Duration{"datanode": time.Second, "querynode": 0})},
		{
			Name:   "a data node behind",
			Change: ticking(map[string]time.Duration{"datanode": 40 * time.Second, "querynode": 0}),
			Want:   []string{"warning nodes/datanode-5 datanode-5 is 40 s behind on " + rulestest.Channel0},
		},
		{
			Name: "far behind", Change: ticking(map[string]time.Duration{"datanode": 6 * time.Minute, "querynode": 0}),
			Want: []string{"error nodes/datanode-5 6 min"},
		},
		{
			Name: "a data node that was just given the channel", Change: func(w *rulestest.World) {
				ticking(map[string]time.Duration{"datanode": 40 * time.Second, "querynode": 0})(w)
				v := w.VChannels[slices.IndexFunc(w.VChannels, func(v *model.VChannel) bool {
					return v.Name == rulestest.Channel0
				})]
				v.Watcher, v.WatchedAt = w.Live("datanode").Node, w.Now.Add(-20*time.Second)
			},
			Want: []string{
				"info nodes/datanode-5 datanode-5 is 40 s behind on " + rulestest.Channel0 + ", assigned 20 s ago",
			},
		},
		{
			Name:   "a query node is another check's",
			Change: ticking(map[string]time.Duration{"datanode": 0, "querynode": time.Minute}),
		},
		{
			Name:   "all behind",
			Change: ticking(map[string]time.Duration{"datanode": 40 * time.Second, "querynode": time.Minute}),
			Want:   []string{"warning / all 2 nodes that consume the queue are behind by up to 60 s"},
		},
		{Name: "a recording without a time", Change: func(w *rulestest.World) {
			ticking(map[string]time.Duration{"datanode": time.Hour, "querynode": time.Hour + time.Second})(w)
			w.Runtime.To = time.Time{}
		}},
		{Name: "a node without channels", Change: func(w *rulestest.World) {
			ticking(map[string]time.Duration{"querynode": 0})(w)
			w.Live("datanode").System.Quota = &model.QuotaMetrics{SlowestAt: model.MaxTSO}
		}},
		{Name: "this machine's clock is ahead", Change: func(w *rulestest.World) {
			ticking(map[string]time.Duration{"datanode": 3 * time.Minute, "querynode": 3 * time.Minute})(w)
			w.Origin.Kind, w.Allocators[0].At = "etcd", modeltest.Now.Add(-3*time.Minute+time.Second)
		}},
		{
			Name: "nobody says", Change: func(w *rulestest.World) { w.AddResponses() },
			Skipped: "no node reported how far",
		},
	})
}
