package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/tools/e2e/lab"
)

// TestEventOfAFault checks which events belong to a fault.
func TestEventOfAFault(t *testing.T) {
	f := &Fault{Name: "killed", Events: []string{"node_lost"}, Objects: []string{"@querynode2", "dml"}}
	words, err := f.words(map[string]lab.Session{"querynode2": {Role: "querynode", ID: 1}})
	if err != nil || len(words) != 2 || words[0] != "querynode-1" || words[1] != "dml" {
		t.Fatalf("%q, %v", words, err)
	}
	if _, err := f.words(nil); err == nil {
		t.Error("a process without a session was found")
	}
	for _, test := range []struct {
		event Event
		is    bool
	}{
		{Event{Kind: "node_lost", Object: "querynode-1"}, true},
		{Event{Kind: "node_lost", Object: "querynode-12"}, false},
		{Event{Kind: "node_left", Object: "querynode-1"}, false},
		{Event{Kind: "node_lost", Message: "querynode-1 at 127.0.0.1:1 is gone"}, true},
		{Event{Kind: "node_lost", Of: "querynode-1"}, true},
	} {
		if got := f.matches(&test.event, words[:1]); got != test.is {
			t.Errorf("%+v: %v", test.event, got)
		}
	}
}

// TestOnsetTolerance checks the tolerance of onsets, for checks of metadata and of answers.
func TestOnsetTolerance(t *testing.T) {
	at := time.Date(2026, 11, 26, 7, 0, 0, 0, time.UTC)
	r := &Result{Every: "15s", Injected: at, Known: at.Add(30 * time.Second)}
	for _, test := range []struct {
		check string
		after time.Duration
		near  bool
	}{
		{"role-missing", 30 * time.Second, true},
		{"role-missing", 26 * time.Second, true},
		{"role-missing", 36 * time.Second, false},
		{"role-missing", 0, false},
		{"node-unreachable", 0, true},
		{"node-unreachable", 20 * time.Second, true},
		{"node-unreachable", 21 * time.Second, false},
		{"node-unreachable", -6 * time.Second, false},
		{"", 0, false},
	} {
		if o := (&Onset{Check: test.check, Began: at.Add(test.after)}); o.withinTolerance(r) != test.near {
			t.Errorf("%s after %s: %v", test.check, test.after, !test.near)
		}
	}
}

// TestDiffFindings checks that changes between the two rounds of calls around a look do not count as apart.
func TestDiffFindings(t *testing.T) {
	set := func(words ...string) map[string]bool {
		all := map[string]bool{}
		for _, w := range words {
			all[w] = true
		}
		return all
	}
	other, apart, compared := diffFindings(set("both", "live", "begins"), set("both", "recorded", "ends"),
		set("both", "recorded", "begins"))
	if want := []string{"live: begins", "live: live", "recorded: ends", "recorded: recorded"}; !slices.Equal(other,
		want) {
		t.Errorf("other: %q", other)
	}
	if want := []string{"live: live", "recorded: recorded"}; !slices.Equal(apart, want) || compared != 5 {
		t.Errorf("apart: %q of %d", apart, compared)
	}
}

// TestCheckLists checks the lists of the report: every name is a check, and those in written need no
// answers of processes.
func TestCheckLists(t *testing.T) {
	files, err := filepath.Glob("../../../inspect/check/rules/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no rules: %v", err)
	}
	id := regexp.MustCompile(`ID: +"([a-z0-9-]+)"`)
	answers := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range id.FindAllStringSubmatch(string(text), -1) {
			answers[m[1]] = strings.Contains(string(text), "Needs:")
		}
	}
	for _, x := range metadataChecks {
		if needs, known := answers[x]; !known || needs {
			t.Errorf("%s is judged by answers", x)
		}
	}
	named := slices.Clone(windows)
	for _, f := range faults() {
		named = append(named, f.Checks...)
	}
	for _, x := range named {
		if _, known := answers[x]; !known {
			t.Errorf("there is no check %s", x)
		}
	}
}
