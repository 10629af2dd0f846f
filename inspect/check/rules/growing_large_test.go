package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestGrowingLarge(t *testing.T) {
	large := func(rows int64, written time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Serve()
			w.Grow(2900, rows, 40*time.Minute)
			w.AddToDataCoord(2900, rows, written)
		}
	}
	rulestest.RunCases(t, rulestest.ByID("growing-too-large"), []rulestest.Case{
		{
			Name: "full and left alone", Change: large(14_000, 10*time.Minute),
			Want: []string{"warning collections/1000 the largest has 14,000 rows, the limit is 12,000"},
		},
		{Name: "full and written", Change: large(14_000, time.Second)},
		{
			Name: "more than fits, and written", Change: large(120_000, time.Second),
			Want: []string{"warning collections/1000 120,000 rows"},
		},
		{Name: "not full", Change: large(11_000, 10*time.Minute)},
		{Name: "by the cluster's own proportion", Change: func(w *rulestest.World) {
			large(14_000, 10*time.Minute)(w)
			w.Configure("dataCoord.segment.sealProportion", "0.5")
		}},
		{Name: "its proportion is not told", Change: func(w *rulestest.World) {
			large(14_000, 10*time.Minute)(w)
			w.Live("datacoord").Config = nil
		}, Skipped: "size or limit of 1 growing segment"},
		{Name: "bytes of a streaming node", Change: func(w *rulestest.World) {
			large(9_000, time.Second)(w)
			w.Segments[4].Details = &model.SegmentDetails{
				Growing: &model.GrowingStat{Rows: 9000, Bytes: 200 << 20, MaxBytes: 128 << 20},
			}
		}, Want: []string{"warning collections/1000 9,000 rows"}},
		{Name: "nobody says how large", Change: func(w *rulestest.World) {
			w.Serve()
			w.Grow(2900, 0, 40*time.Minute)
			w.Query(rulestest.NodeA).System = nil
		}, Skipped: "size or limit of 1 growing segment"},
	})
}
