package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
)

// usageReport is the part of the JSON output that the tests read.
type usageReport struct {
	Kind  string
	Items []struct {
		Process  string
		Readings int
		Totals   map[string]map[string]float64
	}
}

// watchProfiles runs profile watch with the real clock and decodes its JSON output.
func watchProfiles(t *testing.T, code int, args ...string) (r usageReport, e cmdResult) {
	t.Helper()
	e = terminal{now: time.Now}.run(t.Context(), t, append([]string{"profile", "watch"}, args...)...)
	if e.code != code {
		t.Fatalf("%v: exit %d, want %d\nstdout: %s\nstderr: %s", args, e.code, code, head(e.stdout), e.err)
	}
	if code == cli.ExitOK && slices.Contains(args, "json") {
		if err := json.Unmarshal([]byte(e.stdout), &r); err != nil {
			t.Fatalf("%v: %s", err, head(e.stdout))
		}
	}
	return r, e
}

// TestWatchCluster checks that a watch finds the processes of a cluster, reads each process once even if it has
// several roles, and plots them.
func TestWatchCluster(t *testing.T) {
	f := capturedT7(t, nil)
	plot := filepath.Join(t.TempDir(), "usage.svg")
	args := []string{"--from", f.from, "--for", "300ms", "--interval", "100ms", "-o", "json", "--plot", plot}
	r, e := watchProfiles(t, cli.ExitOK, args...)
	names := map[string]bool{}
	for _, x := range r.Items {
		names[x.Process] = true
		if x.Readings > 0 && !(x.Totals["rss_bytes"]["mean"] > 0) {
			t.Errorf("%s: %v", x.Process, x.Totals)
		}
	}
	if len(names) != len(r.Items) || len(r.Items) < 8 || r.Kind != "Usage" {
		t.Errorf("processes: %v", names)
	}
	picture, err := os.ReadFile(plot)
	if err != nil || !strings.Contains(string(picture), "<svg") || !strings.Contains(string(picture), "CPU (cores)") {
		t.Errorf("the plot: %v", err)
	}
	containsAll(t, e.err, "wrote the plot to "+plot)
	_, e = watchProfiles(t, cli.ExitUsage, args...)
	containsAll(t, e.err, "usage.svg exists", "--force")
}

func TestWatchUsageErrors(t *testing.T) {
	for _, c := range []struct {
		args, want string
	}{
		{"", "--from is missing"},
		{"--pid 0", "--pid must be a process id"},
		{"--pid x", "--pid"},
		{"--from x --interval 1ms", "--interval must be at least 10ms"},
		{"--from x --for -1s", "--for"},
		{"--for 1s -- true", "run it in another terminal"},
		{"host:9091", "curl http://HOST:PORT/metrics"},
		{"--from x --queries 5", "kitescope replay reports"},
		{"--from x --counter x", "kitescope replay reports"},
		{"--from x --out x", "-o jsonl"},
		{"--from x --tree", "--tree needs --pid"},
		{"--from x --plot x.gif", ".svg, .png"},
		{"--from x -o svg", "output format"},
		{"--from x --live=false", "--live=false"},
	} {
		_, e := watchProfiles(t, cli.ExitUsage, strings.Fields(c.args)...)
		containsAll(t, e.err, c.want)
	}
	if runtime.GOOS != "linux" {
		return
	}
	_, e := watchProfiles(t, cli.ExitFailed, "--pid", "1", "--for", "1h", "--plot", "no-such-folder/x.svg")
	containsAll(t, e.err, "write the plot no-such-folder/x.svg: no such file")
	_, e = watchProfiles(t, cli.ExitFailed, "--pid", "2147483647", "--for", "1s")
	containsAll(t, e.err, "no process 2147483647")
}
