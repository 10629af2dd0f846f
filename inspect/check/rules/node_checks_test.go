package rules_test

import (
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestDeadNodeExplains checks that the finding of a dead node is first, and that all other findings above info have a
// cause.
func TestDeadNodeExplains(t *testing.T) {
	w := rulestest.Healthy()
	w.Serve()
	w.Silence(rulestest.NodeB, model.Refused)
	r := check.Run(w.Build(), w.Now, servingChecks())
	if len(r.Findings) < 3 || r.Findings[0].Check != "node-unreachable" {
		t.Fatalf("findings %v", rulestest.KeysOf(r.Findings))
	}
	for _, f := range r.Findings[1:] {
		if f.Severity > check.Info && f.Cause == "" {
			t.Errorf("%s has no cause: %s", f.Key(), f.Message)
		}
	}
}
