package rules_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"kitescope/inspect/check/rules/rulestest"
)

func TestConsistencyWait(t *testing.T) {
	rulestest.RunCases(t, rulestest.ByID("consistency-wait"), []rulestest.Case{
		{Name: "no wait", Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 12, Sealed: 8})},
		{
			Name:   "a time tick",
			Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 240, Consistency: 220, Sealed: 8}),
			Want: []string{
				"warning collections/1000 a search of docs waits ~221 ms of 240 ms for consistency, for the next " +
					"time tick (every 200 ms)",
			},
		},
		{
			Name:   "a third of it",
			Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 60, Consistency: 20, Sealed: 30}),
			Want:   []string{"info collections/1000 a search of docs waits"},
		},
		{
			Name: "of few", Change: withSearches(rulestest.Traffic{Searches: 20, Ms: 240, Consistency: 220, Sealed: 8}),
			Want: []string{"info collections/1000 (only 20 requests)"},
		},
		{
			Name:   "since the start",
			Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 240, Consistency: 220, Sealed: 8, Start: true}),
			Want:   []string{"warning collections/1000 a search of docs waits"},
		},
		{
			Name:   "whole milliseconds may hide all of it",
			Change: withSearches(rulestest.Traffic{Searches: 1000, Ms: 12, Consistency: 5, Sealed: 4}),
		},
		{
			Name:   "late ticks",
			Change: withSearches(rulestest.Traffic{Searches: 100, Ms: 900, Consistency: 880, Sealed: 8}),
			Want:   []string{"warning collections/1000 arrive late"},
		},
		{
			Name: "a slower tick is configured",
			Change: withSearches(rulestest.Traffic{Searches: 100, Ms: 900, Consistency: 880, Sealed: 8},
				func(w *rulestest.World) { w.SetConfig("proxy.timeTickInterval", "500", w.Live("querynode")) }),
			Want: []string{"warning collections/1000 for the next time tick (every 500 ms)"},
		},
		{
			Name:    "2.2 has one queue for both",
			Change:  withSearches(rulestest.Traffic{Searches: 1000, Ms: 240, Consistency: 220, Sealed: 8, Mixed: true}),
			Skipped: "counts them as part of the read queue",
		},
		{
			Name:    "nobody searched",
			Change:  func(w *rulestest.World) { w.Serve(); w.AddMetrics(rulestest.Traffic{}, "proxy", "querynode") },
			Skipped: "no requests in the window",
		},
	})
}

// TestGainOfLaterTicks checks the gain of fixing late ticks: a Strong request still waits for a time tick.
func TestGainOfLaterTicks(t *testing.T) {
	const tick, way = 200, 60
	// ticks are tick+late apart; each request follows the last tick by at most tick
	wait := func(late float64) (mean float64) {
		rng := rand.New(rand.NewPCG(7, 2))
		const requests = 10_000
		at := 0.0
		for range requests {
			at += rng.Float64() * tick
			next := math.Ceil(at/(tick+late)) * (tick + late)
			mean += (next - at + way) / requests
			at = next
		}
		return mean
	}
	now, after := wait(1500), wait(0)
	s := rulestest.GainOf(t, rulestest.ByID("consistency-wait"),
		withSearches(rulestest.Traffic{Searches: 60, Ms: now + 30, Consistency: now, Sealed: 25}))
	rulestest.CheckGain(t, &s, now-after)
}
