package live_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// FuzzDecode checks that no response to any call causes a panic, that each becomes a call, and that a stored
// record is stable.
func FuzzDecode(f *testing.F) {
	seen := map[string]int{}
	for _, r := range append(plant(f), t7Records(f)...) {
		if seen[r.Method]++; seen[r.Method] <= 3 && len(r.Response) < 20_000 {
			f.Add(r.Method, r.Role, r.Outcome, r.Error, r.Request, r.Response)
		}
	}
	f.Add(inQueryNode+"GetDataDistribution", "querynode", "answered", "", []byte{},
		[]byte("\x0a\x00\x10\x05\x4a\x02\x10\x01"))
	f.Fuzz(func(t *testing.T, method, role, outcome, failure string, request, response []byte) {
		r := live.Record{
			Role: role, Node: 5, Address: "10.0.0.5:1", Method: method, Request: request, Response: response,
			Outcome: outcome, Error: failure,
		}
		runtime := decode(r)
		for _, n := range runtime.Nodes {
			if n.Outcome == model.Answered && len(n.Calls) == 0 {
				t.Errorf("%s answered without a call", n.Name())
			}
		}
		kept := live.Redact(r)
		decode(kept)
		if diff := cmp.Diff(kept, live.Redact(kept)); diff != "" {
			t.Errorf("redacted twice (-once +twice):\n%s", diff)
		}
	})
}

// FuzzReadRecords checks that no file causes a panic, and that its records can be written and read again.
func FuzzReadRecords(f *testing.F) {
	var whole bytes.Buffer
	// The seeds are small, because minimizing a large finding takes long.
	for _, r := range []live.Record{
		{
			Role: "proxy", Node: 3, Address: "a:1", Method: "/x/y", Response: []byte{8, 1}, At: time.Unix(5, 7).UTC(),
			Took: 3,
		},
		{Method: "message queue", Outcome: "not asked", Error: "why"},
	} {
		if err := live.WriteRecord(&whole, r); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(whole.Bytes())
	f.Add(whole.Bytes()[:whole.Len()/2])
	f.Add([]byte("{\"method\":\"x\"}\n\n{}\n"))
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xaa\xe5\x02\x04\x00\x00\xff\xff"))
	f.Add([]byte("\x28\xb5\x2f\xfd\x04\x00\x09\x00\x00{}\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		var first []live.Record
		var again bytes.Buffer
		_ = live.ReadRecords(bytes.NewReader(file), func(r live.Record) error {
			first = append(first, r)
			if len(first) > 100 {
				return io.EOF
			}
			return live.WriteRecord(&again, r)
		})
		if len(first) > 100 {
			return
		}
		var second []live.Record
		if err := live.ReadRecords(&again, func(r live.Record) error { second = append(second, r); return nil }); err !=
			nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		same := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })
		none := cmp.Comparer(bytes.Equal) // JSON does not distinguish empty and nil byte slices
		if diff := cmp.Diff(first, second, same, none); diff != "" {
			t.Errorf("read again (-first +second):\n%s", diff)
		}
	})
}

// FuzzParseMetrics checks that no text causes a panic or invalid values, and that the output of Redact holds no
// more than the text.
func FuzzParseMetrics(f *testing.F) {
	for _, r := range append(plant(f), t7Records(f)...) {
		if r.Method == "GET /metrics" && len(r.Response) < 20_000 {
			f.Add(r.Response)
		}
	}
	f.Add([]byte("# TYPE a summary\na{quantile=\"x\"} 1\n"))
	f.Add([]byte("{\"quoted\",x=\"1\"} NaN 5\n# TYPE b histogram\nb_bucket{le=\"1\"} 1\nb_sum 2"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := live.ParseMetrics(bytes.NewReader(text), time.Time{})
		if m == nil {
			t.Fatal("nothing was returned")
		}
		for name, f := range m.Families {
			if len(f.Series) == 0 || f.Name != name {
				t.Errorf("%s has no series: %+v", name, f)
			}
			for i := range f.Series {
				wantSound(t, f, &f.Series[i])
			}
		}
		kept := live.Redact(live.Record{
			Role: "proxy", Node: 1, Method: "GET /metrics", Outcome: "answered", Response: text,
		})
		after, errAfter := live.ParseMetrics(bytes.NewReader(kept.Response), time.Time{})
		if err == nil && errAfter != nil && len(after.Families) > 0 {
			t.Errorf("redacted metrics cannot be read: %v", errAfter)
		}
		if err == nil && len(after.Families) > len(m.Families) {
			t.Errorf("%d families before, %d after redaction", len(m.Families), len(after.Families))
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("an error of reading, of text in memory: %v", err)
		}
	})
}

// wantSound checks the invariants of a series of its type.
func wantSound(t *testing.T, f *model.Family, s *model.Series) {
	t.Helper()
	number := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	switch {
	case f.Kind < model.MetricHistogram:
		if !number(s.Value) || s.Count != 0 || s.Buckets != nil || s.Quantiles != nil {
			t.Errorf("%s: %+v", f.Name, s)
		}
	case math.IsInf(s.Value, 0) || s.Count < 0 || math.IsInf(s.Count, 0):
		t.Errorf("%s: %+v", f.Name, s)
	case s.Buckets != nil:
		if len(s.Buckets) != len(f.Bounds) || !slices.IsSorted(f.Bounds) || !slices.IsSorted(s.Buckets) ||
			s.Buckets[0] < 0 || s.Buckets[len(s.Buckets)-1] > s.Count {
			t.Errorf("%s: buckets %v of %v, %v in all", f.Name, s.Buckets, f.Bounds, s.Count)
		}
	}
	if !slices.IsSortedFunc(s.Labels, func(a, b model.Pair) int { return strings.Compare(a.Key, b.Key) }) {
		t.Errorf("%s: labels %v", f.Name, s.Labels)
	}
}
