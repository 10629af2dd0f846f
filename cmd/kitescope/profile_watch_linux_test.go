package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
)

// TestWatchInterrupted checks that an interrupted watch prints its report.
func TestWatchInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, interrupt)
	e := terminal{now: time.Now}.run(ctx, t, "profile", "watch", "--interval", "50ms", "-o", "json", "--pid",
		strconv.Itoa(os.Getpid()))
	if e.code != cli.ExitInterrupted || e.took > 15*time.Second || !json.Valid([]byte(e.stdout)) {
		t.Errorf("exit %d after %s: %s %s", e.code, e.took, e.err, head(e.stdout))
	}
}
