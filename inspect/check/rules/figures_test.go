package rules_test

import (
	"regexp"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/faulttest"
)

// numbersAreFigures checks that evidence whose text begins with a measure also has it as a figure. Notes from
// the metadata are exempt because they are sentences.
func numbersAreFigures() property {
	measure := regexp.MustCompile(
		`^(up to )?[0-9][0-9.,]*(%| (ms|s|min|h|d|B|[KMGT]iB|rows?|segments?|samples?|times?|cores)\b)`,
	)
	figures := 0
	return property{"numbers are figures", func(t *testing.T, _ *faulttest.Case, r *check.Report) {
		t.Helper()
		for _, f := range r.Findings {
			for _, e := range f.Evidence {
				if figures += len(e.Figures); len(e.Figures) == 0 && e.Name != "note" && measure.MatchString(e.Value) {
					t.Errorf("%s: %s is %q, and no figure", f.Check, e.Name, e.Value)
				}
			}
		}
	}, func(t *testing.T) {
		t.Helper()
		if figures == 0 {
			t.Error("no figure at all")
		}
	}}
}
