package log

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/internal/hints"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// captureOf is CaptureFiles for a log in memory.
func captureOf(ctx context.Context, r io.Reader, o CaptureOptions) (*Log, *Shape, error) {
	c, err := newCapture(o)
	if err != nil {
		return nil, nil, err
	}
	if err := c.read(ctx, "x", r); err != nil {
		return nil, nil, err
	}
	return c.log("x")
}

func mustCapture(t testing.TB, data []byte, o CaptureOptions) (*Log, *Shape) {
	t.Helper()
	l, s, err := captureOf(context.Background(), bytes.NewReader(data), o)
	if err != nil {
		t.Fatal(err)
	}
	return l, s
}

// TestCaptureReadsTheFormatsOfMilvus reads the files in testdata, which are written by hand in the formats of
// accessformat.go, where their sources are given.
func TestCaptureReadsTheFormatsOfMilvus(t *testing.T) {
	type want struct {
		requests []Request
		start    string
		methods  map[string]int
		statuses map[string]int
		notes    []string
	}
	ms := time.Millisecond
	for name, test := range map[string]want{
		"access-2.3.0.log": {
			[]Request{
				{Timed: true, Took: 5 * ms},
				{At: 8*ms + 995*ms, Timed: true, Took: 12 * ms},
				{At: 1990 * ms, Timed: true, Took: 1015 * ms, Failed: true},
			},
			"2023-08-01T10:00:00Z",
			map[string]int{"Search": 3, "DescribeCollection": 1, "Connect": 1},
			map[string]int{"OK": 4, "TaskFailed": 1},
			[]string{
				"skipped: 1 (x line 1)", "not searches: Connect 1, DescribeCollection 1",
				"no vector count for 3 searches",
			},
		},
		"access-2.3.5.log": {
			[]Request{
				{Timed: true, Took: 4_210_345, Collection: "books"},
				{At: 5_300_345, Timed: true, Took: 3_910 * time.Microsecond, Collection: "shop.books"},
				{At: 904_210_345, Timed: true, Took: 100 * ms, Failed: true, Collection: "books"}, // written last
				{At: 973_210_345, Timed: true, Took: 31 * ms, Failed: true, Collection: "books"},
			},
			"2024-05-01T02:00:00.117789655Z",
			map[string]int{"Search": 4, "Query": 1, "Insert": 1, "Connect": 1},
			map[string]int{"Successful": 5, "Failed": 1, "GrpcDeadlineExceeded": 1},
			[]string{"2 searches had a filter expression", "sorted", "not searches: Connect 1, Insert 1, Query 1"},
		},
		"access-2.6.log": {
			[]Request{
				{
					NQ: 2, K: 10, SearchParams: engine.SearchParams{EF: 64}, Timed: true, Took: 2 * ms,
					Collection: "books",
				},
				{
					At: 100 * ms, NQ: 1, K: 5, SearchParams: engine.SearchParams{NProbe: 16}, Timed: true, Took: 3 * ms,
					Collection: "books",
				},
				{
					At: 200 * ms, NQ: 3, K: 20, SearchParams: engine.SearchParams{EF: 32}, Timed: true, Took: 4 * ms,
					Collection: "books",
				},
				{
					At: 300_500 * time.Microsecond, NQ: 1, K: 3, Timed: true, Took: 1500 * time.Microsecond,
					Collection: "books",
				},
			},
			"2025-09-01T12:00:00Z",
			map[string]int{"Search": 2, "HybridSearch": 1, "/v2/vectordb/entities/search": 1, "Query": 1, "Upsert": 1},
			map[string]int{"Successful": 6},
			[]string{"1 searches had a filter expression", "1 searches are hybrid", "not searches: Query 1, Upsert 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, s := mustCapture(t, read(t, name), CaptureOptions{})
			if diff := cmp.Diff(test.requests, l.Requests); diff != "" {
				t.Error(diff)
			}
			if got := l.Start.Format(time.RFC3339Nano); got != test.start {
				t.Errorf("start %s", got)
			}
			if diff := cmp.Diff(test.methods, s.Methods) + cmp.Diff(test.statuses, s.Statuses); diff != "" {
				t.Error(diff)
			}
			for _, note := range test.notes {
				if !strings.Contains(strings.Join(l.Notes, "\n"), note) {
					t.Errorf("notes %q: expected %q", l.Notes, note)
				}
			}
			if l.Vectors != nil || l.Format != "access" || len(l.Digest) != 64 {
				t.Errorf("%+v", l)
			}
			var out bytes.Buffer
			if err := Write(&out, l); err != nil {
				t.Fatal(err)
			}
			same(t, l, mustOpen(t, write(t, "x", out.Bytes()), Options{Strict: true}))
		})
	}
}

func TestCaptureCustomFormat(t *testing.T) {
	const format = "$cluster_prefix|$time_start|$method_name|$collection_name|$nq|$some_later_field|$time_cost"
	log := "c|2024/05/01 10:00:01.000 +00:00|Search|a|4|?|1s\nc|2024/05/01 10:00:00.000 " +
		"+00:00|Search|a|Unknown|?|2s\nnonsense\n"
	l, s := mustCapture(t, []byte(log), CaptureOptions{Formats: []string{format}})
	want := []Request{
		{Timed: true, Took: 2 * time.Second, Collection: "a"},
		{At: time.Second, NQ: 4, Timed: true, Took: time.Second, Collection: "a"},
	}
	if diff := cmp.Diff(want, l.Requests); diff != "" || s.Lines != 3 {
		t.Error(diff, s.Lines)
	}
	for want, format := range map[string]string{
		"expected $method_name":     "$time_now $trace_id",
		"$time_now, $time_start or": "$method_name $time_cost",
		"nothing between $nq and":   "$time_now $method_name $nq$time_cost",
	} {
		_, _, err := captureOf(context.Background(), strings.NewReader(log), CaptureOptions{Formats: []string{format}})
		var hint *hints.Error
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &hint) {
			t.Errorf("%q: %v", format, err)
		}
	}
}

func TestCaptureRotatedFiles(t *testing.T) {
	data := read(t, "access-2.6.log")
	at := bytes.Index(data, []byte("\n[")) + 1
	folder := t.TempDir()
	var paths []string
	for i, part := range [][]byte{compressed(t, "gzip", data[at:]), compressed(t, "zstd", data[:at])} { // later first
		path := filepath.Join(folder, strconv.Itoa(i))
		if err := os.WriteFile(path, part, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	whole, _ := mustCapture(t, data, CaptureOptions{})
	l, s, err := CaptureFiles(context.Background(), paths, CaptureOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole.Requests, l.Requests); diff != "" || !l.Start.Equal(whole.Start) ||
		l.Name != paths[0]+", "+paths[1] || s.Searches != 4 {
		t.Error(diff, l.Name)
	}
}

func TestCaptureOptions(t *testing.T) {
	data := read(t, "access-2.3.5.log")
	for want, o := range map[int]CaptureOptions{
		3: {Collection: "books"},
		1: {Collection: "shop.books"},
		2: {Limit: 2},
	} {
		if l, _ := mustCapture(t, data, o); len(l.Requests) != want ||
			!strings.Contains(strings.Join(l.Notes, "\n"), "skipped") {
			t.Errorf("%+v: %d requests, %q", o, len(l.Requests), l.Notes)
		}
	}
	for want, test := range map[string]struct {
		data string
		o    CaptureOptions
	}{
		"the file is empty":                                 {"", CaptureOptions{}},
		"no line of 2 is in an access log format":           {"a\nb\n", CaptureOptions{}},
		"x line 1: expected a line in an access log format": {"secret\n", CaptureOptions{Strict: true}},
		"no selected search in it":                          {string(data), CaptureOptions{Collection: "none"}},
		"no search in it; it has Connect 1": {
			strings.SplitAfter(string(data), "\n")[0], CaptureOptions{},
		},
	} {
		_, _, err := captureOf(context.Background(), strings.NewReader(test.data), test.o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", want, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := captureOf(ctx, bytes.NewReader(data), CaptureOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestShape(t *testing.T) {
	l := &Log{}
	for i := range 1000 {
		at := time.Duration(i) * 10 * time.Millisecond
		if i >= 500 && i < 600 {
			at = 5 * time.Second // a hundred at the same time
		}
		l.Requests = append(l.Requests, Request{
			NQ: i % 3, At: at, Timed: true, Took: time.Duration(i) * time.Millisecond, Failed: i == 999,
		})
	}
	want := &Shape{
		Searches: 1000, Timed: 1000, Span: 9990 * time.Millisecond, PerSecond: 100, Peak: 199,
		PeakAt: 4010 * time.Millisecond, Failed: 1,
		Width: time.Second, Buckets: []int{100, 100, 100, 100, 100, 100, 100, 100, 100, 100}, Queries: 999,
		UnknownNQ: 334,
		Took: Percentiles{
			Count: 998, Mean: 499500 * time.Microsecond, Min: time.Millisecond, Max: 998 * time.Millisecond,
			P50: 499 * time.Millisecond,
			P90: 899 * time.Millisecond, P95: 949 * time.Millisecond, P99: 989 * time.Millisecond,
			P999: 998 * time.Millisecond,
		},
		FailedTook: Percentiles{
			Count: 1, Mean: 999e6, Min: 999e6, Max: 999e6, P50: 999e6, P90: 999e6, P95: 999e6, P99: 999e6, P999: 999e6,
		},
	}
	if diff := cmp.Diff(want, l.Shape(), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&Shape{Searches: 1, UnknownNQ: 1}, (&Log{Requests: []Request{{}}}).Shape()); diff != "" {
		t.Error(diff)
	}
}

func TestCombine(t *testing.T) {
	shape, _ := mustCapture(t, read(t, "access-2.6.log"), CaptureOptions{})
	vectors := mustSample(t, []Source{{Vectors: randomVectors(t, dist.Float32, 8, 2)}}, SampleOptions{
		From: "c", Count: 2, Seed: 1, K: 7, SearchParams: engine.SearchParams{EF: 9},
	})
	vectors.Requests[1].Filter = &Filter{}
	l, err := Combine(shape, vectors, 3)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Combine(shape, vectors, 3)
	if same(t, l, again); l.Digest != again.Digest || l.Digest == vectors.Digest {
		t.Error("dressed again it is another")
	}
	filters := 0
	for i, r := range l.Requests {
		s := shape.Requests[i]
		if r.At != s.At || r.K != s.K || r.NQ != min(s.NQ, 2) || r.Collection != s.Collection || r.Took != s.Took ||
			r.First+r.NQ > l.Vectors.Rows {
			t.Errorf("%+v was made of %+v", r, s)
		}
		if r.Filter != nil {
			filters++
		}
	}
	if filters != 2 || !l.Start.Equal(shape.Start) ||
		!strings.Contains(strings.Join(l.Notes, "\n"), "1 request had more vectors than the 2 available") {
		t.Error(filters, l.Notes)
	}
	var out bytes.Buffer
	if err := Write(&out, l); err != nil {
		t.Error(err)
	}
	if vectors.Vectors.Rows != 2 || len(vectors.Requests) != 2 {
		t.Error("the log of the vectors changed")
	}
	if _, err := Combine(shape, shape, 1); err == nil {
		t.Error("a log without vectors has none to give")
	}
	if _, err := Combine(&Log{}, vectors, 1); err == nil {
		t.Error("a shape without requests has none")
	}
}

func FuzzCapture(f *testing.F) {
	for _, name := range []string{"access-2.3.0.log", "access-2.3.5.log", "access-2.6.log"} {
		f.Add(read(f, name))
	}
	f.Add([]byte("[2024/05/01 10:00:00.000 +00:00] [ACCESS] <> "))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, s, err := captureOf(context.Background(), bytes.NewReader(data), CaptureOptions{})
		if err != nil {
			return
		}
		if len(l.Requests) == 0 || s.Searches != len(l.Requests) || s.PerSecond < 0 {
			t.Errorf("%+v", s)
		}
		last := time.Duration(0)
		for _, r := range l.Requests {
			if r.Timed && r.At < last || r.NQ < 0 || r.Took < 0 {
				t.Errorf("%+v after %s", r, last)
			}
			last = max(last, r.At)
		}
		var out bytes.Buffer
		if err := Write(&out, l); err != nil {
			t.Error(err)
		}
	})
}

// TestCaptureLongLine checks that an endless line is not kept in memory.
func TestCaptureLongLine(t *testing.T) {
	_, _, err := captureOf(t.Context(), strings.NewReader(strings.Repeat("x", maxAccessLine+1)), CaptureOptions{})
	if err == nil || !strings.Contains(err.Error(), "line 1: the file breaks off") {
		t.Error(err)
	}
}
