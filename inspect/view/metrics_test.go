package view

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// TestMetrics checks that a counter has a rate, a gauge a value, and a histogram intervals and bucket
// increases, and that missing values are none or unknown, not 0.
func TestMetrics(t *testing.T) {
	at := time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)
	scrape := func(second, n float64) *model.Metrics {
		return &model.Metrics{At: at.Add(time.Duration(second) * time.Second), Families: map[string]*model.Family{
			"a_total": {Name: "a_total", Kind: model.MetricCounter, Series: []model.Series{{Value: 10 * n}}},
			"b":       {Name: "b", Kind: model.MetricGauge, Series: []model.Series{{Value: n}}},
			"milvus_querynode_sq_queue_latency": {
				Name: "milvus_querynode_sq_queue_latency", Kind: model.MetricHistogram, Bounds: []float64{1, 2},
				Series: []model.Series{
					{
						Labels: []model.Pair{{Key: "query_type", Value: "search"}}, Value: 30 * n, Count: 10 * n,
						Buckets: []float64{2 * n, 6 * n},
					},
				},
			},
		}}
	}
	node := model.Ref{Resource: "nodes", ID: "querynode-3"}
	c := model.Build(model.Parts{}).WithRuntime(&model.Runtime{RuntimeParts: model.RuntimeParts{
		Nodes: []*model.LiveNode{
			{Role: "proxy", Node: 9, Reason: "refused"},
			{Role: "proxy", Node: 8},
			{Role: "querynode", Node: 3, Process: &model.Process{Metrics: scrape(0, 1)}},
			{Role: "datanode", Node: 4, Process: &model.Process{Reason: "no answer"}},
		},
		Processes: []*model.Process{
			{Nodes: []model.Ref{node}, Outcome: model.Answered, Metrics: scrape(10, 3), Before: scrape(0, 1)},
		},
		Skipped: []model.Skipped{{What: "metrics of proxy-8", Reason: "name the port"}},
	}})
	g := NewGrid(processMetrics.Table(NewEnv(c, at)), nil, nil)
	cell := func(row int, name string) table.Cell { return g.Table.Cell(row, processMetrics.Column(name)) }
	for row, want := range []map[string]table.Cell{
		{
			"metric": {Text: "a_total"}, "value": {Float: 30}, "came": {Float: 20}, "per_second": {Float: 2},
			"count": none(), "p99_low": none(), "nodes": {List: []string{"querynode-3"}},
		},
		{"metric": {Text: "b"}, "value": {Float: 3}, "per_second": none(), "came": none(), "mean_low": none()},
		{
			"means": {Text: "task_queue"}, "value": none(), "per_second": {Float: 2}, "count": {Float: 20},
			"sum": {Float: 60}, "mean_low": {Float: 3}, "mean_high": {Float: 4},
			"mean": {Text: "3-4"}, "p50": {Text: "1-2"}, "p50_low": {Float: 1}, "p50_high": {Float: 2},
			"p99": {Text: "> 2"}, "p99_low": {Float: 2}, "p99_high": none(),
			"buckets": {List: []string{"1", "4", "2", "12"}}, "window_seconds": {Int: 10e9}, "since_start": {},
			"unit": {Text: "ms"},
		},
	} {
		for name, is := range want {
			if diff := cmp.Diff(is, cell(row, name)); diff != "" {
				t.Errorf("row %d: %s (-want +got):\n%s", row, name, diff)
			}
		}
	}
	if got := unscraped(c); !slices.Equal(got, []string{
		"metrics of proxy-8: name the port", "proxy-9: refused", "datanode-4: no answer",
	}) {
		t.Errorf("missing: %q", got)
	}
	if got := Windows(g); got != "rates, means and quantiles are between two scrapes, 10s apart" {
		t.Errorf("%q", got)
	}
}
