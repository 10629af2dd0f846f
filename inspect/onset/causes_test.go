package onset

import (
	"slices"
	"strings"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/history"
)

// TestCausesAreOfAllChecks: each check says which events can be its cause, in words that there are.
func TestCausesAreOfAllChecks(t *testing.T) {
	t.Parallel()
	var kinds []history.Kind
	for _, k := range history.Kinds() {
		kinds = append(kinds, k.Name)
	}
	ids := check.IDs(rules.All())
	for _, id := range ids {
		row := causeOf(id)
		if len(row.usual) == 0 {
			t.Errorf("%s has no event that is its cause as a rule", id)
		}
		for _, f := range slices.Concat(row.usual, row.others) {
			if !slices.Contains(kinds, f.kind) {
				t.Errorf("%s: there is no event %s", id, f.kind)
			}
			if f.of != "" && f.kind != "config_changed" && !strings.HasPrefix(string(f.kind), "node_") {
				t.Errorf("%s: %s has no part of its own: %s", id, f.kind, f.of)
			}
		}
	}
	for id := range causes {
		if !slices.Contains(ids, id) {
			t.Errorf("there is no check %s", id)
		}
	}
}
