package main

import (
	"slices"
	"strings"
	"testing"

	"kitescope/tools/e2e/lab"
)

// TestSeedDrawsTheSame checks that a seed and a round number determine the draw.
func TestSeedDrawsTheSame(t *testing.T) {
	differ := false
	for n := 1; n <= 50; n++ {
		a, b := plan(round(3, n)), plan(round(3, n))
		if a != b {
			t.Errorf("round 3/%d is %q and %q", n, a, b)
		}
		differ = differ || a != plan(round(4, n))
	}
	if !differ {
		t.Error("seeds 3 and 4 draw the same")
	}
}

// TestPlanOfSeedIsStable checks that the draw of a round does not depend on other rounds or on changes since
// the recorded results, because a seed is played in parts.
func TestPlanOfSeedIsStable(t *testing.T) {
	var got []string
	for n := 1; n <= 6; n++ {
		got = append(got, plan(round(7, n)))
	}
	want := []string{
		"topic deleted by-dev-rootcoord-dml_4", "etcd hung", "index asked for, no index node",
		"node added, auto-balance off", "query node added, then taken away (decoy)",
		"setting in etcd dataCoord/compaction/enableAutoCompaction false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("seed 7 draws\n%s\nresults that were recorded are of\n%s", strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}

// TestGrammarIsComplete checks that every kind is drawn and complete, and that two kinds of a round fit
// together.
func TestGrammarIsComplete(t *testing.T) {
	drawn, two := map[string]int{}, 0
	for n := 1; n <= 3000; n++ {
		draws := round(1, n)
		if len(draws) == 2 {
			two++
			if overlap(draws[0], draws[1]) {
				t.Errorf("both touch the same: %s", plan(draws))
			}
			if draws[0].Kind.Alone || draws[1].Kind.Alone {
				t.Errorf("not meant to be one of two: %s", plan(draws))
			}
		}
		for _, d := range draws {
			drawn[d.Kind.Name]++
			checkDraw(t, d)
		}
	}
	for _, k := range kinds() {
		if drawn[k.Name] < 5 {
			t.Errorf("%s was drawn %d times in 3,000 rounds", k.Name, drawn[k.Name])
		}
		if kindNamed(k.Name) == nil || k.Inject == nil || k.Observe == nil || k.Heal == nil || k.Limit == 0 {
			t.Errorf("%s lacks a part", k.Name)
		}
	}
	if two < 200 {
		t.Errorf("two at once in %d of 3,000 rounds", two)
	}
}

func checkDraw(t *testing.T, d Draw) {
	t.Helper()
	w := d.Kind.Want(d.Args)
	if d.Kind.Decoy != (len(w.Checks) == 0) {
		t.Errorf("%s: decoy %v, wants %v", d, d.Kind.Decoy, w.Checks)
	}
	if !d.Kind.Decoy && len(w.Names) == 0 && len(d.Args.Processes) == 0 {
		t.Errorf("%s: nobody is to be named", d)
	}
	for _, p := range d.Args.Processes {
		if _, known := lab.Ports[p]; !known {
			t.Errorf("%s: no process of the lab is %s", d, p)
		}
	}
	if d.Kind.Name == "slowed" && (d.Args.Percent < 50 || d.Args.Percent > 95) {
		t.Errorf("%s: not within 50 and 95%%", d)
	}
}
