package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/balance"
	"kitescope/inspect/check/faulttest"
)

// TestHandoverPlan checks that rows, evenness, plans and Milvus's moves are the same while rows are
// in memory twice. It compares hand-overs and moves of the library with the same clusters after query nodes
// have released their duplicates. TestFaults covers the findings.
func TestHandoverPlan(t *testing.T) {
	library, err := faulttest.OpenLibrary(faultFolder, snapshotFolder)
	if err != nil {
		t.Fatal(err)
	}
	const all = "{segment:docs_hnsw_cos/growing/*}"
	for name, letGo := range map[string][]string{
		"growing-flushed-handoff": {"ungrow " + all},
		"handover-compacted":      {"ungrow " + all},
		"compaction-handover":     {"unserve {segment:docs_hnsw_cos/flushed/0..2}"},
		"segment-moving": {
			"move {segment:items_hnsw_l2/flushed/0..3} to {holder:items_hnsw_l2/flushed/0..3} now-1h",
		},
	} {
		i := slices.IndexFunc(library.Cases, func(c *faulttest.Case) bool { return c.Name == name })
		if i < 0 {
			t.Fatalf("there is no case %s", name)
		}
		after := *library.Cases[i]
		after.Edits = slices.Clone(after.Edits)
		for _, edit := range letGo {
			after.Edits = append(after.Edits, faulttest.Line{Number: 100, Text: edit})
		}
		want, got := outlineOf(t, library, &after), outlineOf(t, library, library.Cases[i])
		if len(want) == 0 {
			t.Fatalf("%s: nothing is served", name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: not as after it: %s", name, diff)
		}
	}
}

// outline is the result of balance for one replica.
type outline struct {
	Rows, Growing, Brute int64
	Segments             int
	Spread               balance.Spread
	Moves                []balance.Move
}

// outlineOf returns the result of balance for a case's cluster, by the name of the group.
func outlineOf(t *testing.T, library *faulttest.Library, c *faulttest.Case) map[string]outline {
	t.Helper()
	b, err := library.Base(t.Context(), c.Base)
	if err != nil {
		t.Fatal(err)
	}
	cluster, _, err := c.Cluster(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	survey := balance.NewSurvey(cluster)
	r := survey.Report(nil, balance.Options{}, true)
	outlines := make(map[string]outline)
	for i, g := range r.Groups {
		x := outline{Rows: g.Rows(), Segments: g.Sealed, Spread: g.Spread, Moves: r.Plans[i].Moves}
		x.Spread.MemoryMaxMean = 0 // duplicates do take memory
		for _, s := range g.Shares {
			x.Growing += s.GrowingRows
			x.Brute += s.BruteRows
		}
		outlines[g.Name()] = x
	}
	if strings.HasPrefix(c.Name, "handover") && len(outlines["docs_hnsw_cos"].Moves) > 0 {
		t.Errorf("%s: moves are planned: %+v", c.Name, outlines["docs_hnsw_cos"])
	}
	return outlines
}
