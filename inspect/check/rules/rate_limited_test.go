package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

func TestRefusedAndStorage(t *testing.T) {
	refuses := func(fail, total float64) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.AddMetricsToAll()
			withMetrics("proxy", func(m *model.Metrics) {
				for status, n := range map[string]float64{"fail": fail, "total": total} {
					modeltest.AddSeries(m, "milvus_proxy_rate_limit_req_count", model.Series{
						Value:  n,
						Labels: []model.Pair{{Key: "msg_type", Value: "DQLSearch"}, {Key: "status", Value: status}},
					})
				}
			})(w)
		}
	}
	rulestest.RunCases(t, rulestest.ByID("rate-limited"), []rulestest.Case{
		{Name: "none", Change: refuses(0, 1000)},
		{Name: "a few of many", Change: refuses(40, 100_000)},
		{Name: "many", Change: refuses(400, 1000), Want: []string{"warning / proxies rejected 400 of 1,000 DQLSearch"}},
		{
			Name: "2.3", Change: func(w *rulestest.World) { w.Version.Text = "2.3.5"; w.AddMetricsToAll() },
			Skipped: "counted by Milvus 2.4 and later",
		},
	})
	reads := func(name string, count, ms float64, op string) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.AddMetricsToAll()
			withMetrics("querynode", func(m *model.Metrics) {
				modeltest.AddTimes(m, name, count, ms, model.Pair{Key: "persistent_data_op_type", Value: op})
			})(w)
		}
	}
	rulestest.RunCases(t, rulestest.ByID("storage-slow"), []rulestest.Case{
		{Name: "as it should be", Change: reads("milvus_storage_request_latency", 100, 60, "get")},
		{
			Name: "slow", Change: reads("milvus_storage_request_latency", 100, 1500, "get"),
			Want: []string{"warning / 1,500 ms per read of querynode-4"},
		},
		{
			Name: "of the part in C++", Change: reads("internal_storage_request_latency", 100, 700, "put"),
			Want: []string{"info / 700 ms per write of querynode-4"},
		},
		{
			Name:   "listing is long where there is much",
			Change: reads("milvus_storage_request_latency", 100, 1500, "list"), Skipped: "no process read or wrote",
		},
	})
}
