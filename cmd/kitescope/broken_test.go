package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// faultCase is one moment of a fault run with the expected findings.
type faultCase struct {
	name, what string
	// want lists the checks of the expected findings. The first or the second finding must come from one of
	// these checks. It is empty if the cluster is healthy. Findings caused by an expected finding, and findings
	// of the checks in follow, are not false alarms, because the fault explains them as well.
	want, follow []string
}

var faultCases = []faultCase{
	{name: "healthy-idle", what: "healthy, no clients"},
	{name: "healthy-load-1", what: "healthy, 45 s under inserts and searches"},
	{name: "healthy-load-2", what: "the same, 45 s later"},
	{name: "healthy-load-3", what: "the same, 90 s later"},
	{
		name: "dropped", what: "loaded collection released and dropped",
		want: []string{"checkpoint-stale-dropped"},
	},
	{
		name: "other-config", what: "query node started with other scheduler settings",
		want: []string{"config-drift"}, follow: []string{"bad-switches"},
	},
	{
		name: "node-idle", what: "node added, auto-balance off",
		want: []string{"node-idle", "auto-balance-off"},
	},
	{
		name: "sigterm-during", what: "query node told to stop (SIGTERM), 1 s later",
		want: []string{"stopping-node-serving"},
		// The node is that of other-config; its settings still differ.
		follow: []string{"config-drift"},
	},
	{name: "sigterm-after", what: "the same, a minute after it has gone: healed"},
	{
		name: "killed-5s", what: "query node killed with -9, 5 s later",
		want: []string{"node-unreachable", "stale-session"},
	},
	{name: "killed-60s", what: "the same, 60 s later: healed"},
	{
		name: "no-index", what: "index asked for, no index node",
		want: []string{"role-missing"},
	},
	{name: "partition-released", what: "loaded collection, one partition of it released"},
	{
		name: "group-names-lost-node",
		what: "query node and QueryCoord killed with -9, QueryCoord started again: healed. The resource group in " +
			"etcd still names the node",
	},
	{
		name: "querycoord-gone",
		what: "QueryCoord killed with -9, 35 s later: its session has ended, and every search fails",
		want: []string{"role-missing"},
	},
	{
		name: "rootcoord-gone", what: "RootCoord killed with -9, 35 s later",
		want: []string{"role-missing"},
	},
	{
		name: "datacoord-gone", what: "DataCoord killed with -9, 35 s later",
		want: []string{"role-missing"},
	},
	{
		name: "unflushed", what: "a few rows inserted and not flushed",
		want: []string{"growing-too-old"},
	},
	{
		name: "kafka-down", what: "Kafka killed with -9, 60 s later",
		want: []string{"queue-unreachable", "timetick-lag"},
	},
	{
		name: "old-metadata", what: "metadata of 2.1.0 under 2.3.5",
		want: []string{"layout-older"},
	},
}

// diagnoseOutput is the part of the output of diagnose -o json that the tests read.
type diagnoseOutput struct {
	Items []struct {
		Check    string        `json:"check"`
		Severity string        `json:"severity"`
		Message  string        `json:"message"`
		Object   namedObject   `json:"object"`
		Objects  []namedObject `json:"objects"`
		Cause    struct {
			Check string `json:"check"`
		} `json:"cause"`
	} `json:"items"`
	Checks []struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Reason string `json:"reason"`
	} `json:"checks"`
}

type namedObject struct {
	Resource string `json:"resource"`
	Name     string `json:"name"`
	ID       string `json:"id"`
}

// score is the result of judging a look: the position of the first wanted finding (from 1, or 0 if it is
// missing), and the false alarms, i.e. findings of severity warning or above that the fault does not explain.
type score struct {
	place  int
	found  string
	alarms []string
	infos  int
	// named holds the ids of all objects of the wanted findings among the first two.
	named []string
}

// judge compares the findings with the expected ones and returns the problems.
func (l *faultCase) judge(output *diagnoseOutput) (s score, problems []string) {
	for i, f := range output.Items {
		wanted := slices.Contains(l.want, f.Check)
		if wanted && s.place == 0 {
			s.place, s.found = i+1, f.Severity+" "+f.Check
		}
		if wanted && i < 2 {
			for _, x := range append(f.Objects, f.Object) {
				s.named = append(s.named, x.ID)
			}
		}
		if f.Severity == "info" {
			s.infos++
		}
		explained := wanted || slices.Contains(l.follow, f.Check) || slices.Contains(l.want, f.Cause.Check)
		if f.Severity != "info" && !explained {
			s.alarms = append(s.alarms, f.Severity+" "+f.Check+": "+f.Message)
		}
	}
	for _, c := range output.Checks {
		if c.Status == "failed" {
			problems = append(problems, "check "+c.ID+" failed: "+c.Reason)
		}
	}
	if len(l.want) > 0 && (s.place == 0 || s.place > 2) {
		problems = append(problems, "not named first or second: none of "+strings.Join(l.want, ", "))
	}
	for _, a := range s.alarms {
		problems = append(problems, "false alarm: "+a)
	}
	return s, problems
}

// TestBroken checks the findings on bundles of real clusters with injected faults (tools/e2e/faults.sh).
func TestBroken(t *testing.T) {
	for _, l := range faultCases {
		t.Run(l.name, func(t *testing.T) {
			file := filepath.Join("..", "..", "testdata", "broken", l.name+".kite")
			var said diagnoseOutput
			kitescopeJSON(t, &said, "diagnose", "-o", "json", "--fail-on", "never", "--from", file)
			_, problems := l.judge(&said)
			for _, p := range problems {
				t.Error(p)
			}
		})
	}
}

// kitescopeJSON runs a command in this process and decodes its JSON output.
func kitescopeJSON(t *testing.T, into any, words ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), scriptStreams(&out, &errs, nil), words); code != 0 {
		t.Fatalf("kitescope %v: exit %d: %s", words, code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatalf("kitescope %v: %v", words, err)
	}
}
