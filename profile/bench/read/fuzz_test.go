package read

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"
	"unicode"

	"kitescope/internal/hints"
	"kitescope/profile/bench"
)

// FuzzFrom checks the guarantees of all readers: no panic, finite values in named runs, and an error without
// values. Sets that were read can be written and read again.
func FuzzFrom(f *testing.F) {
	for _, text := range []string{
		goText, hyperfineText, abText, osbText, jmhSample, annText, runsText, vmstatRun,
		"metric,before,after\nlatency (ms),5,4\n",
		`{"run_id":"x","results":[{"metrics":{"qps":1,"conc_num_list":[1],"conc_qps_list":[2]},"task_config":{"case_config":{"case_id":1}},"label":":)"}]}`,
		"\x1f\x8b", "\xff\xfea\x00", "a;b\n1,5;2\n",
	} {
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, side bool) {
		sets, err := From(context.Background(), "x", bytes.NewReader(data), Options{Side: side, MaxBytes: 1 << 20})
		if err != nil {
			if len(sets) > 0 {
				t.Fatal("sets and an error")
			}
			return
		}
		for _, s := range sets {
			checkSet(t, s)
			roundTrip(t, s)
		}
	})
}

// checkSet checks the invariants that users of a Set rely on.
func checkSet(t *testing.T, s *bench.Set) {
	t.Helper()
	if s.Format == "" || s.Name == "" {
		t.Fatalf("a set without a name or a format: %+v", s)
	}
	checkText(t, s.Name)
	for _, n := range s.Notes {
		checkText(t, n)
	}
	for _, r := range s.Runs {
		checkText(t, r.Name+r.Pair+r.Failed)
		seen := map[bench.Metric]bool{}
		for _, v := range r.Values {
			checkText(t, v.Benchmark+v.Name+v.Unit)
			if v.Name == "" || math.IsNaN(v.X) || math.IsInf(v.X, 0) || v.Concurrency < 0 || seen[v.Metric] {
				t.Fatalf("run %q has the value %+v", r.Name, v)
			}
			seen[v.Metric] = true
		}
	}
}

func checkText(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		if unicode.IsControl(r) {
			t.Fatalf("a control character in %q", text)
		}
	}
}

// roundTrip writes a Set as runs and reads it.
func roundTrip(t *testing.T, s *bench.Set) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteRuns(&b, s); err != nil {
		t.Fatal(err)
	}
	back, err := From(context.Background(), "x", &b, Options{})
	if err != nil {
		if _, hinted := errors.AsType[*hints.Error](err); hinted {
			return // runs without a value
		}
		t.Fatal(err)
	}
	if len(back) != 1 || len(back[0].Runs) > len(s.Runs) {
		t.Fatalf("%d runs became %d", len(s.Runs), len(back[0].Runs))
	}
}
