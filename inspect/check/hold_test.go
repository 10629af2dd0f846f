package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestHold checks which findings a Hold shows over rounds of five seconds: absent (.), info, warning, error,
// or a check that cannot look (?). W and - repeat the responses of the round before, with a warning and
// without.
func TestHold(t *testing.T) {
	minutes := func(n int, c string) string { return strings.Repeat(c, 12*n) }
	for _, x := range []struct {
		name         string
		slow         bool
		found, shown string
	}{
		{"an error at once", true, ".e", ".e"},
		{"a failure at once", false, "..w", "..w"},
		{"slowness in two of three rounds", true, ".w.w..", "...www"},
		{"slowness in one of three rounds", true, ".w..w..w.", "........."},
		{"slowness of one round", true, "wWWW.", "....."},
		{"slowness in the first report", true, "ww", ".w"},
		{"slowness that was info", true, "iwiww", "iiiww"},
		{"info later", false, ".iiiiiiii", ".......ii"},
		{"info that flaps", false, ".i.ii.iii.iiii.iiiii.", "....................."},
		{"info in the first report", false, "i.i", "iii"},
		{"gone after 30 seconds", false, "w........", "wwwwww..."},
		{"gone after two rounds", false, "w--------..", "wwwwwwwwww."},
		{"slowness is gone after a minute", true, "www" + minutes(1, ".") + ".", ".ww" + minutes(1, "w")[1:] + ".."},
		{"it flaps", false, "w.w..w...w....w.....", "wwwwwwwwwwwwwwwwwwww"},
		{"less severe after 30 seconds", false, "ewwwwwwww", "eeeeeewww"},
		{"it returns", false, "w......w" + minutes(2, "."), "wwwwww.w" + minutes(2, "w")[:23] + "."},
		{
			"it returns much later", false, "w......" + minutes(3, ".") + "w......",
			"wwwwww." + minutes(3, ".") + "wwwwww.",
		},
		{"nobody looks", false, "w??????", "wwwwww."},
	} {
		t.Run(x.name, func(t *testing.T) {
			var hold Hold
			var shown strings.Builder
			round := modeltest.Now
			for i, c := range x.found {
				now := modeltest.Now.Add(time.Duration(i) * 5 * time.Second)
				if c != 'W' && c != '-' {
					round = now
				}
				check := fake("x")
				switch c {
				case 'i':
					check = fake("x", about(Info, "collections", docs))
				case 'w', 'W':
					check = fake("x", about(Warning, "collections", docs))
				case 'e':
					check = fake("x", about(Error, "collections", docs))
				case '?':
					check = unable("x")
				}
				check.Slowness = x.slow
				report, _ := hold.Next(Run(respondedAt(round), now, []*Check{check}))
				letter := "."
				for _, f := range report.Findings {
					letter = f.Severity.String()[:1]
				}
				shown.WriteString(letter)
				if found := report.Results[0].Status == Found; found != (letter != ".") && c != '?' {
					t.Errorf("round %d: the status is %s", i, report.Results[0].Status)
				}
			}
			if shown.String() != x.shown {
				t.Errorf("found %s\nshown %s\nwant  %s", x.found, &shown, x.shown)
			}
		})
	}
}

// respondedAt returns a cluster whose processes responded at a time.
func respondedAt(at time.Time) *model.Cluster {
	return modeltest.Small().WithRuntime(model.BuildRuntime(model.RuntimeParts{Kind: "live", From: at, To: at}))
}

// TestHoldTimes checks the times of a finding that was seen twice and then went.
func TestHoldTimes(t *testing.T) {
	var hold Hold
	var tracker Tracker
	var got []string
	for i, x := range []*Check{
		fake("x"), fake("x", about(Warning, "collections", docs)), fake("x", about(Warning, "collections", docs)),
		fake("x"), fake("x"),
	} {
		now := modeltest.Now.Add(time.Duration(i) * 20 * time.Second)
		report, _ := hold.Next(Run(respondedAt(now), now, []*Check{x}))
		if pending := hold.Pending(); pending != (i == 3) {
			t.Errorf("round %d: pending %v", i, pending)
		}
		changes, _ := tracker.Next(report)
		for _, c := range changes {
			held := c.Finding().Held
			got = append(got,
				fmt.Sprintf("%d %s %s %s %s", i, c.Kind, held.Since.Sub(modeltest.Now), held.Seen.Sub(modeltest.Now),
					held.Hold))
		}
	}
	if diff := cmp.Diff([]string{"1 new 20s 20s 30s", "4 gone 20s 40s 30s"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestHoldIncomplete checks that checks that cannot see everything for a while are listed by reason. Checks that
// never could, and those that flap, are not listed.
func TestHoldIncomplete(t *testing.T) {
	var hold Hold
	for i := range 60 {
		now := modeltest.Now.Add(time.Duration(i) * 5 * time.Second)
		checks := []*Check{unable("never"), fake("a"), fake("b"), fake("flaps")}
		if i%20 > 5 {
			checks[1], checks[2] = blind("a"), blind("b")
		}
		if i%5 > 0 {
			checks[3] = blind("flaps")
		}
		_, list := hold.Next(Run(respondedAt(now), now, checks))
		if (len(list) == 1) != (i == 12) {
			t.Fatalf("round %d: %v", i, list)
		}
		if i == 12 && (list[0].Why != "querynode-7: timed out" || len(list[0].Checks) != 2) {
			t.Errorf("%v", list)
		}
	}
}
