package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

func TestConsumptionLag(t *testing.T) {
	// lagging sets the metric of node A for its lag in a collection.
	lagging := func(lag time.Duration, collection string) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Serve()
			for _, id := range []model.NodeID{rulestest.NodeA, rulestest.NodeB} {
				p := &model.Process{
					Address: "10.0.0." + id.String() + ":9091", Outcome: model.Answered,
					Metrics: modeltest.Scrape(time.Time{}, nil),
				}
				w.Query(id).Process, w.Query(id).System = p, nil
				w.Runtime.Processes = append(w.Runtime.Processes, p)
				modeltest.AddSeries(p.Metrics, "milvus_querynode_consume_tt_lag_ms", model.Series{
					Labels: []model.Pair{
						{Key: "collection_id", Value: "1000"},
						{Key: "msg_type", Value: "insert"},
						{Key: "node_id", Value: id.String()},
					}, Value: 180,
				})
			}
			modeltest.AddSeries(w.Query(rulestest.NodeA).Process.Metrics, "milvus_querynode_consume_tt_lag_ms",
				model.Series{
					Labels: []model.Pair{
						{Key: "collection_id", Value: collection},
						{Key: "msg_type", Value: "insert"},
						{Key: "node_id", Value: rulestest.NodeA.String()},
					}, Value: float64(lag.Milliseconds()),
				})
		}
	}
	rulestest.RunCases(t, rulestest.ByID("channel-consumption-lag"), []rulestest.Case{
		{
			Name: "two minutes", Change: lagging(2*time.Minute, "1000"),
			Want: []string{"warning nodes/querynode-4 querynode-4 is 2 min behind in consuming collection docs"},
		},
		{
			Name: "ten minutes", Change: lagging(10*time.Minute, "1000"),
			Want: []string{"error nodes/querynode-4 is 10 min behind"},
		},
		{Name: "a few hundred milliseconds", Change: lagging(300*time.Millisecond, "1000")},
		{Name: "a series of a collection that it does not lead", Change: lagging(10*time.Minute, "4711")},
		{Name: "by its slowest channel", Change: func(w *rulestest.World) {
			lagging(0, "1000")(w)
			w.Query(rulestest.NodeB).System = &model.System{
				Quota: &model.QuotaMetrics{
					SlowestChannel: rulestest.Channel1, SlowestAt: rulestest.TSOAgo(40 * time.Second),
				},
			}
		}, Want: []string{"warning nodes/querynode-8 is 39 s behind in consuming " + rulestest.Channel1}},
		{Name: "all are behind", Change: func(w *rulestest.World) {
			lagging(2*time.Minute, "1000")(w)
			w.Query(rulestest.NodeB).System = &model.System{
				Quota: &model.QuotaMetrics{
					SlowestChannel: rulestest.Channel1, SlowestAt: rulestest.TSOAgo(40 * time.Second),
				},
			}
		}, Want: []string{"warning / all 2 query nodes that lead shards are behind, by up to 2 min"}},
		{
			Name: "all are behind, and one has just started", Change: func(w *rulestest.World) {
				lagging(2*time.Minute, "1000")(w)
				w.Query(rulestest.NodeB).System = &model.System{
					StartedAt: w.Now.Add(-20 * time.Second),
					Quota: &model.QuotaMetrics{
						SlowestChannel: rulestest.Channel1, SlowestAt: rulestest.TSOAgo(40 * time.Second),
					},
				}
			},
			Want: []string{
				"info nodes/querynode-8 is 39 s behind in consuming " + rulestest.Channel1 + ", started 20 s ago",
				"warning nodes/querynode-4 is 2 min behind in consuming collection docs",
			},
		},
		{
			Name: "a collection that is just being loaded is read on from the checkpoint",
			Change: func(w *rulestest.World) {
				lagging(46*time.Second, "1000")(w)
				for i := range w.Query(rulestest.NodeA).Distribution.Channels {
					w.Query(rulestest.NodeA).Distribution.Channels[i].Version = w.Now.Add(-6 * time.Second).UnixNano()
				}
			}, Want: []string{"info nodes/querynode-4 is 46 s behind in consuming collection docs, assigned 6 s ago"},
		},
		{
			Name: "a shard that has moved is read on from the checkpoint", Change: func(w *rulestest.World) {
				lagging(0, "1000")(w)
				for i := range w.Query(rulestest.NodeB).Distribution.Channels {
					w.Query(rulestest.NodeB).Distribution.Channels[i].Version = w.Now.Add(-6 * time.Second).UnixNano()
				}
				w.Query(rulestest.NodeB).System = &model.System{
					Quota: &model.QuotaMetrics{
						SlowestChannel: rulestest.Channel1, SlowestAt: rulestest.TSOAgo(40 * time.Second),
					},
				}
			},
			Want: []string{
				"info nodes/querynode-8 is 39 s behind in consuming " + rulestest.Channel1 + ", assigned 6 s ago",
			},
		},
		{Name: "a shard that is still being loaded is not served", Change: func(w *rulestest.World) {
			lagging(0, "1000")(w)
			w.Query(rulestest.NodeB).System = &model.System{
				Quota: &model.QuotaMetrics{
					SlowestChannel: "by-dev-rootcoord-dml_7_1001v0", SlowestAt: rulestest.TSOAgo(40 * time.Second),
				},
			}
		}},
		{Name: "what it has had is behind, and what it was given hides nothing", Change: func(w *rulestest.World) {
			lagging(46*time.Second, "1000")(w)
			w.Query(rulestest.NodeA).Distribution.Channels = append(w.Query(rulestest.NodeA).Distribution.Channels,
				model.ServedChannel{
					Name: "by-dev-rootcoord-dml_7_1001v0", Collection: 1001,
					Version: w.Now.Add(-6 * time.Second).UnixNano(),
				})
			w.Query(rulestest.NodeA).System = &model.System{
				Quota: &model.QuotaMetrics{
					SlowestChannel: "by-dev-rootcoord-dml_7_1001v0", SlowestAt: rulestest.TSOAgo(70 * time.Second),
				},
			}
		}, Want: []string{"warning nodes/querynode-4 is 46 s behind in consuming collection docs"}},
		{Name: "a slow node makes others wait for the end of the questions", Change: func(w *rulestest.World) {
			lagging(0, "1000")(w)
			w.Runtime.From = w.Runtime.To.Add(-20 * time.Second)
			w.Query(rulestest.NodeB).System = &model.System{
				Quota: &model.QuotaMetrics{
					SlowestChannel: rulestest.Channel1, SlowestAt: rulestest.TSOAgo(20 * time.Second),
				},
			}
		}},
		{Name: "one that tells neither", Change: func(w *rulestest.World) {
			lagging(0, "1000")(w)
			w.Query(rulestest.NodeB).Process.Metrics.Families = nil
		}, Skipped: "querynode-8: consumption of its channels"},
		{Name: "no metrics", Change: (*rulestest.World).Serve, Skipped: "no process reported its metrics"},
	})
}
