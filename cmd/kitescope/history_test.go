package main

import (
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
)

// TestHistoryAfterCompaction checks that history reports the time before a compaction as unknown, not as free of
// events.
func TestHistoryAfterCompaction(t *testing.T) {
	demo, client := demoClient(t)
	today := terminal{now: time.Now}
	newest, err := client.Get(t.Context(), "by-dev/x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(t.Context(), newest.Header.Revision); err != nil {
		t.Fatal(err)
	}
	for _, since := range []string{"now", "10m", "rev:3"} {
		e := today.mustRun(t, cli.ExitFailed, "history", "--since", since, "--from", demo.from())
		if !strings.Contains(e.err, "what happened before is unknown") {
			t.Errorf("--since %s: %s", since, e.err)
		}
	}
	if _, err := client.Put(t.Context(), "by-dev/config/queryCoord/autoBalance", "true"); err != nil {
		t.Fatal(err)
	}
	e := today.mustRun(t, cli.ExitOK, "history", "--since", "rev:3", "--from", demo.from())
	if !strings.Contains(e.stdout, "config_changed") ||
		!strings.Contains(e.stdout, "earlier events are unknown: the history begins at revision ") {
		t.Error(e.stdout)
	}
}
