package rules_test

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestSkewIsEffect checks that a clock that does not advance is an effect if no process responds at all.
func TestSkewIsEffect(t *testing.T) {
	w := rulestest.Healthy()
	w.Serve()
	w.SilenceAll(model.Refused)
	w.Origin.Kind, w.Allocators[0].At = "etcd", w.Now.Add(-10*time.Minute)
	r := check.Run(model.Build(w.Parts).WithRuntime(model.BuildRuntime(*w.Runtime)), w.Now, []*check.Check{
		rulestest.ByID("node-unreachable"), rulestest.ByID("clock-regression"),
	})
	i := slices.IndexFunc(r.Findings, func(f *check.Finding) bool {
		return f.Severity == check.Warning && f.Check == "clock-regression"
	})
	if i < 0 || r.Findings[i].Cause != "node-unreachable /" {
		for _, f := range r.Findings {
			t.Errorf("%s %s <- %q", f.Check, f.Message, f.Cause)
		}
	}
}
