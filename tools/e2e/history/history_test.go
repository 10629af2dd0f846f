package main

import (
	"strings"
	"testing"
	"time"
)

// TestFaults: each has its own name and something to look for, and there are as many as were promised.
func TestFaults(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range faults() {
		if seen[f.Name] || f.Name == "" || f.What == "" || len(f.Events) == 0 || len(f.Objects) == 0 || f.Inject == nil || f.Held <= 0 {
			t.Errorf("%+v: names have to be their own, and there has to be something to inject and to find", f)
		}
		seen[f.Name] = true
	}
	if len(seen) < 12 {
		t.Errorf("%d faults, want twelve", len(seen))
	}
}

func TestEventOfAFault(t *testing.T) {
	f := &Fault{Name: "killed", Events: []string{"node_lost"}, Objects: []string{"@querynode2", ""}}
	words, err := f.words(map[string]string{"querynode2": "querynode-1"})
	if err != nil || len(words) != 2 || words[0] != "querynode-1" || words[1] != "" {
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
	} {
		if got := f.is(&test.event, words[:1]); got != test.is {
			t.Errorf("%+v: %v", test.event, got)
		}
	}
}

// TestReport: bars count what was played, and what fell short is said.
func TestReport(t *testing.T) {
	at := time.Date(2026, 11, 26, 7, 0, 0, 0, time.UTC)
	text := report([]*Result{
		{Name: "node-killed", Every: "15s", Injected: at, Recorded: Seen{Event: &Event{Kind: "node_lost", Time: at.Add(31 * time.Second)}}, Onset: &Onset{Check: "replica-dead-node", Began: at.Add(31 * time.Second), Place: 1}},
		{Name: "dropped", Every: "15s", Injected: at, Recorded: Seen{Why: "none of it"}, OtherDuring: []string{"live: warning a b/1"}},
		{Name: "auto-balance-off", Every: "15s", Injected: at, Recorded: Seen{Event: &Event{Kind: "config_changed", Time: at}}, Onset: &Onset{First: "no finding of it"}},
		{Name: "released", Broken: "no server"},
	})
	for _, want := range []string{
		"| faults that `history` of the recording tells | all | 2 of 3 |", "| 95% | 1 of 2 |", "| 90% | 1 of 2 |", "| 100% | 5 of 6 |",
		"`node_lost` +31.0 s", "- `dropped`: history has nothing of it: none of it", "- `dropped`: live: warning a b/1", "the run went wrong: no server",
		"- `auto-balance-off`: onset -, the event is number -; said first: no finding of it",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
}
