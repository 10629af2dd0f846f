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
		if got := f.is(&test.event, words[:1]); got != test.is {
			t.Errorf("%+v: %v", test.event, got)
		}
	}
}

// TestReport: bars count what was played, and what fell short is said.
func TestReport(t *testing.T) {
	at := time.Date(2026, 11, 26, 7, 0, 0, 0, time.UTC)
	none := &Look{Compared: 10}
	text := report([]*Result{
		{Name: "node-killed", Every: "15s", Injected: at, Known: at.Add(30 * time.Second), Before: none, During: none, Recorded: Seen{Event: &Event{Kind: "node_lost", Time: at.Add(31 * time.Second)}}, Onset: &Onset{Check: "replica-dead-node", Began: at.Add(31 * time.Second), Place: 1}},
		{
			Name: "dropped", Every: "15s", Injected: at, Known: at, Recorded: Seen{Why: "none of it"},
			Before: &Look{Compared: 10, Other: []string{"live: warning a b/1", "live: info gc-pause c/1", "recorded: info d e/1"}, Apart: []string{"live: warning a b/1", "live: info gc-pause c/1"}},
			During: &Look{Compared: 10, Other: []string{"recorded: info wal-append-slow /"}, Apart: []string{"recorded: info wal-append-slow /"}},
		},
		{Name: "auto-balance-off", Every: "15s", Injected: at, Known: at, Before: none, During: none, Recorded: Seen{Event: &Event{Kind: "config_changed", Time: at}}, Onset: &Onset{First: "no finding of it"}},
		{Name: "index-node-killed", Every: "15s", Injected: at, Known: at.Add(20 * time.Second), Before: none, During: none, Recorded: Seen{Event: &Event{Kind: "node_lost", Time: at.Add(20 * time.Second)}}, Onset: &Onset{Check: "node-unreachable", Began: at.Add(8 * time.Second)}},
		{Name: "released", Broken: "no server"},
	})
	for _, want := range []string{
		"| faults that `history` of the recording tells | all | 3 of 4 |", "| 95% | 2 of 3 |", "| 90% | 1 of 2 |",
		"| 100% | 6 of 8 (76 of 80 findings) |", "| - | 6 of 8 (77 of 80 findings) |", "| - | 7 of 8 |",
		"| +30.0 s | `node_lost` +31.0 s |", "- `dropped`: history has nothing of it: none of it", "- `dropped`: live: warning a b/1", "the run went wrong: no server",
		"- `auto-balance-off`: onset -, the event is number -; said first: no finding of it",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "- `dropped`: live: info gc-pause") {
		t.Errorf("what is of a window falls short:\n%s", text)
	}
}

func TestNear(t *testing.T) {
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
		if o := (&Onset{Check: test.check, Began: at.Add(test.after)}); o.near(r) != test.near {
			t.Errorf("%s after %s: %v", test.check, test.after, !test.near)
		}
	}
}

// TestDiffer: what changed between the rounds around a look is no difference of what is told of one moment.
func TestDiffer(t *testing.T) {
	set := func(words ...string) map[string]bool {
		all := map[string]bool{}
		for _, w := range words {
			all[w] = true
		}
		return all
	}
	other, apart, compared := differ(set("both", "live", "begins"), set("both", "recorded", "ends"), set("both", "recorded", "begins"))
	if want := []string{"live: begins", "live: live", "recorded: ends", "recorded: recorded"}; !slices.Equal(other, want) {
		t.Errorf("other: %q", other)
	}
	if want := []string{"live: live", "recorded: recorded"}; !slices.Equal(apart, want) || compared != 5 {
		t.Errorf("apart: %q of %d", apart, compared)
	}
}

// TestWhatChecksJudge holds the lists of the report against the checks: those of windows are about where requests spend their time, or are
// named here, with what they measure; those of metadata need no answers.
func TestWhatChecksJudge(t *testing.T) {
	about := map[string]string{"cpu-skew": "processor time between two scrapes", "process-slow": "the share of a few seconds that it kept the asker waiting"}
	files, err := filepath.Glob("../../../inspect/check/rules/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no rules: %v", err)
	}
	id := regexp.MustCompile(`ID: +"([a-z0-9-]+)"`)
	latency, answers := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range id.FindAllStringSubmatch(string(text), -1) {
			latency[m[1]] = filepath.Base(filepath.Dir(f)) == "latency"
			answers[m[1]] = strings.Contains(string(text), "Needs:")
		}
	}
	for _, x := range windows {
		if is, known := latency[x]; !known || !is && about[x] == "" {
			t.Errorf("%s is judged by something else than a window", x)
		}
	}
	for x, is := range latency {
		if is && !slices.Contains(windows, x) {
			t.Errorf("%s is judged by a window", x)
		}
	}
	for _, x := range written {
		if needs, known := answers[x]; !known || needs {
			t.Errorf("%s is judged by answers", x)
		}
	}
	for _, f := range faults() {
		for _, x := range f.Checks {
			if _, known := answers[x]; !known {
				t.Errorf("%s: there is no check %s", f.Name, x)
			}
		}
	}
}

// TestWatch: what etcdctl writes says when a session ended.
func TestWatch(t *testing.T) {
	at := time.Date(2026, 11, 26, 7, 0, 0, 0, time.UTC)
	clock := func() time.Time { at = at.Add(10 * time.Second); return at }
	w := &watch{}
	w.follow(strings.NewReader(`{"Header":{"revision":8},"Events":[{"kv":{"key":"YnktZGV2L21ldGEvc2Vzc2lvbi9xdWVyeW5vZGUtNA==","mod_revision":8,"value":"e30="}}],"CompactRevision":0}
{"Header":{"revision":9},"Events":[{"type":1,"kv":{"key":"YnktZGV2L21ldGEvc2Vzc2lvbi9xdWVyeW5vZGUtNA==","mod_revision":9}},{"kv":{"key":"b3RoZXI="}}]}
`), clock)
	if len(w.changes) != 2 || w.changes[0].Gone || !w.changes[1].Gone {
		t.Fatalf("%+v", w.changes)
	}
	for _, key := range []string{"by-dev/meta/session/querynode-4", "by-dev/meta/session/querynode-"} {
		if c, ok := w.first(at.Add(-time.Second), []string{key}); !ok || !c.Gone || c.At != at {
			t.Errorf("%s: %+v", key, c)
		}
	}
	if c, ok := w.first(at.Add(-time.Hour), []string{"by-dev/meta/session/querynode", "x-"}); ok {
		t.Errorf("another key: %+v", c)
	}
}
