package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestQuotaOfTimeTicks checks that an exhausted quota follows from late time ticks only if it is the quota of
// time ticks.
func TestQuotaOfTimeTicks(t *testing.T) {
	of := rulestest.ByID("quota-denied").FollowsFrom[0].Applies
	for message, want := range map[string]bool{
		"Milvus refuses requests: TimeTickLongDelay": true, "Milvus refuses requests: MemoryQuotaExhausted": false,
	} {
		if got := of == nil || of(nil, &check.Finding{Message: message}, &check.Finding{Check: "timetick-lag"}); got !=
			want {
			t.Errorf("%s: %v", message, got)
		}
	}
}

func TestQuotaDenied(t *testing.T) {
	states := func(samples ...model.Series) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.AddResponses().Processes = []*model.Process{{
				Address: "10.0.0.1:9091", Nodes: []model.Ref{facts.RefNode("rootcoord", 1)}, Outcome: model.Answered,
				Metrics: modeltest.Scrape(time.Time{},
					map[string][]model.Series{"milvus_rootcoord_quota_states": samples}),
			}}
		}
	}
	state := func(name string, value float64) model.Series {
		return model.Series{Labels: []model.Pair{{Key: "quota_states", Value: name}}, Value: value}
	}
	of := func(name, scope string) model.Series {
		return model.Series{
			Labels: []model.Pair{{Key: "name", Value: scope}, {Key: "quota_states", Value: name}}, Value: 1,
		}
	}
	silent := func(w *rulestest.World) {
		states(state("MemoryQuotaExhausted", 1))(w)
		w.Runtime.Processes[0].Metrics, w.Runtime.Processes[0].Outcome = nil, model.Refused
	}
	rulestest.RunCases(t, rulestest.ByID("quota-denied"), []rulestest.Case{
		{Name: "none in force", Change: states(state("MemoryQuotaExhausted", 0), state("DiskQuotaExhausted", 0))},
		{
			Name: "one in force", Change: states(state("MemoryQuotaExhausted", 1), state("DiskQuotaExhausted", 0)),
			Want: []string{"warning / Milvus refuses requests: MemoryQuotaExhausted"},
		},
		{
			Name: "two", Change: states(state("MemoryQuotaExhausted", 1), state("DenyToWrite", 2)),
			Want: []string{"warning / DenyToWrite and MemoryQuotaExhausted"},
		},
		{
			Name: "of one collection", Change: states(of("DiskQuotaExhausted", "collection_docs")),
			Want: []string{"warning / DiskQuotaExhausted for collection_docs"},
		},
		{
			Name: "of all", Change: states(of("DiskQuotaExhausted", "cluster")),
			Want: []string{"warning / Milvus refuses requests: DiskQuotaExhausted"},
		},
		{Name: "2.4 and later tell only what is in force", Change: states()},
		{Name: "RootCoord is silent", Change: silent, Skipped: "RootCoord reported no metrics: refused"},
		{Name: "only another process tells", Change: func(w *rulestest.World) {
			silent(w)
			w.Runtime.Processes = append(w.Runtime.Processes, &model.Process{
				Address: "10.0.0.5:9091", Nodes: []model.Ref{facts.RefNode("datanode", 5)}, Outcome: model.Answered,
				Metrics: &model.Metrics{},
			})
		}, Skipped: "RootCoord reported no metrics: refused"},
		{Name: "another process is silent", Change: func(w *rulestest.World) {
			states()(w)
			w.Runtime.Processes = append(w.Runtime.Processes, &model.Process{
				Address: "10.0.0.5:9091", Nodes: []model.Ref{facts.RefNode("datanode", 5)}, Outcome: model.Refused,
			})
		}},
		{Name: "only a standby tells", Change: func(w *rulestest.World) {
			states()(w)
			w.Sessions[0].Standby = true
		}, Skipped: "RootCoord's process is unknown"},
		{
			Name: "no metrics", Change: func(w *rulestest.World) { w.AddResponses() },
			Skipped: "RootCoord's process is unknown",
		},
	})
}
