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

// absurd are spans that count from no time at all.
var absurd = regexp.MustCompile(`\d{5,} ?d\b|\d{6,} ?(h|min|s)\b|0001-01-01`)

// timeless judges a case as if nothing said when the metadata was read, as in a backup that was copied: nothing is found that is
// not found with the time, and no age is told that nobody knows.
func timeless() property {
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
