//go:build e2efaults

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kitescope/inspect/check/faulttest"
)

const (
	realFaultsBegin = "<!-- real clusters: begin (written by make e2e-faults) -->"
	realFaultsEnd   = "<!-- real clusters: end -->"
)

// faultPresent holds, for each look, a function that reports from the state of etcd and the nodes
// (tools/e2e/state.py) whether the fault was present when kitescope ran. The function also describes the state.
var faultPresent = map[string]func(*clusterState) (string, bool){
	"healthy-idle": quiet, "healthy-load-1": receivesInserts, "healthy-load-2": receivesInserts,
	"healthy-load-3": receivesInserts, "dropped": orphanCheckpoint, "other-config": threeNodes, "node-idle": emptyNode,
	"sigterm-during": nodeStopping, "sigterm-after": twoNodes, "killed-5s": deadSession, "killed-60s": twoNodes,
	"partition-released": partlyServed, "group-names-lost-node": twoNodes,
	"querycoord-gone": roleGone("querycoord"), "rootcoord-gone": roleGone("rootcoord"),
	"datacoord-gone": roleGone("datacoord"),
	"no-index":       indexesUnbuilt, "unflushed": receivesInserts, "kafka-down": checkpointsLag,
	"old-metadata": oldLayout,
}

// faultyObjects holds functions that return the ids of the broken objects, for the looks where etcd and the nodes show
// them. The findings must name these ids.
var faultyObjects = map[string]func(*clusterState) []string{
	"dropped": (*clusterState).orphanChannels, "node-idle": (*clusterState).emptyNodes,
	"sigterm-during": (*clusterState).stoppingNodes, "killed-5s": (*clusterState).deadNodes,
}

// verdict is the result for a look.
type verdict struct {
	faultCase
	score

	state    string // the state of etcd and nodes
	problems []string
	health   string // birdwatcher's healthz-check
	moves    string // birdwatcher's explain-balance
}

// TestFaults checks the findings that kitescope reported while tools/e2e/faults.sh injected faults into a real
// cluster.
func TestFaults(t *testing.T) {
	folder := os.Getenv("KITESCOPE_FAULTS")
	if folder == "" {
		t.Fatal("run it with make e2e-faults")
	}
	var verdicts []*verdict
	for _, l := range faultCases {
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
		if len(verdicts) != len(faultCases) {
			t.Fatalf("%d of %d looks: no report is written", len(verdicts), len(faultCases))
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

func judge(t *testing.T, folder string, l faultCase) *verdict {
	t.Helper()
	v := &verdict{faultCase: l}
	var state clusterState
	var said diagnoseOutput
	readInto(t, filepath.Join(folder, l.name+".state.json"), &state)
	readInto(t, filepath.Join(folder, l.name+".json"), &said)
	for i, f := range said.Items {
		t.Logf("%s: %d. %s %s %s: %s", l.name, i+1, f.Severity, f.Check, f.Object.Name, f.Message)
	}
	v.score, v.problems = l.judge(&said)
	was, there := faultPresent[l.name](&state)
	if v.state = was; !there {
		v.problems = append(v.problems, "the cluster was not in the state that was meant: "+was)
	}
	if of := faultyObjects[l.name]; of != nil {
		for _, id := range of(&state) {
			if !slices.Contains(v.named, id) {
				v.problems = append(v.problems, id+" is not named")
			}
		}
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
