package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/tools/e2e/lab"
)

var start = time.Unix(1_000_000, 0)

// makeRequests makes requests of one kind, one a second from a second on, each of which takes as long as is given.
func makeRequests(kind, way string, from, count int, took float64) []request {
	var all []request
	for i := range count {
		r := request{N: from + i, Kind: kind, Began: unix(start) + float64(from+i), Failure: way}
		if took >= 0 {
			r.Took = &took
		}
		all = append(all, r)
	}
	return all
}

// haltingRequests makes ten requests a second for thirty, of which four are slow in each of these seconds.
func haltingRequests(seconds ...int) []request {
	var all []request
	for i := range 300 {
		took := 0.05
		if i%10 < 4 && slices.Contains(seconds, i/10) {
			took = 0.5
		}
		all = append(all, request{N: i, Kind: "search", Began: unix(start) + float64(i)/10, Took: &took})
	}
	return all
}

func TestSymptoms(t *testing.T) {
	by := map[string]Baseline{"search": {P50: 0.02, P95: 0.1, N: 60}}
	for _, c := range []struct {
		name string
		sent []request
		want string // the ways
		at   float64
	}{
		{"well", makeRequests("search", "", 0, 30, 0.1), "", 0},
		{"all fail", makeRequests("search", "failed", 0, 30, 0.01), "failed", 0},
		{
			"a second of failures",
			slices.Concat(makeRequests("search", "failed", 3, 1, 0.01), makeRequests("search", "", 4, 26, 0.05)), "", 0,
		},
		{"slow", makeRequests("search", "", 0, 30, 0.5), "slow", 0.3},
		{"twice as slow", makeRequests("search", "", 0, 30, 0.2), "", 0},
		{
			"one that hangs", append(makeRequests("search", "", 0, 5, 0.05), makeRequests("search", "", 5, 1, -1)...),
			"hanging", 5.3,
		},
		{"one that has taken long for four seconds", makeRequests("search", "", 26, 1, -1), "", 0},
		{"hung until its time was over", makeRequests("search", "hanging", 0, 2, 15), "hanging", 0.3},
		{"failed after it had hung", makeRequests("search", "failed", 0, 4, 7), "failed+hanging", 0.3},
		{"two moments at which a machine stands still", haltingRequests(3, 12, 13), "", 0},
		{
			"a machine that stands still again and again",
			haltingRequests(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29), "slow", 1.3,
		},
		{
			"bad before the injection",
			slices.Concat(makeRequests("search", "failed", -20, 19, 0.01), makeRequests("search", "", 0, 30, 0.05)), "",
			0,
		},
		{"of another kind", makeRequests("flush", "", 0, 30, 0.04), "", 0},
	} {
		felt := symptomsOf(c.sent, by, start, start.Add(30*time.Second))
		switch {
		case c.want == "" && len(felt) > 0:
			t.Errorf("%s: felt %+v", c.name, felt)
		case c.want != "" && (len(felt) != 1 || strings.Join(felt[0].Failures, "+") != c.want || felt[0].Since != c.at):
			t.Errorf("%s: felt %+v, want %s after %g s", c.name, felt, c.want, c.at)
		}
	}
}

func TestBaseline(t *testing.T) {
	all := slices.Concat(makeRequests("search", "", 0, 19, 0.1), makeRequests("search", "", 19, 1, 0.5),
		makeRequests("search", "failed", 20, 1, 0), makeRequests("flush", "", 25, 1, -1))
	by, bad := baseline(all, start, start.Add(30*time.Second))
	if want := (Baseline{P50: 0.1, P95: 0.1, N: 20}); bad != 1 || len(by) != 1 || by["search"] != want {
		t.Errorf("%v and %d bad, want %v and 1", by, bad, want)
	}
}

func TestIsHealthy(t *testing.T) {
	by, all := map[string]Baseline{}, []request{}
	for _, kind := range kinds {
		by[kind] = Baseline{P50: 0.02, P95: 0.1, N: 60}
		all = append(all, makeRequests(kind, "", 0, 30, 0.05)...)
	}
	now := start.Add(30 * time.Second)
	for _, c := range []struct {
		name string
		all  []request
		by   map[string]Baseline
		want bool
	}{
		{"as in the past", all, by, true},
		{"no past", all, nil, false},
		{"the client has just begun", all[25:30], by, false},
		{"a failure", slices.Concat(all, makeRequests("load", "failed", 28, 1, 0.05)), by, false},
		{"slower than in the past", slices.Concat(all, makeRequests("load", "", 18, 10, 0.5)), by, false},
		{"a kind that does not end", all[30:], by, false},
	} {
		if got := isHealthy(c.all, c.by, now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func finding(severity, text, cause string) lab.Finding {
	f := lab.Finding{Check: text, Severity: severity, Message: text}
	if cause != "" {
		f.Cause = &lab.Cause{Check: cause}
	}
	return f
}

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		name     string
		findings []lab.Finding
		want     int
	}{
		{"first", []lab.Finding{finding("error", "querynode-5 hangs", "")}, 1},
		{"second", []lab.Finding{finding("error", "all is lost", ""), finding("warning", "querynode-5 hangs", "")}, 2},
		{
			"what follows from another does not count",
			[]lab.Finding{
				finding("error", "all is lost", ""), finding("error", "no leader", "lost"),
				finding("error", "querynode-5", ""),
			},
			2,
		},
		{"neither does what is not loud", []lab.Finding{finding("info", "querynode-5 hangs", "")}, 0},
		{"another process", []lab.Finding{finding("error", "querynode-51 hangs", "")}, 0},
		{
			"an info that explains a warning",
			[]lab.Finding{
				finding("info", "a search of querynode-5", ""),
				finding("warning", "searches are slow", "a search of querynode-5"),
			},
			1,
		},
		{
			"an info beside a warning",
			[]lab.Finding{finding("info", "a search of querynode-5", ""), finding("warning", "searches are slow", "")},
			0,
		},
		{"none", nil, 0},
	} {
		if got := place(&lab.Diagnosis{Findings: c.findings}, []string{"querynode-5"}); got != c.want {
			t.Errorf("%s: place %d, want %d", c.name, got, c.want)
		}
	}
	all := finding("error", "all lag", "")
	all.Objects = []lab.Object{
		{Name: "querynode-5"}, {Name: "querynode-6"}, {Name: "querynode-7"}, {Name: "querynode-8"},
	}
	if got := place(&lab.Diagnosis{Findings: []lab.Finding{all}}, []string{"querynode-5"}); got != 0 {
		t.Errorf("one of many: place %d", got)
	}
	if got := place(&lab.Diagnosis{Exit: 1, Stderr: "etcd at " + lab.EtcdAddress + " is not responding"},
		componentNames["etcd"]); got != 1 {
		t.Errorf("etcd that cannot be read: place %d", got)
	}
}

func TestImpact(t *testing.T) {
	look := &lab.Diagnosis{
		Impact: []lab.Impact{
			{Request: "search", State: "fine"},
			{Request: "insert", State: "hanging"},
			{Request: "delete", State: "unknown"},
		},
	}
	got := impactOf([]Symptom{
		{Kind: "search", Failures: []string{"slow"}},
		{Kind: "insert", Failures: []string{"slow", "hanging"}},
		{Kind: "delete", Failures: []string{"refused"}},
		{Kind: "load", Failures: []string{"failed"}},
	}, look)
	want := []Impact{
		{"search", "fine", false}, {"insert", "hanging", true}, {"delete", "unknown", true}, {"load", "", false},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for mean, right := range map[float64]bool{800: false, 9000: true} { // those that hung ended after all
		look := &lab.Diagnosis{Impact: []lab.Impact{{Request: "delete", State: "slow", Mean: mean}}}
		if got := impactOf([]Symptom{{Kind: "delete", Failures: []string{"hanging"}}}, look); got[0].Right != right {
			t.Errorf("slow by %g ms: %v", mean, got)
		}
	}
}

func TestFirstAlert(t *testing.T) {
	at := func(f lab.Finding, second int) lab.Finding {
		f.At = start.Add(time.Duration(second) * time.Second).Format(time.RFC3339Nano)
		return f
	}
	events := []lab.Finding{
		at(finding("info", "kafka", ""), 1), at(finding("error", "proxy-1", ""), 3),
		at(finding("warning", "kafka", ""), 7),
	}
	if named, loudest := firstAlert(events, []string{"kafka"}, unix(start)),
		firstAlert(events, nil, unix(start)); named != 7 || loudest != 3 {
		t.Errorf("named after %g s, any after %g s", named, loudest)
	}
}

// TestDocumentMatchesRecord holds the score in the document against the rounds that were played.
func TestDocumentMatchesRecord(t *testing.T) {
	results, err := lab.ReadResults[Result]("results.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../docs/evidence/diagnosis.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), report(results)) {
		t.Error("docs/evidence/diagnosis.md is not what results.jsonl says: go run . -report -docs " +
			"../../../docs/evidence/diagnosis.md")
	}
	for _, r := range results {
		for i, a := range round(r.Seed, r.Round) {
			if i < len(r.Actions) && r.Actions[i].Action != a.String() || i >= len(r.Actions) && r.Broken == "" {
				t.Errorf("%d/%d is no longer what was played, %v: %s", r.Seed, r.Round, r.Actions, a)
			}
		}
	}
}

// TestPreExistingError checks that an error of a quiet round that stood before the injection is not one about something
// else.
func TestPreExistingError(t *testing.T) {
	t.Parallel()
	injected := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	event := func(seconds int, change, name string) lab.Finding {
		return lab.Finding{
			Check: "queue-lag", Severity: "error", Change: change, Object: lab.Object{Name: name},
			At: injected.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339),
		}
	}
	events := []lab.Finding{
		event(-20, "new", "dml_1"), event(-20, "new", "dml_2"), event(-10, "gone", "dml_2"), event(5, "new", "dml_3"),
	}
	look := &lab.Diagnosis{Findings: []lab.Finding{event(9, "", "dml_1"), event(9, "", "dml_2"), event(9, "", "dml_3")}}
	result, r := Result{}, &runner{lab: &Lab{}}
	r.score(&result, look, nil, events, injected, injected)
	if len(result.Errors) != 3 || len(result.PreExisting) != 1 || result.False != 2 {
		t.Errorf("%d errors, %d of them from before, %d about something else", len(result.Errors),
			len(result.PreExisting), result.False)
	}
}

// TestRoot checks that a finding is followed to its first cause, and that a cycle of causes ends.
func TestRoot(t *testing.T) {
	t.Parallel()
	thing := func(name string) lab.Object { return lab.Object{Name: name} }
	of := func(name, cause string) lab.Finding {
		return lab.Finding{Check: "c", Object: thing(name), Cause: &lab.Cause{Check: "c", Object: thing(cause)}}
	}
	look := &lab.Diagnosis{
		Findings: []lab.Finding{
			{Check: "c", Object: thing("a")},
			of("b", "a"), of("d", "b"), of("e", "missing"), of("x", "y"),
			of("y", "x"),
		},
	}
	for i, want := range []string{"a", "a", "a", "e", "x", "y"} {
		if got := root(look, &look.Findings[i]).Object.Name; got != want {
			t.Errorf("%s follows from %s, want %s", look.Findings[i].Object.Name, got, want)
		}
	}
}
