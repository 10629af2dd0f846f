package rules_test

import (
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
)

// servingChecks returns the checks under test.
func servingChecks() []*check.Check {
	return []*check.Check{
		rulestest.ByID("node-unreachable"), rulestest.ByID("stale-session"), rulestest.ByID("stopping-node-serving"),
		rulestest.ByID("node-stopping"), rulestest.ByID("replica-dead-node"), rulestest.ByID("replica-short"),
		rulestest.ByID("no-shard-leader"), rulestest.ByID("shard-not-serviceable"),
		rulestest.ByID("leader-channel-split"), rulestest.ByID("load-stuck"), rulestest.ByID("load-state-mismatch"),
		rulestest.ByID("target-behind"), rulestest.ByID("segment-not-loaded"), rulestest.ByID("segment-loaded-dropped"),
		rulestest.ByID("segment-loaded-twice"), rulestest.ByID("index-not-loaded"), rulestest.ByID("growing-flushed"),
		rulestest.ByID("growing-too-old"), rulestest.ByID("growing-too-large"), rulestest.ByID("brute-force-share"),
	}
}

// TestServingHealthy checks that the base cluster of the cases has no findings and nothing unknown.
func TestServingHealthy(t *testing.T) {
	for _, x := range servingChecks() {
		rulestest.RunCases(t, x, []rulestest.Case{{Name: "well", Change: (*rulestest.World).Serve}})
	}
}
