package rules_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/check"
	"kitescope/inspect/check/faulttest"
)

// commandsAreListed writes the kitescope commands in the findings of the library to a file. The test of the command
// line parses the commands in that file: the command line is not available here, and playing a library takes too
// long there.
func commandsAreListed() property {
	const path = "testdata/commands.txt"
	seen := make(map[string]bool)
	return property{"commands are listed", func(_ *testing.T, _ *faulttest.Case, r *check.Report) {
		for _, f := range r.Findings {
			for _, s := range f.Steps() {
				if command := string(s.Command); !s.Python && strings.HasPrefix(command, "kitescope ") {
					seen[f.Check+": "+command] = true
				}
			}
		}
	}, func(t *testing.T) {
		t.Helper()
		want := strings.Join(slices.Sorted(maps.Keys(seen)), "\n") + "\n"
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(text)); diff != "" {
			t.Errorf("%s is out of date: go test ./inspect/check/rules -run TestFaults -update\n%s", path, diff)
		}
	}}
}
