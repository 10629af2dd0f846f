package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
)

func TestShardSkew(t *testing.T) {
	rows := func(a, b int64) func(*rulestest.World) {
		return func(w *rulestest.World) {
			for i, s := range w.Segments {
				s.Rows = []int64{a, b}[i%2]
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("shard-skew"), []rulestest.Case{
		{Name: "even"},
		{Name: "a little uneven", Change: rows(90_000, 50_000)},
		{
			Name: "uneven", Change: rows(90_000, 10_000),
			Want: []string{
				"info collections/1000 the largest of 2 shards of docs has 180,000 of 200,000 rows, 1.8 times the mean",
			},
		},
		{
			Name: "very uneven and large", Change: rows(900_000, 0),
			Want: []string{"warning collections/1000 2.0 times the mean"},
		},
		{Name: "uneven and small", Change: rows(9_000, 0)},
		{Name: "one shard", Change: func(w *rulestest.World) {
			rows(900_000, 0)(w)
			w.Collections[0].VChannels = w.Collections[0].VChannels[:1]
		}},
		{
			Name:   "dropped",
			Change: func(w *rulestest.World) { rows(900_000, 0)(w); w.Collections[0].State = "Dropping" },
		},
	})
}
