package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/history"
)

// TestLossIsReportedAgain checks that a watch reports a lost source at once, repeats it with the duration, and
// reports when it is back.
func TestLossIsReportedAgain(t *testing.T) {
	var out strings.Builder
	now := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	teller := newLossReporter(&cli.App{Streams: &cli.Streams{Err: &out}})
	teller.clock = func() time.Time { return now }
	gone := history.Update{Live: true, Err: context.DeadlineExceeded, Since: now.Add(-3 * time.Second)}
	teller.handle(history.Update{Live: true})
	for range 200 {
		teller.handle(gone)
		teller.handle(history.Update{Progress: "reading"})
		now = now.Add(time.Second)
	}
	teller.handle(history.Update{Live: true, Lost: []history.Lost{{Name: "querynode-7", Since: now}}})
	teller.handle(history.Update{Live: true})
	want := "kitescope: context deadline exceeded; last response at 08:29:57, stale for 3s\n" +
		"kitescope: context deadline exceeded; last response at 08:29:57, stale for 10s\n" +
		"kitescope: context deadline exceeded; last response at 08:29:57, stale for 30s\n" +
		"kitescope: context deadline exceeded; last response at 08:29:57, stale for 1m30s\n"
	if !strings.HasPrefix(out.String(), want) || strings.Count(out.String(), "\n") > 9 {
		t.Errorf("said was:\n%s", &out)
	}
	for _, text := range []string{
		"etcd is back after 3m23s", "querynode-7 is not responding", "querynode-7 is back after 0s",
	} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("%q is missing in:\n%s", text, &out)
		}
	}
}
