package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
)

// measured serves the metrics of a process that burns half a core, to who is let in.
func measured(t *testing.T, allow func(*http.Request) bool) string {
	t.Helper()
	began := time.Now()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" || allow != nil && !allow(r) {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		up := time.Since(began).Seconds()
		fmt.Fprintf(w, "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total %g\nprocess_resident_memory_bytes 2.097152e+08\ngo_goroutines 42\n", up/2)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// usageReport is what -o json writes, as far as it is looked at.
type usageReport struct {
	Kind  string
	Items []struct {
		Process, Ended string
		LastGap        string `json:"last_gap"`
		Readings, Gaps int
		Totals         map[string]map[string]float64
		Samples        []map[string]any
	}
}

// watched runs profile watch by the real clock.
func watched(t *testing.T, code int, args ...string) (r usageReport, e ended) {
	t.Helper()
	e = terminal{now: time.Now}.run(t.Context(), t, append([]string{"profile", "watch"}, args...)...)
	if e.code != code {
		t.Fatalf("%v: exit %d, want %d\nstdout: %s\nstderr: %s", args, e.code, code, head(e.stdout), e.err)
	}
	if slices.Contains(args, "json") {
		if err := json.Unmarshal([]byte(e.stdout), &r); err != nil {
			t.Fatalf("%v: %s", err, head(e.stdout))
		}
	}
	return r, e
}

func TestWatchMetrics(t *testing.T) {
	r, e := watched(t, cli.ExitOK, "one="+measured(t, nil), "one="+measured(t, nil), "dead=127.0.0.1:1",
		"--interval", "50ms", "--for", "500ms", "-o", "json")
	if r.Kind != "Usage" || len(r.Items) != 3 || r.Items[1].Process != "one#2" {
		t.Fatalf("%+v", r)
	}
	for _, x := range r.Items[:2] {
		if cpu := x.Totals["cpu_cores"]["mean"]; x.Readings < 4 || cpu < 0.4 || cpu > 0.6 {
			t.Errorf("%s: %d readings, %g cores", x.Process, x.Readings, cpu)
		}
		if x.Totals["rss_bytes"]["min"] != 200<<20 {
			t.Errorf("%s: %v", x.Process, x.Totals)
		}
	}
	if dead := r.Items[2]; dead.Readings != 0 || dead.Gaps < 4 || len(dead.Totals) != 0 || dead.LastGap == "" {
		t.Errorf("dead: %+v", dead)
	}
	says(t, e.err, "dead never answered: ")
	watched(t, cli.ExitIncomplete, measured(t, nil), "dead=127.0.0.1:1", "--for", "100ms", "--strict")
	_, e = watched(t, cli.ExitFailed, "dead=127.0.0.1:1", "--for", "100ms")
	says(t, e.err, "nothing was measured: dead: ")
}

// TestWatchPlots writes samples as they come, and plots.
func TestWatchPlots(t *testing.T) {
	plot := filepath.Join(t.TempDir(), "usage.svg")
	args := []string{measured(t, nil), "--interval", "50ms", "--for", "500ms", "-o", "jsonl", "--plot", plot}
	_, e := watched(t, cli.ExitOK, args...)
	if strings.Count(e.stdout, "\n") < 2 {
		t.Errorf("wrote %q", e.stdout)
	}
	for line := range strings.Lines(e.stdout) {
		var s map[string]any
		if err := json.Unmarshal([]byte(line), &s); err != nil || s["rss_bytes"] != 2.097152e+08 {
			t.Errorf("%s: %v", line, err)
		}
	}
	picture, err := os.ReadFile(plot)
	if err != nil || !strings.Contains(string(picture), "<svg") || !strings.Contains(string(picture), "CPU (cores)") {
		t.Errorf("the plot: %v", err)
	}
	says(t, e.err, "wrote the plot to "+plot)
	_, e = watched(t, cli.ExitUsage, args...)
	says(t, e.err, "usage.svg exists", "--force")
	watched(t, cli.ExitOK, append(args, "--force")...)
}

func TestWatchSecrets(t *testing.T) {
	const password, token = "pa55-of-ann", "t0ken-of-all"
	url := measured(t, func(r *http.Request) bool {
		user, pass, _ := r.BasicAuth()
		return user == "ann" && pass == password || r.Header.Get("Authorization") == "Bearer "+token
	})
	with := strings.Replace(url, "http://", "http://ann:"+password+"@", 1)
	without := strings.Replace(url, "http://", "http://ann@", 1)
	for name, c := range map[string]struct {
		word string
		env  map[string]string
		code int
	}{
		"in the URL":         {with, nil, cli.ExitOK},
		"in the environment": {without, map[string]string{"KITESCOPE_PROFILE_PASSWORD": password}, cli.ExitOK},
		"a token":            {url, map[string]string{"KITESCOPE_PROFILE_TOKEN": token}, cli.ExitOK},
		"nowhere":            {without, nil, cli.ExitUsage},
		"wrong":              {strings.Replace(with, "ann:", "bob:", 1), nil, cli.ExitFailed},
		"broken":             {with + "\x7f", nil, cli.ExitUsage},
		"dead":               {"http://ann:" + password + "@127.0.0.1:1/metrics?token=" + token, nil, cli.ExitFailed},
	} {
		for _, format := range []string{"table", "json", "jsonl"} {
			e := terminal{now: time.Now, env: c.env}.run(t.Context(), t, "profile", "watch", c.word, "--for", "60ms", "--interval", "20ms", "-o", format)
			if e.code != c.code {
				t.Errorf("%s: exit %d, want %d: %s", name, e.code, c.code, e.err)
			}
			if all := e.stdout + e.err; strings.Contains(all, password) || strings.Contains(all, token) {
				t.Errorf("%s shows a secret: %s", name, all)
			}
		}
	}
}

// TestWatchCluster finds the processes of a cluster and reads each once, whatever its roles.
func TestWatchCluster(t *testing.T) {
	f := capturedT7(t, nil)
	r, _ := watched(t, cli.ExitOK, "--from", f.from, "--for", "300ms", "--interval", "100ms", "-o", "json")
	names := map[string]bool{}
	for _, x := range r.Items {
		names[x.Process] = true
		if x.Readings > 0 && !(x.Totals["rss_bytes"]["mean"] > 0) {
			t.Errorf("%s: %v", x.Process, x.Totals)
		}
	}
	if len(names) != len(r.Items) || len(r.Items) < 8 {
		t.Errorf("processes: %v", names)
	}
}

func TestWatchMistakes(t *testing.T) {
	for _, c := range []struct {
		args, want string
	}{
		{"", "--from is missing"},
		{"--pid 0", "--pid must be a process id"},
		{"--pid x", "--pid"},
		{"host:1 --interval 1ms", "--interval must be at least 10ms"},
		{"host:1 --for -1s", "--for"},
		{"--for 1s -- true", "no longer runs commands"},
		{"host:1 --queries 5", "kitescope replay reports"},
		{"host:1 --counter x", "kitescope replay reports"},
		{"host:1 --out x", "-o jsonl"},
		{"host:1 --tree", "--tree needs --pid"},
		{"host:1 --plot x.gif", ".svg, .png"},
		{"host:1 -o svg", "output format"},
		{"ftp://host:1", "not a metrics address"},
		{"http://", "not a metrics address"},
		{"host:1 --from x --live=false", "--live=false"},
	} {
		_, e := watched(t, cli.ExitUsage, strings.Fields(c.args)...)
		says(t, e.err, c.want)
	}
	_, e := watched(t, cli.ExitFailed, "host:1", "--for", "1h", "--plot", "no-such-folder/x.svg") // said at once
	says(t, e.err, "write the plot no-such-folder/x.svg: no such file")
	_, e = watched(t, cli.ExitFailed, "--pid", "2147483647", "--for", "1s")
	if runtime.GOOS == "linux" {
		says(t, e.err, "no process 2147483647")
	}
}
