package rules_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/faulttest"
	"kitescope/inspect/check/rules"
)

// absurd matches durations since the zero time.
var absurd = regexp.MustCompile(`\d{5,} ?d\b|\d{6,} ?(h|min|s)\b|0001-01-01`)

// withoutTime runs the checks of a case without the time at which the metadata was read, as in a copied backup. It
// checks that there are no findings beyond those with the time, and that no text reports an age that is unknown.
func withoutTime() property {
	return property{"timeless", func(t *testing.T, _ *faulttest.Case, dated *check.Report) {
		t.Helper()
		found := make(map[string]check.Severity)
		for _, f := range dated.Findings {
			found[f.Key()] = f.Severity
		}
		cluster := *dated.Cluster
		cluster.Origin.Taken = time.Time{}
		timeless := check.Run(&cluster, time.Time{}, rules.All())
		for _, f := range timeless.Findings {
			if severity, ok := found[f.Key()]; !ok || f.Severity > severity {
				t.Errorf("%s %s: %s: only without a time", f.Severity, f.Check, f.Message)
			}
			words := []string{f.Message, f.Impact, f.Advice()}
			for _, e := range f.Evidence {
				words = append(words, e.Name+": "+e.Value)
			}
			if text := strings.Join(words, "; "); absurd.MatchString(text) {
				t.Error(text)
			}
		}
		for _, x := range timeless.Results {
			if x.Status == check.Broken {
				t.Errorf("%s: %s", x.Check.ID, x.Reason)
			}
		}
	}, nil}
}
