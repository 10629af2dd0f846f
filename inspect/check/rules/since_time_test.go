//go:build !race

package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/faulttest"
	"kitescope/inspect/check/rules"
)

// slowProperties returns the properties that are not tested under the race detector.
func slowProperties(t *testing.T) []property {
	t.Helper()
	return []property{
		unseenNotOK(), unreadNotJudged(), withoutTime(), timeAdvanced(), hostileNames(t), numbersAreFigures(),
		textsWellFormed(), commandsAreListed(), changesAreMarked(),
	}
}

// timeAdvanced runs the checks of a case again half a minute later, with only the time changed. Texts have other
// durations, and no finding is new, worse or gone. Half a minute is less than any threshold. Findings that cross a
// threshold in it are counted, and are rare.
func timeAdvanced() property {
	same, texts, crossed := 0, 0, 0
	return property{"only time went by", func(t *testing.T, c *faulttest.Case, before *check.Report) {
		t.Helper()
		after := check.Run(before.Cluster, before.Now.Add(30*time.Second), rules.All())
		changes := check.Since(before, after).Changes
		for i := range changes {
			x := &changes[i]
			switch {
			case x.Kind == check.Same:
				if same++; x.Before.Message != x.After.Message {
					texts++
				}
			case x.Before == nil || x.After == nil || x.Before.Severity != x.After.Severity:
				crossed++
				t.Logf("%s: %s: %s", c.Name, x.Kind, x.Finding().Message)
			default:
				t.Errorf("%s, and only time went by: cost %.3f, then %.3f: %s", x.Kind, x.Before.Cost, x.After.Cost,
					x.After.Message)
			}
		}
	}, func(t *testing.T) {
		t.Helper()
		t.Logf("%d findings are the same, %d of them with another text; %d crossed a threshold", same, texts, crossed)
		if texts < 5 || crossed*20 > same {
			t.Errorf("%d same, %d with another text, %d crossed a threshold", same, texts, crossed)
		}
	}}
}
