//go:build e2e

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile"
	"kitescope/profile/pull"
)

// processes returns the process ids of a real cluster by the port of their HTTP servers.
func processes(t *testing.T) map[string]int {
	t.Helper()
	pids := map[string]int{}
	for word := range strings.FieldsSeq(os.Getenv("KITESCOPE_E2E_PIDS")) {
		port, pid, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatalf("KITESCOPE_E2E_PIDS: %q", word)
		}
		pids[port] = n
	}
	if len(pids) == 0 || os.Getenv("KITESCOPE_E2E_FROM") == "" {
		t.Fatal("run it with tools/e2e/profile.sh")
	}
	return pids
}

// kernelCPU returns the CPU time of a process as counted by the kernel (proc_pid_stat(5): utime and stime, in
// ticks of 10 ms).
func kernelCPU(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may hold spaces
	fields := strings.Fields(rest)
	const utime, stime = 14 - 3, 15 - 3
	var ticks int64
	for _, i := range []int{utime, stime} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// TestPullsCluster pulls profiles from a real cluster under load and compares them with the kernel's CPU times.
func TestPullsCluster(t *testing.T) {
	const seconds = 10
	pids := processes(t)
	idle := os.Getenv("KITESCOPE_E2E_IDLE")
	out := cmp.Or(os.Getenv("KITESCOPE_E2E_OUT"), filepath.Join(t.TempDir(), "pulled"))
	// Another client profiles this query node at the same time.
	const disturbed = "20161"
	other := make(chan error, 1)
	go func() {
		response, err := http.Get("http://127.0.0.1:" + disturbed + "/debug/pprof/profile?seconds=4")
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		other <- err
	}()
	time.Sleep(500 * time.Millisecond)
	before := map[string]time.Duration{}
	for port, pid := range pids {
		before[port] = kernelCPU(t, pid)
	}
	start := time.Now()
	e := terminal{now: time.Now}.run(t.Context(), t, "profile", "pull", "--from", os.Getenv("KITESCOPE_E2E_FROM"),
		"--seconds", strconv.Itoa(seconds),
		"--kind", "cpu,heap,goroutine", "--metrics-port", os.Getenv("KITESCOPE_E2E_PROXY"), "-O", out, "-o", "json",
		"--strict")
	took := time.Since(start)
	spent := map[string]time.Duration{}
	for port, pid := range pids {
		spent[port] = kernelCPU(t, pid) - before[port]
	}
	if e.code != cli.ExitOK {
		t.Fatalf("exit %d: %s", e.code, e.err)
	}
	if err := <-other; err != nil {
		t.Errorf("the other profile: %v", err)
	}
	var m pull.Manifest
	if err := json.Unmarshal([]byte(e.stdout), &m); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d profiles in %s; one process was profiled by somebody else for 4 s", len(m.Profiles), took)
	judgePulled(t, &m, pids, spent, took, idle, disturbed)
	readPulled(t, out, len(m.Profiles))
}

// judgePulled compares the profiles with the kernel's CPU times over the whole command.
func judgePulled(
	t *testing.T, m *pull.Manifest, pids map[string]int, spent map[string]time.Duration, took time.Duration,
	idle, disturbed string,
) {
	t.Helper()
	var began []time.Time
	var idleCores, busyCores float64
	seen := map[string]int{}
	for i := range m.Profiles {
		p := &m.Profiles[i]
		_, port, _ := net.SplitHostPort(p.Address)
		seen[port]++
		if pids[port] == 0 {
			t.Errorf("%s at %s is no process of the cluster", p.Node, p.Address)
		}
		if p.Kind != pull.CPU {
			continue
		}
		cores, known := p.BusyCores()
		kernel := spent[port].Seconds() / took.Seconds()
		t.Logf("%-14s %-22s %5.2f cores by its profile, %5.2f by the kernel, %4d samples, %d attempts", p.Node,
			strings.Join(p.Roles, ","), cores, kernel, *p.Samples, p.Attempts)
		if !known || math.Abs(cores-kernel) > max(0.08, 0.35*kernel) {
			t.Errorf("%s: %v cores by its profile, %v by the kernel", p.Node, cores, kernel)
		}
		switch port {
		case disturbed:
			if p.Attempts < 2 {
				t.Errorf("%s was asked %d times while somebody else profiled it", p.Node, p.Attempts)
			}
		case idle:
			idleCores = cores
			began = append(began, p.From)
		default:
			began = append(began, p.From)
		}
		if slices.Contains(p.Roles, "querynode") && port != idle {
			busyCores += cores
		}
	}
	if busyCores < 0.2 || idleCores > 0.1 || idleCores > busyCores/4 {
		t.Errorf("the query nodes with segments use %v cores under searches, the one without %v", busyCores, idleCores)
	}
	for port := range pids {
		if seen[port] != 3 {
			t.Errorf("the process at %s was asked for %d profiles, want 3", port, seen[port])
		}
	}
	slices.SortFunc(began, time.Time.Compare)
	if spread := began[len(began)-1].Sub(began[0]); spread > 500*time.Millisecond {
		t.Errorf("the windows began over %s", spread)
	}
}

// readPulled checks that all pulled profiles can be read.
func readPulled(t *testing.T, dir string, want int) {
	t.Helper()
	record, err := pull.Read(dir)
	if err != nil || len(record.Items) != want || len(record.Problems) > 0 {
		t.Fatalf("%v: %d items, want %d, problems %v", err, len(record.Items), want, record.Problems)
	}
	for _, item := range record.Items {
		in, err := item.Open()
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := profile.Decode(t.Context(), in, profile.Limits{}); err != nil {
			t.Errorf("%s: %v", item.Name, err)
		}
		_ = in.Close()
	}
}
