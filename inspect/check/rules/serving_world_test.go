package rules_test

import (
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
)

// servingChecks returns the checks under test.
func servingChecks() []*check.Check {
	return []*check.Check{
		rulestest.Named("node-unreachable"), rulestest.Named("stale-session"), rulestest.Named("stopping-node-serving"), rulestest.Named("node-stopping"), rulestest.Named("replica-dead-node"), rulestest.Named("replica-short"), rulestest.Named("no-shard-leader"), rulestest.Named("shard-not-serviceable"), rulestest.Named("leader-channel-split"), rulestest.Named("load-stuck"), rulestest.Named("load-state-mismatch"),
		rulestest.Named("target-behind"), rulestest.Named("segment-not-loaded"), rulestest.Named("segment-loaded-dropped"), rulestest.Named("segment-loaded-twice"), rulestest.Named("index-not-loaded"), rulestest.Named("growing-flushed"), rulestest.Named("growing-too-old"), rulestest.Named("growing-too-large"), rulestest.Named("brute-force-share"),
	}
}

// TestServedIsWell checks that the base cluster of the cases has no findings and nothing unknown.
func TestServedIsWell(t *testing.T) {
	for _, x := range servingChecks() {
		rulestest.Hold(t, x, []rulestest.Verdict{{Name: "well", Change: (*rulestest.World).Serve}})
	}
}
