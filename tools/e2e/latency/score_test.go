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
		t.Errorf("%+v %v, want the leaves of one collection and request: 100 ms, 40 unexplained, consistency_wait 50", s, ok)
	}
	if s.Off() != 0.2 || s.Share() != 0.32 {
		t.Errorf("off %v, unexplained %v of the client's mean, want 0.2 and 0.32", s.Off(), s.Share())
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
		{"another phase", wait, &Verdict{Phase: "kernel_sealed"}, "the phase kernel_sealed"},
		{"no phase", wait, &Verdict{}, "the phase of none"},
		{"nothing", wait, nil, "nothing was said"},
		{"the node by its session", slow, &Verdict{Verdict: "QueryNode-12 is slower than its peers"}, ""},
		{"the node in the hint", slow, &Verdict{Hint: "look at 127.0.0.1:20170"}, ""},
		{"a node whose name begins like it", slow, &Verdict{Verdict: "querynode-123 is slower"}, "none of querynode-12"},
		{"another node", slow, &Verdict{Verdict: "querynode-11 is slower"}, "none of querynode-12"},
		{"a phase that it must not be", Want{Never: []string{"decode"}}, &Verdict{Phase: "decode"}, "the phase decode"},
		{"well, a verdict without finding", Want{Nothing: true}, &Verdict{Phase: "kernel_sealed", Verdict: "12 of 20 ms"}, ""},
		{"well, a finding that the verdict does not tell", Want{Nothing: true}, &Verdict{Finding: "slow-worker", Message: "it is slow", Verdict: "12 of 20 ms"}, ""},
		{"well, a finding", Want{Nothing: true}, &Verdict{Finding: "slow-worker"}, "a finding, slow-worker"},
		{"well, nothing", Want{Nothing: true}, nil, ""},
	} {
		got := test.want.missed(test.said, names)
		if test.miss == "" && got != "" || !strings.Contains(got, test.miss) {
			t.Errorf("%s: %q, want %q", test.name, got, test.miss)
		}
	}
}

func TestFirst(t *testing.T) {
	said := []Verdict{{Collection: "pics"}, {Collection: "docs", Request: "insert"}, {Collection: "default/docs", Verdict: "a"}, {Collection: "docs", Verdict: "b"}}
	if v := first(said, "docs", "search"); v == nil || v.Verdict != "a" {
		t.Errorf("%+v, want the first of the collection", v)
	}
	told := []Verdict{{Collection: "a", Phase: "unexplained", Verdict: "b is slow; without that 3 ms"}, {Collection: "a", Phase: "proxy_rest", Finding: "x", Message: "b is slow", Verdict: "b is slow; without that 3 ms"}}
	if v := first(told, "a", "search"); v == nil || v.Phase != "proxy_rest" {
		t.Errorf("%+v, want the item whose message the verdict is", v)
	}
	if v := first(said, "grow", "search"); v != nil {
		t.Errorf("%+v of a collection of which nothing is said", v)
	}
}

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

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		of   []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(test.of); got != test.want {
			t.Errorf("median of %v: %v, want %v", test.of, got, test.want)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("nothing has a median")
	}
}

func TestMeasure(t *testing.T) {
	at := time.Unix(1000, 0)
	s := &lab.Stream{Request: "search", Collection: "docs"}
	all := []lab.Sample{
		{Began: 999.9, Took: 0.05},              // before
		{Began: 999.9, Took: 0.2},               // ends inside
		{Began: 1005, Took: 0.1},                //
		{Began: 1006, Took: 0.3},                //
		{Began: 1009.9, Took: 0.2},              // ends after
		{Began: 1005, Took: 5, Error: "late"},   // failed, at its end
		{Stream: 1, Began: 1005, Took: 0.00001}, // another's
	}
	m := measure(0, s, all, at, at.Add(10*time.Second))
	if m.Count != 3 || m.Errors != 1 || m.Error != "late" || math.Abs(m.MeanMS-200) > 1e-6 || math.Abs(m.PerSecond-0.3) > 1e-9 || m.P50MS != 200 || m.P99MS != 300 {
		t.Errorf("%+v, want the three that ended in the window: 200 ms", m)
	}
	if m := measure(2, s, all, at, at.Add(10*time.Second)); m.Count != 0 || m.MeanMS != 0 {
		t.Errorf("%+v of a stream that sent nothing", m)
	}
}

func TestReadSamples(t *testing.T) {
	all, err := lab.ReadSamples([]byte("{\"stream\": 1, \"began\": 2.5, \"took\": 0.1, \"error\": \"\"}\n{\"stream\": 0}\n"))
	if err != nil || len(all) != 2 || all[0] != (lab.Sample{Stream: 1, Began: 2.5, Took: 0.1}) {
		t.Errorf("%+v %v", all, err)
	}
	if _, err := lab.ReadSamples([]byte("{\"stream\": 1}\n{\"str")); err == nil {
		t.Error("half a line is no error")
	}
}

// some are results of all kinds, with one row each for what can fall short.
func some() ([]*Result, []*Situation) {
	low, high := 150.0, 190.0
	cure := Measured{MeanMS: 30, Count: 900}
	results := []*Result{
		{Name: "healthy", Load1: "3.02", Window: "12s", Nice: -10, Before: Measured{MeanMS: 20, P99MS: 44.4, Count: 800}, Sum: &Sum{SumMS: 19, Unexplained: 2, Largest: "kernel_sealed", LargestMS: 12, ClientMS: 20}, Said: &Verdict{Verdict: "docs: nothing stands out"}},
		{
			Name: "strong", Before: Measured{MeanMS: 200, P99MS: 400, Count: 100, Errors: 2, Error: "UNAVAILABLE: gone"}, After: &cure,
			Sum: &Sum{SumMS: 170, Unexplained: 60, Largest: "consistency_wait", LargestMS: 150, ClientMS: 200}, Said: &Verdict{Verdict: "docs | wait", GainLow: &low, GainHigh: &high},
		},
		{
			Name: "topk", Before: Measured{MeanMS: 500, Count: 50}, After: &Measured{MeanMS: 20}, Missed: "it names none of limit",
			Said: &Verdict{Verdict: "wide: <x>", GainLow: &low, GainHigh: &high},
		},
		{Name: "proxy", Load1: "11.8", Broken: "limit proxy: no such group"},
		{Name: "kafka", Before: Measured{MeanMS: 800, Count: 70}, Unasked: "kitescope why: unknown command"},
	}
	var chosen []*Situation
	for _, s := range situations() {
		for _, r := range results {
			if r.Name == s.Name {
				chosen = append(chosen, s)
			}
		}
	}
	return results, chosen
}

func TestReport(t *testing.T) {
	results, of := some()
	got := report(results, of)
	for _, want := range []string{
		"| phases, \"unexplained\" included, add up to the client's own mean | within 10% in each | 1 of 2, median 10% off |",
		"| unexplained | at most 20% of it in ten of twelve | 1 of 2 |",
		"| the cause is named first by `why` | 11 of 12 | 1 of 2 |",
		"| no finding first where nothing is wrong | all | 1 of 1 |",
		"| 1 of 2 that were told one, median 32% off |",
		"| 20 ms, 44 ms, 800 | 19 ms (5% off) | 10% | `kernel_sealed` 12 ms | docs: nothing stands out | - | - |",
		"| 200 ms, 400 ms, 100 | 170 ms (15% off) | 30% | `consistency_wait` 150 ms | docs / wait | Bounded: 30 ms | 170 ms, 150.0 to 190.0 ms |",
		"wide: (x) (MISSED: it names none of limit)",
		"the run went wrong: limit proxy: no such group",
		"- `strong`: 2 requests failed: UNAVAILABLE: gone",
		"- `strong`: phases add up to 170 ms, the client measured 200 ms",
		"- `strong`: 30% is unexplained",
		"- `topk`: it names none of limit",
		"- `topk`: the cure gave 480 ms, said were 150.0 to 190.0 ms (60% outside)",
		"two scrapes were 12s apart. The machine's load average over the last minute was 3 to 12 when a situation began; what else it did went after",
		"- `kafka`: not asked: kitescope why: unknown command",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
	if strings.Contains(report(results[:1], of), "strong") {
		t.Error("what was not played has a row")
	}
}

func TestResultsComeBack(t *testing.T) {
	results, of := some()
	results[3].Broken = "open /home/me/lab/run/pid: gone"
	file := filepath.Join(t.TempDir(), "results.jsonl")
	if err := lab.SaveResults(file, results, "/home/me/lab"); err != nil {
		t.Fatal(err)
	}
	again, err := lab.ReadResults[Result](file)
	if err != nil {
		t.Fatal(err)
	}
	if again[3].Broken != "open run/pid: gone" {
		t.Errorf("%q tells where the lab is", again[3].Broken)
	}
	results[3].Broken = again[3].Broken
	if report(results, of) != report(again, of) {
		t.Error("a report of what was saved is another")
	}
}

// Where the table of a document stands.
const begin, end = "<!-- generated latency: begin (written by make e2e-latency) -->", "<!-- generated latency: end -->"

func TestWriteReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "latency.md")
	put := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("# Head\n" + begin + "\nold\n" + end + "\ntail\n")
	if err := lab.WriteReport(file, "latency", "new\n"); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(file); string(got) != "# Head\n"+begin+"\nnew\n"+end+"\ntail\n" {
		t.Errorf("%q", got)
	}
	put("# Head\n" + begin + "\n")
	if err := lab.WriteReport(file, "latency", "new\n"); err == nil {
		t.Error("a document without an end was written")
	}
}

func TestSituations(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range situations() {
		if seen[s.Name] || s.Name == "" || s.What == "" || len(s.Load) == 0 {
			t.Errorf("%+v: names have to be their own, and there has to be load", s)
		}
		seen[s.Name] = true
		if s.cures() != (s.Cure != "") {
			t.Errorf("%s: cures %v, which is called %q", s.Name, s.cures(), s.Cure)
		}
		w := s.Want
		if w.Nothing == (len(w.Phases)+len(w.Words) > 0) {
			t.Errorf("%s: it wants nothing %v, and %v %v", s.Name, w.Nothing, w.Phases, w.Words)
		}
		if w.Nothing == s.cures() {
			t.Errorf("%s: what is wrong has a cure, what is well has none", s.Name)
		}
	}
	if len(seen) < 12 {
		t.Errorf("%d situations, want twelve", len(seen))
	}
}

// TestDocument: the document has what the recorded run came to.
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
