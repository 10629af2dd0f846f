package check_test

import (
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestLatencyComputedOnce checks that all checks and the UI share one set of latency budgets until the
// processes are queried again.
func TestLatencyComputedOnce(t *testing.T) {
	var judge check.Judge
	c := modeltest.ServedLarge(1000, 40)
	first := judge.Latency(c)
	if first.Find("", latency.Search) == nil {
		t.Fatal("no search")
	}
	seen := 0
	judged := func(c *model.Cluster, want *latency.Latency) {
		t.Helper()
		look := func(p *check.Pass) {
			seen++
			if p.Latency() != want {
				t.Error("a check sees other budgets")
			}
		}
		// One check gets the newest metadata, the other the metadata at the time of the query.
		for _, needs := range []check.Need{0, check.NeedProcesses} {
			judge.Run(c, modeltest.Now, []*check.Check{{ID: "looks", Needs: needs, Run: look}})
		}
	}
	judged(c, first)
	parts := c.Parts
	parts.Runtime = nil
	parts.Origin.Revision++
	later := model.Build(parts).WithAnswersOf(c) // an event of etcd
	judged(later, first)
	if judge.Latency(later) != first {
		t.Error("budgets are worked out again, and nobody was asked")
	}
	again := c.Runtime.RuntimeParts
	again.To = again.To.Add(time.Second)
	asked := c.WithAnswers(model.BuildRuntime(again), c)
	second := judge.Latency(asked)
	if second == first {
		t.Error("budgets are those of the round before")
	}
	judged(asked, second)
	if want := 6; seen != want {
		t.Errorf("checks looked %d times, want %d", seen, want)
	}
}
