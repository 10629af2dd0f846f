package whatif

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/internal/encode/encodetest"
	"kitescope/render/rendertest"
	"kitescope/replay"
)

// roundTrip checks that a report is unchanged after it is written and read. It returns the written bytes.
func roundTrip(t *testing.T, r *Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteReport(&b, r); err != nil {
		t.Fatal(err)
	}
	got, err := ReadReport(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r, got, cmpopts.IgnoreUnexported(Overheads{}), cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	return b.Bytes()
}

func smallReport() *Report {
	p := Prediction{
		Change: Change{Name: "index\u202e\x1b[31m", Index: true}, Layout: segmentsOf(unbalancedLayout()), Recall: -1,
		Gain: 1.25,
		Cost: Cost{CPU: 1234567, Node: "querynode-1"},
		Outcome: &Outcome{
			QPS: 12.5, P99: 1001 * time.Nanosecond, Nodes: []NodeOutcome{{ID: 470590569932852667, Name: "q", Use: 0.5}},
		},
		Notes: []string{"a note"},
	}
	return &Report{
		Base: p, Others: []Prediction{p}, Load: Load{Sessions: 4, Seed: 1 << 63},
		Check: Check{FitMedian: 0, FitWorst: -1, Overheads: Overheads{Task: 5, From: "assumed"}},
		Setup: replay.Setup{Replica: 5, LogSeed: 7},
		Cover: replay.Coverage{
			Missing: []replay.Missing{{Segment: 9, State: replay.Indexed, Rows: -1}, {Segment: 10, Rows: 0}},
		},
	}
}

func TestReportJSON(t *testing.T) {
	data := roundTrip(t, smallReport())
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	if doc["apiVersion"] != "kitescope/v1" || doc["kind"] != "ReplayWhatIf" || doc["version"] != 1.0 {
		t.Errorf("head %v %v %v", doc["apiVersion"], doc["kind"], doc["version"])
	}
	text := string(data)
	for _, want := range []string{
		`"cpu_seconds": 0.001234567`, `"p99_seconds": 0.000001001`, `"id": "470590569932852667"`,
		`"seed": "9223372036854775808"`, `"state": "sealed_indexed"`, `"growing": 3`, `"index\u202e\u001b[31m"`,
		`"segment": "9"`, `"efconstruction"`,
	} {
		if !strings.Contains(strings.ReplaceAll(text, "ef_construction", "efconstruction"), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	for _, not := range []string{"null", "recall", "fit_worst", `"qps": -1`, "\u202e"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is in %s", not, text)
		}
	}
}

// TestReportKeys writes a report with a value in every field. docs/reference/json.md is checked against it.
func TestReportKeys(t *testing.T) {
	r := &Report{}
	encodetest.Fill(r, func(at any, n int) bool {
		switch at := at.(type) {
		case *replay.State:
			*at = replay.State(n % 3)
		default:
			return false
		}
		return true
	})
	var b bytes.Buffer
	if err := WriteReport(&b, r); err != nil {
		t.Fatal(err)
	}
	rendertest.Golden(t, "report.json", b.Bytes())
}

// TestReadReportRefuses covers the errors that are specific to reports. The tests of internal/encode cover the rest.
func TestReadReportRefuses(t *testing.T) {
	var b bytes.Buffer
	if err := WriteReport(&b, smallReport()); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	for name, c := range map[string][3]string{ // old text, new text, expected error
		"another kind": {
			"ReplayWhatIf", "ReplayResult", `kind "ReplayWhatIf", found "kitescope/v1" and "ReplayResult"`,
		},
		"a state":    {"sealed_indexed", "sealed", "expected a segment's state"},
		"no outcome": {`"outcome"`, `"come"`, "base.outcome is missing"},
	} {
		if _, err := ReadReport(strings.NewReader(strings.ReplaceAll(good, c[0], c[1]))); err == nil ||
			!strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v, want %q", name, err, c[2])
		}
	}
	if _, err := ReadReport(strings.NewReader(good[:len(good)/2])); err == nil {
		t.Error("half a report was read")
	}
	if _, err := ReadReport(strings.NewReader(strings.Replace(good, `"gain"`, `"later": [1, {}], "gain"`, 1))); err !=
		nil {
		t.Errorf("a key that is not known: %v", err)
	}
}

func FuzzReadReport(f *testing.F) {
	var b bytes.Buffer
	if err := WriteReport(&b, smallReport()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(
		`{"apiVersion":"kitescope/v1","kind":"ReplayWhatIf","version":1,"base":{"outcome":{}},"others":[],"load":{},"cover":{"missing":[{}]}}`,
	))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ReadReport(bytes.NewReader(data))
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := WriteReport(&once, r); err != nil {
			t.Fatal(err)
		}
		again, err := ReadReport(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatalf("%v of %s", err, once.Bytes())
		}
		if err := WriteReport(&twice, again); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("%v: %s then %s", err, once.Bytes(), twice.Bytes())
		}
	})
}
