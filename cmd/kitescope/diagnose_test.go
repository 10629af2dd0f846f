package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
)

// watchLine is a line of diagnose --watch -o jsonl.
type watchLine struct {
	At, Since, Change, Check, Severity, Message, Reason string
	Held                                                float64 `json:"held_seconds"`
	Hold                                                float64 `json:"hold_seconds"`
	Object                                              struct{ Resource, ID string }
}

// TestWatchDiagnosis checks that --watch reports a finding when a session of a live cluster ends, and its end
// when the session is back.
func TestWatchDiagnosis(t *testing.T) {
	t.Parallel() // it waits
	demo, client := demoClient(t)
	ctx, stop := context.WithTimeout(t.Context(), 120*time.Second)
	defer stop()
	r, w := io.Pipe()
	var messages strings.Builder
	code := make(chan int)
	go func() {
		code <- run(ctx, scriptStreams(w, &messages, nil), []string{
			"diagnose", "--watch", "--live=false", "-o", "jsonl", "--only", "replica-dead-node,node-idle", "--from",
			demo.from(),
		})
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	next := func() (x watchLine) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("ended early: %s", messages.String())
		}
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		if _, err := time.Parse(time.RFC3339, x.At); err != nil {
			t.Error(err)
		}
		return x
	}
	if x := next(); x.Change != "blind" || x.Check != "node-idle" || x.Reason != "the nodes were not queried" {
		t.Errorf("a check that cannot look is reported as %+v", x)
	}
	key := "by-dev/meta/session/querynode-19"
	got, err := client.Get(ctx, key)
	if err != nil || len(got.Kvs) != 1 {
		t.Fatalf("%s: %v", key, err)
	}
	if _, err := client.Delete(ctx, key); err != nil {
		t.Fatal(err)
	}
	came := next()
	if came.Change != "new" || came.Check != "replica-dead-node" || came.Message == "" || came.Since != came.At ||
		came.Hold != 30 {
		t.Errorf("a node that died is reported as %+v", came)
	}
	for came.Change == "new" { // there may be more than one, one for each replica
		if _, err := client.Put(ctx, key, string(got.Kvs[0].Value)); err != nil {
			t.Fatal(err)
		}
		if x := next(); x.Change == "gone" {
			if x.Check != "replica-dead-node" || x.Held < 30 {
				t.Errorf("%s is gone after %g s", x.Check, x.Held)
			}
			break
		}
	}
	stop()
	go func() { _, _ = io.Copy(io.Discard, r) }()
	if c := <-code; c != cli.ExitInterrupted {
		t.Errorf("exit %d after an interrupt, want %d", c, cli.ExitInterrupted)
	}
}
