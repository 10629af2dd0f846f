//go:build e2efaults

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kitescope/inspect/check/faulttest"
)

const (
	realFaultsBegin = "<!-- real clusters: begin (written by make e2e-faults) -->"
	realFaultsEnd   = "<!-- real clusters: end -->"
)

// look is one moment of a fault run, and what should be said of it.
type look struct {
	name, what string
	// want are checks of which one must be the first or the second finding; none for a
	// cluster that is well. follow are others that the fault explains: no false alarms.
	want, follow []string
	// real says from what the cluster's own etcd and nodes told (tools/e2e/state.py)
	// whether the fault was there when kitescope looked.
	real func(*clusterState) (string, bool)
}

var looks = []look{
	{name: "healthy-idle", what: "healthy, no clients", real: quiet},
	{name: "healthy-load", what: "healthy, under inserts and searches", real: taking},
	{
		name: "dropped", what: "loaded collection released and dropped", real: leftCheckpoint,
		want: []string{"checkpoint-stale-dropped"},
	},
	{
		name: "other-config", what: "query node started with other scheduler settings", real: answering,
		want: []string{"config-drift"}, follow: []string{"bad-switches"},
	},
	{
		name: "node-idle", what: "node added, auto-balance off", real: emptyNode,
		want: []string{"node-idle", "auto-balance-off"}, follow: []string{"imbalance-rows", "imbalance-memory", "imbalance-leaders", "imbalance-channels", "cpu-skew"},
	},
	{
		name: "sigterm-during", what: "query node told to stop (SIGTERM), 1 s later", real: leaving,
		want:   []string{"stopping-node-serving"},
		follow: []string{"imbalance-rows", "imbalance-leaders", "imbalance-channels", "segment-loaded-twice", "leader-channel-split"},
	},
	{name: "sigterm-after", what: "the same, a minute after it has gone", real: twoNodes},
	{
		name: "killed-5s", what: "query node killed with -9, 5 s later", real: deadSession,
		want:   []string{"node-unreachable", "stale-session", "no-shard-leader"},
		follow: []string{"shard-not-serviceable", "segment-not-loaded", "channel-unwatched", "leader-channel-split", "replica-dead-node", "target-behind"},
	},
	{name: "killed-60s", what: "the same, 60 s later", real: twoNodes},
	{
		name: "no-index", what: "index asked for, no index node", real: unbuilt,
		want: []string{"index-stuck", "index-missing"}, follow: []string{"small-segments"},
	},
	{
		name: "unflushed", what: "a few rows inserted and not flushed", real: growing,
		want: []string{"growing-too-old"},
	},
	{
		name: "kafka-down", what: "Kafka killed with -9, 60 s later", real: standing,
		want:   []string{"queue-unreachable", "checkpoint-lag", "timetick-lag"},
		follow: []string{"node-unreachable", "stale-session", "no-shard-leader", "shard-not-serviceable", "target-behind", "channel-unwatched"},
	},
	{
		name: "old-metadata", what: "metadata of 2.1.0 under 2.3.5", real: oldLayout,
		want: []string{"layout-older"}, follow: []string{"orphan-index", "orphan-load"},
	},
}

// judged is the part of diagnose -o json that matters here.
type judged struct {
	Items []struct {
		Check    string `json:"check"`
		Severity string `json:"severity"`
		Message  string `json:"message"`
		Object   struct {
			Resource string `json:"resource"`
			Name     string `json:"name"`
			ID       string `json:"id"`
		} `json:"object"`
	} `json:"items"`
	Checks []struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Reason string `json:"reason"`
	} `json:"checks"`
}

// verdict is what became of one look.
type verdict struct {
	look
	was      string // what was the case
	place    int    // of the first finding that is wanted, from 1; 0: none
	found    string
	alarms   []string // findings of warning or above that the fault does not explain
	problems []string
	health   string // birdwatcher's healthz-check
	moves    string // birdwatcher's explain-balance
}

// TestFaults judges what kitescope said while tools/e2e/faults.sh broke a real cluster.
func TestFaults(t *testing.T) {
	folder := os.Getenv("KITESCOPE_FAULTS")
	if folder == "" {
		t.Fatal("run it with make e2e-faults")
	}
	var verdicts []*verdict
	for _, l := range looks {
		if _, err := os.Stat(filepath.Join(folder, l.name+".json")); err != nil {
			continue
		}
		v := judge(t, folder, l)
		verdicts = append(verdicts, v)
		for _, p := range v.problems {
			t.Errorf("%s: %s", l.name, p)
		}
	}
	if len(verdicts) == 0 {
		t.Fatalf("nothing was written into %s", folder)
	}
	report := faultReport(verdicts)
	t.Log("\n" + report)
	if file := os.Getenv("KITESCOPE_FAULTS_REPORT"); file != "" {
		if len(verdicts) != len(looks) {
			t.Fatalf("%d of %d looks: no report is written", len(verdicts), len(looks))
		}
		old, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := faulttest.ReplaceBetween(string(old), realFaultsBegin, realFaultsEnd, report)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func judge(t *testing.T, folder string, l look) *verdict {
	t.Helper()
	v := &verdict{look: l}
	var state clusterState
	var said judged
	readInto(t, filepath.Join(folder, l.name+".state.json"), &state)
	readInto(t, filepath.Join(folder, l.name+".json"), &said)
	was, there := l.real(&state)
	if v.was = was; !there {
		v.problems = append(v.problems, "the cluster was not in the state that was meant: "+was)
	}
	for i, f := range said.Items {
		wanted := slices.Contains(l.want, f.Check)
		if wanted && v.place == 0 {
			v.place, v.found = i+1, f.Severity+" "+f.Check
		}
		if f.Severity != "info" && !wanted && !slices.Contains(l.follow, f.Check) {
			v.alarms = append(v.alarms, f.Severity+" "+f.Check+": "+f.Message)
		}
		t.Logf("%s: %d. %s %s %s: %s", l.name, i+1, f.Severity, f.Check, f.Object.Name, f.Message)
	}
	for _, c := range said.Checks {
		if c.Status == "failed" {
			v.problems = append(v.problems, "check "+c.ID+" failed: "+c.Reason)
		}
	}
	if len(l.want) > 0 && (v.place == 0 || v.place > 2) {
		v.problems = append(v.problems, fmt.Sprintf("not named first or second: none of %s", strings.Join(l.want, ", ")))
	}
	for _, a := range v.alarms {
		v.problems = append(v.problems, "false alarm: "+a)
	}
	v.health, v.moves = birdwatcher(folder, l.name)
	return v
}

func readInto(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
