package rules_test

import (
	"slices"
	"strings"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/history"
)

// TestStartsOfAllChecks checks that each check names the events that start its problem, and that these event
// kinds exist.
func TestStartsOfAllChecks(t *testing.T) {
	var kinds []history.Kind
	for _, k := range history.Kinds() {
		kinds = append(kinds, k.Name)
	}
	for _, x := range rules.All() {
		row := check.ParseStarts(x.Starts)
		if len(row.First) == 0 {
			t.Errorf("%s has no event that is its cause as a rule", x.ID)
		}
		for _, f := range slices.Concat(row.First, row.Others) {
			if !slices.Contains(kinds, f.Kind) {
				t.Errorf("%s: there is no event %s", x.ID, f.Kind)
			}
			if f.Subject != "" && f.Kind != "config_changed" && !strings.HasPrefix(string(f.Kind), "node_") {
				t.Errorf("%s: %s has no part of its own: %s", x.ID, f.Kind, f.Subject)
			}
		}
	}
}
