package rules_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"kitescope/inspect/check/rules/rulestest"
)

// TestGainOfLaterTicks: who asks for Strong waits for a time tick in any case.
func TestGainOfLaterTicks(t *testing.T) {
	const tick, way = 200, 60
	wait := func(late float64) (mean float64) { // ticks come so much too late, each other one, and clients ask at any time or at once
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
	s := rulestest.GainOf(t, rulestest.Named("consistency-wait"), searched(rulestest.Traffic{Searches: 60, Ms: now + 30, Consistency: now, Sealed: 25}))
	rulestest.HoldGain(t, &s, now-after)
}
