package rules_test

import (
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestClockOfTheReader checks that a reader with a wrong clock finds nothing in a healthy cluster, and finds problems
// with their true ages.
func TestClockOfTheReader(t *testing.T) {
	for _, ahead := range []time.Duration{0, 5 * time.Minute, 3 * time.Hour, -5 * time.Minute, -3 * time.Hour} {
		w := rulestest.Healthy()
		w.Serve()
		w.Grow(2900, 3000, time.Minute)
		w.AddToDataCoord(2900, 3000, time.Second)
		p := &model.Process{Address: "10.0.0.4:9091", Outcome: model.Answered, Metrics: &model.Metrics{}}
		w.Query(rulestest.NodeA).Process = p
		w.Runtime.Processes = append(w.Runtime.Processes, p)
		w.Offset(ahead)
		for _, f := range check.Run(w.Build(), w.Now,
			append(servingChecks(), rulestest.ByID("channel-consumption-lag"), rulestest.ByID("node-idle"),
				rulestest.ByID("checkpoint-lag"))).Findings {
			t.Errorf("%s ahead: %s %s", ahead, f.Check, f.Message)
		}

		w = rulestest.Healthy()
		w.Serve()
		w.AddUnservedSegment(2800, time.Hour)
		w.Offset(ahead)
		r := check.Run(w.Build(), w.Now, []*check.Check{rulestest.ByID("segment-not-loaded")})
		if len(r.Findings) != 1 ||
			!strings.HasSuffix(r.Findings[0].Message, "flushed up to 60 min ago but served by no node") {
			t.Errorf("%s ahead: %v", ahead, r.Findings)
		}
		if !r.Now.Equal(w.Now) {
			t.Errorf("the report is of %s, not of the clock of who made it", r.Now)
		}
	}
}
