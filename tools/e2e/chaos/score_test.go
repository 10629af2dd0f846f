package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"kitescope/tools/e2e/lab"
)

func found(check, severity, object string, cause string) Finding {
	f := Finding{Check: check, Severity: severity, Object: lab.Object{Name: object}, Message: check + " of " + object}
	if cause != "" {
		f.Cause = &lab.Cause{Check: cause}
	}
	return f
}

func want(checks, follow string, names ...string) *wanted {
	w := &wanted{Want: Want{Checks: strings.Fields(checks), Follow: strings.Fields(follow)}}
	for _, n := range names {
		w.all = append(w.all, strings.Fields(n))
	}
	w.now = w.all
	return w
}

// TestPlace checks the place of a finding and the names that are left out.
func TestPlace(t *testing.T) {
	dead := func(node string) Finding { return found("node-unreachable", "error", node, "") }
	noise := found("small-segments", "warning", "docs", "")
	node5 := want("node-unreachable", "no-shard-leader", "querynode-5 127.0.0.1:20160")
	for _, c := range []struct {
		name     string
		findings []Finding
		of       *wanted
		others   []*wanted
		place    int
		left     int
	}{
		{"first", []Finding{dead("querynode-5"), noise}, node5, nil, 1, 0},
		{"second", []Finding{noise, dead("querynode-5")}, node5, nil, 2, 0},
		{"third is not named", []Finding{noise, noise, dead("querynode-5")}, node5, nil, 3, 1},
		{"another node", []Finding{dead("querynode-6")}, node5, nil, 0, 1},
		{"a longer number", []Finding{dead("querynode-51")}, node5, nil, 0, 1},
		{
			"one of two",
			[]Finding{dead("querynode-5")},
			want("node-unreachable", "", "querynode-5", "querynode-6"),
			nil, 1, 1,
		},
		{
			"three lines of one check",
			[]Finding{dead("a"), dead("b"), dead("c")},
			want("node-unreachable", "", "a", "b", "c"), nil, 1, 0,
		},
		{"nothing said", nil, node5, nil, 0, 1},
		{
			"what another fault explains does not count",
			[]Finding{dead("proxy-1"), found("checkpoint-lag", "error", "", ""), dead("querynode-5")},
			node5,
			[]*wanted{want("node-unreachable", "checkpoint-lag", "proxy-1")},
			1, 0,
		},
		{
			"what is shown below another fault does not count",
			[]Finding{
				dead("proxy-1"), found("imbalance-rows", "info", "songs", "node-unreachable"),
				found("node-idle", "info", "", "node-unreachable"), found("queue-unreachable", "error", "", ""),
			},
			want("queue-unreachable", ""),
			[]*wanted{want("node-unreachable", "", "proxy-1")},
			1, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			place, left := c.of.place(c.findings, append(c.others, c.of))
			if place != c.place || len(left) != c.left {
				t.Errorf("place %d, not named %v; want place %d and %d not named", place, left, c.place, c.left)
			}
		})
	}
}

// TestAlarms checks which findings count as false.
func TestAlarms(t *testing.T) {
	w := want("node-unreachable", "no-shard-leader", "querynode-5")
	for _, c := range []struct {
		name  string
		found Finding
		of    []*wanted
		false bool
	}{
		{"the cause", found("node-unreachable", "error", "querynode-5", ""), []*wanted{w}, false},
		{"the same of an innocent process", found("node-unreachable", "error", "querynode-6", ""), []*wanted{w}, true},
		{"true because of the fault", found("no-shard-leader", "error", "docs", ""), []*wanted{w}, false},
		{"said to follow", found("load-stuck", "warning", "docs", "node-unreachable"), []*wanted{w}, false},
		{"not said to follow", found("load-stuck", "warning", "docs", ""), []*wanted{w}, true},
		{"advice", found("small-segments", "info", "docs", ""), []*wanted{w}, false},
		{"on a cluster that is well", found("queue-lag", "error", "docs", ""), nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := []Finding{found("node-unreachable", "error", "querynode-5", ""), c.found}
			if len(c.of) == 0 {
				all = all[1:]
			}
			if got := len(alarms(all, c.of)) > 0; got != c.false {
				t.Errorf("false alarm: %v, want %v", got, c.false)
			}
		})
	}
}

// TestWatchedFindings checks the findings that have appeared in a span of time, and those open at a time.
func TestWatchedFindings(t *testing.T) {
	began := time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)
	event := func(second int, change, check string) Finding {
		f := found(check, "error", "x", "")
		f.Change, f.At = change, began.Add(time.Duration(second)*time.Second).Format(time.RFC3339Nano)
		return f
	}
	events := []Finding{
		event(1, "new", "a"), event(5, "new", "b"), event(8, "gone", "a"), event(9, "new", "a"), event(12, "gone", "b"),
	}
	if got := lab.Appeared(events, began.Add(4*time.Second), began.Add(9*time.Second)); len(got) != 1 ||
		got[0].Check != "b" {
		t.Errorf("risen between 4 and 9 s: %v", got)
	}
	for second, want := range map[int]int{0: 0, 2: 1, 6: 2, 8: 1, 10: 2, 13: 1} {
		if got := openFindings(events, began.Add(time.Duration(second)*time.Second)); len(got) != want {
			t.Errorf("open after %d s: %v, want %d", second, got, want)
		}
	}
}

// TestDocumentMatchesRecord checks that the document holds the score of the recorded rounds.
func TestDocumentMatchesRecord(t *testing.T) {
	results, err := readResults("results.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../docs/evidence/diagnosis.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, rest, _ := strings.Cut(string(text), begin+"\n"); !strings.HasPrefix(rest, report(results)+end) {
		t.Error("docs/evidence/diagnosis.md is not what results.jsonl says: go run . -report -docs " +
			"../../../docs/evidence/diagnosis.md")
	}
	for _, r := range results {
		for _, o := range r.Faults {
			if kindNamed(o.Kind) == nil {
				t.Errorf("%d/%d: no kind of fault is called %q", r.Seed, r.Round, o.Kind)
			}
		}
	}
}
