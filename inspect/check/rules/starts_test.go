package rules_test

import (
	"slices"
	"strings"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/history"
)

// TestStartsOfAllChecks: each check names events that start what it finds, in words that there are.
func TestStartsOfAllChecks(t *testing.T) {
	var kinds []history.Kind
	for _, k := range history.Kinds() {
		kinds = append(kinds, k.Name)
	}
	ids := check.IDs(rules.All())
	for _, id := range ids {
		row := check.StartsOf(id)
		if len(row.First) == 0 {
			t.Errorf("%s has no event that is its cause as a rule", id)
		}
		for _, f := range slices.Concat(row.First, row.Others) {
			if !slices.Contains(kinds, f.Kind) {
				t.Errorf("%s: there is no event %s", id, f.Kind)
			}
			if f.Of != "" && f.Kind != "config_changed" && !strings.HasPrefix(string(f.Kind), "node_") {
				t.Errorf("%s: %s has no part of its own: %s", id, f.Kind, f.Of)
			}
		}
	}
}
