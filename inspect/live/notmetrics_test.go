package live_test

import (
	"strings"
	"testing"
)

// TestNotMetrics checks that a response that is not metrics is identified.
func TestNotMetrics(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<!DOCTYPE html><title>Sign in</title>": "an HTML page", "\n": "none in the text",
		"<html>\n<body>\n": "an HTML page", `{"code":1800}`: "is JSON", "# TYPE a gauge\na 1": "ends within line 2",
	} {
		r := decode(pageRecord("proxy", 4, "GET /metrics", text))
		if p := r.Processes[0]; !strings.Contains(p.Reason, want) || (p.Reason == "") != (want == "") {
			t.Errorf("%q: %s %q, want %q", text, p.Outcome, p.Reason, want)
		}
	}
}
