package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
)

func TestWALFlushLag(t *testing.T) {
	ticks := func(behind, before float64) func(*rulestest.World) {
		at := func(lag float64) []rulestest.Series {
			return []rulestest.Series{
				opened, rulestest.LogSeries("milvus_wal_last_confirmed_time_tick", 1764000000),
				rulestest.LogSeries("milvus_wal_flusher_time_tick", 1764000000-lag),
			}
		}
		return func(w *rulestest.World) {
			w.RunStreaming(at(behind)...)
			w.StreamingProcess().Before = rulestest.ScrapeAt(-15*time.Second, at(before))
		}
	}
	rulestest.RunCases(t, rulestest.ByID("wal-flush-lag"), []rulestest.Case{
		{Name: "seconds", Change: ticks(2, 2)},
		{Name: "just below", Change: ticks(299, 299)},
		{
			Name: "behind", Change: ticks(301, 300),
			Want: []string{"warning pchannels/" + rulestest.PChannel + " 5 min behind the end of the log"},
		},
		{
			Name: "the same as before", Change: ticks(301, 301),
			Want: []string{"warning pchannels/" + rulestest.PChannel},
		},
		{
			Name: "catching up", Change: ticks(301, 400),
			Want: []string{"info pchannels/" + rulestest.PChannel + " and is catching up"},
		},
		{Name: "not told", Change: func(w *rulestest.World) {
			w.RunStreaming(opened, rulestest.LogSeries("milvus_wal_last_confirmed_time_tick", 1764000000),
				rulestest.LogSeries("milvus_wal_flusher_time_tick", 0))
		}},
		{Name: "of a log that is not open", Change: func(w *rulestest.World) {
			w.RunStreaming(rulestest.LogSeries("milvus_wal_last_confirmed_time_tick", 1764000000),
				rulestest.LogSeries("milvus_wal_flusher_time_tick", 1763990000))
		}},
		{
			Name:   "one scrape",
			Change: func(w *rulestest.World) { ticks(301, 400)(w); w.StreamingProcess().Before = nil },
			Want:   []string{"info pchannels/" + rulestest.PChannel + " unknown whether it is catching up"},
		},
	})
}
