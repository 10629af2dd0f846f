package rules_test

import (
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// ticking sets the lag that nodes which consume the queue report, by role.
func ticking(lags map[string]time.Duration) func(*rulestest.World) {
	return func(w *rulestest.World) {
		w.AddResponses()
		for role, lag := range lags {
			w.Live(role).System.Quota = &model.QuotaMetrics{
				SlowestChannel: rulestest.Channel0, SlowestAt: model.TSOFromTime(modeltest.Now.Add(-lag)),
			}
		}
	}
}

var (
	watermark = rulestest.Series{
		Name: "milvus_wal_growing_segment_hwm_bytes", Value: 1000, Labels: []model.Pair{{Key: "node_id", Value: "30"}},
	}
	opened = rulestest.LogSeries("milvus_wal_info", 1, "term", "2", "wal_name", "woodpecker")
)
