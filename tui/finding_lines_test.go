package tui

import (
	"strings"
	"testing"

	"kitescope/inspect/check"
)

// TestOpenedFits checks that no line is too wide at any width, and that the fix is complete.
func TestOpenedFits(t *testing.T) {
	f := &check.Finding{
		Severity: check.Error, Check: "uneven", Message: "docs is served unevenly and the sentence goes on",
		Impact: "searches wait", Cost: 0.3,
		Fix: []check.Step{
			{
				Command: "kitescope balance docs --plan --by cost --from etcd://10.0.0.5:2379/by-dev",
				Text:    "lists the moves",
			},
			{Command: "utility.flush()\nutility.x()", Python: true, Changes: true},
		},
		Evidence: []check.Evidence{{Name: "max/mean", Value: "1.77"}},
	}
	cause := &check.Finding{Check: "off", Message: "auto-balance is off", Severity: check.Warning}
	f.Cause = cause.Key()
	effect := &check.Finding{Check: "idle", Message: "a node is idle", Severity: check.Warning, Cause: f.Key()}
	r := &check.Report{Findings: []*check.Finding{cause, f, effect}}
	for w := 38; w < 140; w++ {
		for _, brief := range []bool{false, true} {
			var b strings.Builder
			lines := openFinding(r, f).Lines(w, brief)
			for _, line := range lines {
				if line.Width() > w {
					t.Errorf("a line of %d in %d: %q", line.Width(), w, line.Plain())
				}
				b.WriteString(strings.TrimSuffix(strings.TrimPrefix(line.Plain(), "▌ "), ` \`) + " ")
			}
			text := strings.Join(strings.Fields(b.String()), " ")
			for _, want := range []string{
				"kitescope balance docs --plan --by cost --from etcd://10.0.0.5:2379/by-dev", "lists the moves",
				"pymilvus", ">>> utility.flush()", ">>> utility.x()", "CAUSE", "auto-balance is off", "EFFECTS",
				"a node is idle", "30% of query work", "max/mean: 1.77",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("%d cells: %q is not in %q", w, want, text)
				}
			}
			if brief != strings.HasPrefix(lines[1].Plain(), fixMark) ||
				!strings.Contains(lines[0].Plain(), "docs is served") {
				t.Errorf("%d cells: the first lines are %q and %q", w, lines[0].Plain(), lines[1].Plain())
			}
		}
	}
}
