package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kitescope/tools/e2e/lab"
)

func item(collection, request, phase, parent string, mean float64) Item {
	return Item{Collection: collection, Request: request, Phase: phase, Parent: parent, MeanMS: &mean}
}

// TestAdd checks the sum of the phases.
func TestAdd(t *testing.T) {
	node := item("docs", "search", "kernel_sealed", "wait_for_nodes", 900)
	node.Node = "querynode-7"
	unknown := item("docs", "search", "metadata_cache", "total", 0)
	unknown.MeanMS = nil
	items := []Item{
		item("docs", "search", "total", "", 100),
		item("docs", "search", "proxy_queue", "total", 10),
		item("docs", "search", "wait_for_nodes", "total", 70),
		item("docs", "search", "consistency_wait", "wait_for_nodes", 50),
		item("docs", "search", "unexplained", "wait_for_nodes", 20),
		item("docs", "search", "unexplained", "total", 20),
		unknown, node,
		item("docs", "query", "total", "", 7),
		item("docs2", "search", "total", "", 5),
	}
	s, ok := add(items, "docs", "search", 125)
	if !ok || s.SumMS != 100 || s.Unexplained != 40 || s.Largest != "consistency_wait" || s.LargestMS != 50 {
		t.Errorf("%+v %v, want the leaves of one collection and request: 100 ms, 40 unexplained, consistency_wait 50",
			s, ok)
	}
	if s.RelativeError() != 0.2 || s.Share() != 0.32 {
		t.Errorf("off %v, unexplained %v of the client's mean, want 0.2 and 0.32", s.RelativeError(), s.Share())
	}
	if s, ok := add(items, "docs", "query", 7); !ok || s.SumMS != 7 {
		t.Errorf("a request without parts: %+v %v, want its total", s, ok)
	}
	if s, ok := add(items, "docs", "insert", 7); ok {
		t.Errorf("of a request that is not told: %+v", s)
	}
	if s, ok := add([]Item{item("", "search", "total", "", 3)}, "docs", "search", 3); !ok || s.SumMS != 3 {
		t.Errorf("of all collections together: %+v %v", s, ok)
	}
}

// TestMissed checks when a verdict is the expected one.
func TestMissed(t *testing.T) {
	names := map[string][]string{"querynode2": {"querynode-12", "127.0.0.1:20170"}}
	slow := Want{Words: [][]string{{"@querynode2"}}}
	wait := Want{Phases: []string{"consistency_wait"}}
	for _, test := range []struct {
		name string
		want Want
		said *Verdict
		miss string
	}{
		{"the phase", wait, &Verdict{Phase: "consistency_wait"}, ""},
		{"another phase", wait, &Verdict{Phase: "kernel_sealed"}, "names phase kernel_sealed"},
		{"no phase", wait, &Verdict{}, "names phase (none)"},
		{"nothing", wait, nil, "no output"},
		{"the node by its session", slow, &Verdict{Verdict: "QueryNode-12 is slower than its peers"}, ""},
		{"the node in the hint", slow, &Verdict{Hint: "look at 127.0.0.1:20170"}, ""},
		{
			"a node whose name begins like it", slow, &Verdict{Verdict: "querynode-123 is slower"},
			"none of querynode-12",
		},
		{"another node", slow, &Verdict{Verdict: "querynode-11 is slower"}, "none of querynode-12"},
		{
			"a phase that it must not be",
			Want{Never: []string{"decode"}},
			&Verdict{Phase: "decode"},
			"names phase decode",
		},
		{
			"well, a verdict without finding",
			Want{Nothing: true},
			&Verdict{Phase: "kernel_sealed", Verdict: "12 of 20 ms"}, "",
		},
		{
			"well, a finding that the verdict does not tell",
			Want{Nothing: true},
			&Verdict{Finding: "slow-worker", Message: "it is slow", Verdict: "12 of 20 ms"}, "",
		},
		{"well, a finding", Want{Nothing: true}, &Verdict{Finding: "slow-worker"}, "finding slow-worker"},
		{"well, nothing", Want{Nothing: true}, nil, ""},
	} {
		got := test.want.missed(test.said, names)
		if test.miss == "" && got != "" || !strings.Contains(got, test.miss) {
			t.Errorf("%s: %q, want %q", test.name, got, test.miss)
		}
	}
}

// TestVerdictOn checks which item a verdict belongs to.
func TestVerdictOn(t *testing.T) {
	said := []Verdict{
		{Collection: "pics"},
		{Collection: "docs", Request: "insert"},
		{Collection: "default/docs", Verdict: "a"},
		{Collection: "docs", Verdict: "b"},
	}
	if v := verdictOn(said, "docs", "search"); v == nil || v.Verdict != "a" {
		t.Errorf("%+v, want the first of the collection", v)
	}
	told := []Verdict{
		{Collection: "a", Phase: "unexplained", Verdict: "b is slow; without that 3 ms"},
		{
			Collection: "a", Phase: "proxy_rest", Finding: "x", Message: "b is slow",
			Verdict: "b is slow; without that 3 ms",
		},
	}
	if v := verdictOn(told, "a", "search"); v == nil || v.Phase != "proxy_rest" {
		t.Errorf("%+v, want the item whose message the verdict is", v)
	}
	if v := verdictOn(said, "grow", "search"); v != nil {
		t.Errorf("%+v of a collection of which nothing is said", v)
	}
}

// TestGain checks the errors of predicted gains.
func TestGain(t *testing.T) {
	low, high := 80.0, 120.0
	for measured, want := range map[float64]float64{100: 0, 80: 0, 160: 0.25, 40: 1} {
		if off, ok := gainOff(&low, &high, measured); !ok || math.Abs(off-want) > 1e-9 {
			t.Errorf("gain of %v against 80 to 120: %v %v, want %v", measured, off, ok, want)
		}
	}
	if off, ok := middleOff(&low, &high, 80, 500); !ok || off != 0.25 {
		t.Errorf("the middle of 80 to 120 against 80: %v %v, want 0.25", off, ok)
	}
	for _, test := range []struct {
		low, high *float64
	}{{nil, &high}, {&low, nil}} {
		if _, ok := middleOff(test.low, test.high, 1, 500); ok {
			t.Errorf("%+v can be told apart", test)
		}
		if _, ok := gainOff(test.low, test.high, 1); ok {
			t.Errorf("%+v can be told apart", test)
		}
	}
	nothing := 2.0
	for measured, want := range map[float64]float64{-5: 0, 20: 0, 30: 29.0 / 30} {
		if off, ok := middleOff(new(float64), &nothing, measured, 500); !ok || off != want {
			t.Errorf("next to nothing said, of 500 ms, and %v given: %v %v, want %v", measured, off, ok, want)
		}
	}
	for _, measured := range []float64{0, -5} {
		outside, told := gainOff(&low, &high, measured)
		off, ok := middleOff(&low, &high, measured, 500)
		if !told || !ok || !math.IsInf(outside, 1) || !math.IsInf(off, 1) {
			t.Errorf("a cure that gave %v: %v %v, want it to be as far off as can be", measured, outside, off)
		}
	}
}

// TestMeasure checks that requests which ended in the window are counted.
func TestMeasure(t *testing.T) {
	at := time.Unix(1000, 0)
	s := &lab.Stream{Request: "search", Collection: "docs"}
	all := []lab.Sample{
		{Began: 999.9, Took: 0.05},              // ended before
		{Began: 999.9, Took: 0.2},               // ended inside
		{Began: 1005, Took: 0.1},                //
		{Began: 1006, Took: 0.3},                //
		{Began: 1009.9, Took: 0.2},              // ended after
		{Began: 1005, Took: 5, Error: "late"},   // failed inside
		{Stream: 1, Began: 1005, Took: 0.00001}, // of another stream
	}
	m := measure(0, s, all, at, at.Add(10*time.Second))
	if m.Count != 3 || m.Errors != 1 || m.Error != "late" || math.Abs(m.MeanMS-200) > 1e-6 ||
		math.Abs(m.PerSecond-0.3) > 1e-9 || m.P50MS != 200 || m.P99MS != 300 {
		t.Errorf("%+v, want the three that ended in the window: 200 ms", m)
	}
	if m := measure(2, s, all, at, at.Add(10*time.Second)); m.Count != 0 || m.MeanMS != 0 {
		t.Errorf("%+v of a stream that sent nothing", m)
	}
}

// Markers of the table in the document.
const begin, end = "<!-- generated latency: begin (written by make e2e-latency) -->", "<!-- generated latency: end -->"

// TestDocument checks that the document holds the results of the recorded run.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "evidence", "latency.md"))
	if err != nil {
		t.Fatal(err)
	}
	results, err := lab.ReadResults[Result]("results.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), begin+"\n"+report(results, situations())+end) {
		t.Error("docs/evidence/latency.md is not of results.jsonl: make e2e-latency LATENCYFLAGS=-report")
	}
}
