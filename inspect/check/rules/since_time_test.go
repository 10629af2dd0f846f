// Nothing runs side by side here, so that the race detector would find nothing, in up to ten times the time.

//go:build !race

package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/faulttest"
	"kitescope/inspect/check/rules"
)

// TestSinceMereTime judges each case of the library twice, half a minute apart, with nothing changed but the time: texts tell other
// durations, and no finding is new, worse or gone for that. Half a minute is less than any threshold lets pass unseen; what
// crosses one just then is counted, and is rare.
func TestSinceMereTime(t *testing.T) {
	library, err := faulttest.OpenLibrary(faultFolder, snapshotFolder)
	if err != nil {
		t.Fatal(err)
	}
	same, texts, crossed := 0, 0, 0
	for _, c := range library.Cases {
		b, err := library.Base(t.Context(), c.Base)
		if err != nil {
			t.Fatal(err)
		}
		cluster, now, err := c.Cluster(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		before, after := check.Run(cluster, now, rules.All()), check.Run(cluster, now.Add(30*time.Second), rules.All())
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
				t.Errorf("%s: %s, and only time went by: cost %.3f, then %.3f: %s", c.Name, x.Kind, x.Before.Cost, x.After.Cost, x.After.Message)
			}
		}
	}
	t.Logf("%d findings are the same, %d of them with another text; %d crossed a threshold", same, texts, crossed)
	if texts < 5 || crossed*20 > same {
		t.Errorf("%d same, %d with another text, %d crossed a threshold", same, texts, crossed)
	}
}
