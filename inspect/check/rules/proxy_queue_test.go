package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

func TestProxyTimes(t *testing.T) {
	queue := func(ms float64) func(*rulestest.World) {
		return withMetrics("proxy", func(m *model.Metrics) {
			modeltest.AddTimes(m, "milvus_proxy_req_in_queue_latency", 1000, ms, model.Pair{
				Key: "function_name", Value: "Search",
			})
		})
	}
	rulestest.RunCases(t, rulestest.ByID("proxy-queue"), []rulestest.Case{
		{Name: "short", Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 30, Sealed: 25}, queue(1))},
		{
			Name: "long", Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 100, Sealed: 25}, queue(70)),
			Want: []string{"warning / a search of docs spends"},
		},
		{
			Name:    "2.3 does not measure it",
			Change:  withSearches(rulestest.Traffic{Searches: 1000, Ms: 100, Sealed: 25}),
			Skipped: "measured by Milvus 2.4 and later",
		},
	})
	misses := func(count, ms float64) func(*rulestest.World) {
		return withMetrics("proxy", func(m *model.Metrics) {
			modeltest.AddTimes(m, "milvus_proxy_cache_update_latency", count, ms, model.Pair{
				Key: "cache_name", Value: "DescribeCollection",
			})
		})
	}
	rulestest.RunCases(t, rulestest.ByID("metadata-cache-miss"), []rulestest.Case{
		{Name: "none", Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 30, Sealed: 25})},
		{
			Name:   "a few slow ones",
			Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 30, Sealed: 25}, misses(5, 300)),
		},
		{
			Name:   "each request",
			Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 90, Sealed: 25}, misses(950, 60)),
			Want:   []string{"warning / that proxies request from the coordinators"},
		},
	})
}
