package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
)

// TestWatchCommand runs a command, tells how it ended, and fails as it did, with a code of its own.
func TestWatchCommand(t *testing.T) {
	r, e := watched(t, cli.ExitFailed, "--interval", "20ms", "--queries", "4", "-o", "json", "--", "sh", "-c", "echo hello; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 3")
	says(t, e.err, "hello", "kitescope: sh failed: exit status 3")
	if strings.Contains(e.stdout, "hello") {
		t.Error("the output of the command is in the report")
	}
	c := r.Command
	if c.Name != "sh" || c.ExitCode != 3 || c.User <= 0 || len(r.Items) != 1 || r.Items[0].Readings == 0 {
		t.Fatalf("%+v", r)
	}
	if cpu := r.Items[0].Totals["cpu_cores"]["cpu_seconds"]; cpu > c.User+1 {
		t.Errorf("%g s of CPU in samples, and %g s in all", cpu, c.User)
	}
	if r.PerQuery.Queries != 4 || r.PerQuery.CPU < c.User/4-2e-4 { // user_seconds has milliseconds
		t.Errorf("per query %+v of %g s", r.PerQuery, c.User)
	}
	_, e = watched(t, cli.ExitOK, "--", "true")
	says(t, e.stdout, "command: true: exit status 0 after ", "pid ")
}

// TestWatchDuringCommand measures a service while a command loads it: a query costs what the service used.
func TestWatchDuringCommand(t *testing.T) {
	r, _ := watched(t, cli.ExitOK, measured(t, nil), "--interval", "50ms", "--counter", "queries_total", "-o", "json", "--", "sleep", "0.4")
	if len(r.Items) != 2 || r.PerQuery.CPU < 0.004 || r.PerQuery.CPU > 0.006 || len(r.PerQuery.Missing) != 0 {
		t.Errorf("%+v", r.PerQuery)
	}
}

// TestWatchInterrupted ends with the report, and ends the command.
func TestWatchInterrupted(t *testing.T) {
	for name, args := range map[string][]string{
		"processes": {"--pid", strconv.Itoa(os.Getpid())},
		"command":   {"--", "sleep", "60"},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(300*time.Millisecond, interrupt)
		line := append([]string{"profile", "watch", "--interval", "50ms", "-o", "json"}, args...)
		e := terminal{now: time.Now}.run(ctx, t, line...)
		if e.code != cli.ExitInterrupted || e.took > 15*time.Second || !json.Valid([]byte(e.stdout)) {
			t.Errorf("%s: exit %d after %s: %s %s", name, e.code, e.took, e.err, head(e.stdout))
		}
	}
}

// TestInterruptOnce leaves a command alone that ends by the ^C of the terminal, and asks it where there is none.
func TestInterruptOnce(t *testing.T) {
	for terminal, want := range map[bool]int{true: 0, false: 7} {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		seconds := "0.5" // it ends by itself
		if !terminal {
			seconds = "60" // it never would
		}
		c := &watchedCommand{cmd: exec.CommandContext(t.Context(), "sh", "-c", `trap 'kill $!; exit 7' INT; sleep `+seconds+` & echo ready; wait; exit 0`)}
		c.cmd.Stdout = in
		if err := c.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 10)) // by now it has its trap
		done := make(chan struct{})
		go func() {
			_ = c.interrupt(terminal) // how it ended is what counts
			close(done)
		}()
		_ = c.cmd.Wait()
		<-done
		if code := c.cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("on a terminal %v: exit %d, want %d", terminal, code, want)
		}
		_, _ = in.Close(), out.Close()
	}
}
