package live_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// large is a cluster of 200 query nodes with 200,000 segments.
var large = livetest.Spec{QueryNodes: 200, Collections: 50, Segments: 199_000, Growing: 1000}

// pair is one that a test can afford to start beside itself.
var pair = livetest.Spec{QueryNodes: 2, Collections: 1, Segments: 20, Growing: 2}

// serveFakes names, in the environment of the other process, the cluster that it serves.
const serveFakes = "KITESCOPE_TEST_SERVE_FAKES"

// TestAskAnotherProcess asks servers that share no memory with the client. It is also the
// main function of that other process, for BenchmarkAsk200 as well.
func TestAskAnotherProcess(t *testing.T) {
	switch os.Getenv(serveFakes) {
	case "small":
		serve(t, pair)
		return
	case "large":
		serve(t, large)
		return
	}
	c := livetest.Replace(livetest.Cluster(pair), startFakes(t, "small"))
	client, err := live.Open(live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	r, err := client.Ask(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	sealed := 0
	for _, n := range r.QueryNodes() {
		if n.Distribution == nil {
			t.Fatalf("%s: %s %s", n.Name(), n.Outcome, n.Reason)
		}
		sealed += len(n.Distribution.Sealed)
	}
	if sealed != pair.Segments {
		t.Errorf("the nodes serve %d sealed segments, want %d", sealed, pair.Segments)
	}
}

// serve serves a cluster until standard input ends, and says where.
func serve(t *testing.T, spec livetest.Spec) {
	t.Helper()
	f, err := os.Open(capture("t7", "metrics", "querynode1.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	c := livetest.Cluster(spec)
	moved := livetest.Serve(t, c, livetest.Answers(c, livetest.Options{Metrics: strings.ReplaceAll(string(text), `"13"`, `"NODE"`)}), recorded.Options{})
	addresses := map[string]string{}
	for _, s := range moved.Sessions {
		addresses[s.Name()] = s.Address
	}
	b, err := json.Marshal(addresses)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("fakes %s\n", b)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// startFakes starts the other process and returns where it serves which session.
func startFakes(b testing.TB, which string) map[string]string {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestAskAnotherProcess$", "-test.v") //nolint:gosec // ourselves
	cmd.Env = append(os.Environ(), serveFakes+"="+which)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	addresses := map[string]string{}
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadString('\n')
		if text, ok := strings.CutPrefix(line, "fakes "); ok {
			if err := json.Unmarshal([]byte(text), &addresses); err != nil {
				b.Fatal(err)
			}
			go func() { _, _ = io.Copy(io.Discard, r) }()
			return addresses
		}
		if err != nil {
			b.Fatalf("the fakes did not start: %v", err)
		}
	}
}

// peakRSS is the most memory that this process has held, in MB; 0 where the system does not tell.
func peakRSS() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kilobytes float64
	_, _ = fmt.Sscan(rest, &kilobytes)
	return kilobytes / 1000
}

// BenchmarkAsk200 asks 200 query nodes with 200,000 segments, 5 of them dead and 5 silent.
// It reports the time beyond the deadline, and the memory of the asking process, of which
// the cluster's metadata are a part ("before").
func BenchmarkAsk200(b *testing.B) {
	const timeout = 3 * time.Second
	addresses := startFakes(b, "large")
	for i := range 5 {
		addresses[fmt.Sprintf("querynode-%s", livetest.QueryNode(40*i))] = livetest.Silent(b)
		dead := livetest.Refused(b)
		if i > 0 {
			dead = livetest.Blackhole(b)
		}
		addresses[fmt.Sprintf("querynode-%s", livetest.QueryNode(40*i+7))] = dead
	}
	c := livetest.Replace(livetest.Cluster(large), addresses)
	client, err := live.Open(live.Options{Timeout: timeout})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	runtime.GC()
	before := peakRSS()
	worst := time.Duration(0)
	for b.Loop() {
		start := time.Now()
		r, err := client.Ask(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		worst = max(worst, time.Since(start))
		sealed := 0
		for _, n := range r.QueryNodes() {
			if n.Distribution != nil {
				sealed += len(n.Distribution.Sealed)
			}
		}
		if blind := len(r.Blind()); blind != 10 || sealed != 190*199_000/200 || len(r.DataSegments) != large.Growing {
			b.Fatalf("%d nodes unknown, %d segments, %d in DataCoord", blind, sealed, len(r.DataSegments))
		}
		for _, n := range r.Nodes {
			if n.Distribution == nil && n.Role == "querynode" {
				continue
			}
			for _, call := range n.Calls {
				if call.Outcome != model.Answered {
					b.Fatalf("%s: %s %s", n.Name(), call.Method, call.Outcome)
				}
			}
		}
	}
	b.ReportMetric(float64((worst - timeout).Milliseconds()), "ms-beyond")
	b.ReportMetric(before, "MB-before")
	b.ReportMetric(peakRSS(), "MB-peak")
}
