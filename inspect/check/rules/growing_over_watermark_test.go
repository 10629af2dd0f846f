package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
)

func TestGrowingOverWatermark(t *testing.T) {
	growing := func(now, before float64) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.RunStreaming(watermark, opened, rulestest.LogSeries("milvus_wal_growing_segment_bytes", now, "lv", "L1"))
			w.StreamingProcess().Before = rulestest.ScrapeAt(-15*time.Second, []rulestest.Series{
				watermark, rulestest.LogSeries("milvus_wal_growing_segment_bytes", before, "lv", "L1"),
			})
		}
	}
	node := "nodes/streamingnode-30"
	rulestest.RunCases(t, rulestest.ByID("growing-over-watermark"), []rulestest.Case{
		{Name: "below", Change: growing(999, 1000)},
		{
			Name: "at it, twice", Change: growing(1000, 1000),
			Want: []string{"warning " + node + " stay above its high-water mark"},
		},
		{Name: "just passed", Change: growing(1000, 999), Want: []string{"info " + node}},
		{Name: "two scrapes that are close", Change: func(w *rulestest.World) {
			growing(1000, 1000)(w)
			w.StreamingProcess().Before.At = rulestest.TimeAgo(9 * time.Second)
		}, Want: []string{"info " + node}},
		{Name: "the mark is not told", Change: func(w *rulestest.World) {
			w.RunStreaming(opened, rulestest.LogSeries("milvus_wal_growing_segment_bytes", 5000, "lv", "L1"))
		}},
		{Name: "nothing grows", Change: func(w *rulestest.World) { w.RunStreaming(watermark, opened) }},
	})
}
