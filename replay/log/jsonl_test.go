package log

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// write creates a file in the test's folder.
func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustOpen(t testing.TB, path string, o Options) *Log {
	t.Helper()
	l, err := Open(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// rows returns the bytes of all vectors, without padding.
func rows(v *engine.Vectors) (out [][]byte) {
	if v == nil {
		return nil
	}
	for i := range v.Rows {
		out = append(out, bytes.Clone(v.Row(i)))
	}
	return out
}

// same compares two logs except for their names, digests and memory.
func same(t *testing.T, want, got *Log) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Log{}),
		cmpopts.IgnoreFields(Log{}, "Name", "Format", "Digest", "Vectors", "Notes")); diff != "" {
		t.Errorf("the log changed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(rows(want.Vectors), rows(got.Vectors)); diff != "" {
		t.Errorf("vectors changed (-want +got):\n%s", diff)
	}
}

// example returns a log with all features of the format. Its vectors are random bits that are finite numbers.
func example(t testing.TB, e dist.Element) *Log {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, uint64(e)))
	v, err := engine.NewVectors(e, 24, 9)
	if err != nil {
		t.Fatal(err)
	}
	for i := range v.Rows {
		for row := v.Row(i); ; {
			for j := range row {
				row[j] = byte(rng.Uint32())
			}
			if finite(row, e) {
				break
			}
		}
	}
	if e == dist.Float32 { // negative zero, the smallest, the largest
		copy(v.Float32(0), []float32{
			float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -math.MaxFloat32, 1e-40, 16777217,
		})
	}
	l := &Log{Vectors: v, Start: time.Date(2026, 1, 31, 23, 59, 59, 999_999_999, time.UTC), Requests: []Request{
		{First: 0, NQ: 1, K: 10, SearchParams: engine.SearchParams{EF: 64}, Timed: true, Collection: "läden \"2\"\n"},
		{
			First: 1, NQ: 3,
			SearchParams: engine.SearchParams{NProbe: 8, SparseParams: engine.SparseParams{DropRatio: 0.5}},
			Timed:        true, At: 1,
			Filter: &Filter{Keys: []engine.Key{engine.NumberKey(math.MinInt64), engine.NumberKey(5)}},
		},
		{
			First: 4, NQ: 1, K: 1, Timed: true, At: 3 * time.Hour,
			Filter: &Filter{Keys: []engine.Key{engine.TextKey("a\\b"), engine.TextKey("")}, Exclude: true},
		},
		{
			First: 5, NQ: 4, SearchParams: engine.SearchParams{EF: 3, NProbe: 2}, Timed: true, At: 3*time.Hour + 1,
			Took: 1_234_567, Failed: true, Filter: &Filter{Keys: []engine.Key{}},
		},
	}, Truth: make([][]engine.Key, 9)}
	l.Truth[0] = []engine.Key{engine.NumberKey(3), engine.NumberKey(1)}
	for i := 1; i < 9; i++ {
		l.Truth[i] = []engine.Key{engine.NumberKey(int64(i))}
	}
	l.Truth[4] = nil
	return l
}

func TestWriteOpenRoundTrip(t *testing.T) {
	for _, e := range []dist.Element{dist.Float32, dist.Float16, dist.BFloat16, dist.Int8, dist.Bit} {
		for _, packed := range []string{"", "gzip", "zstd"} {
			t.Run(e.String()+packed, func(t *testing.T) {
				want := example(t, e)
				var plain bytes.Buffer
				if err := Write(&plain, want); err != nil {
					t.Fatal(err)
				}
				data := compressed(t, packed, plain.Bytes())
				got := mustOpen(t, write(t, "a.npy", data), Options{Strict: true})
				same(t, want, got)
				sum := sha256.Sum256(data)
				if got.Digest != hex.EncodeToString(sum[:]) || got.Format != "jsonl" || len(got.Notes) != 0 {
					t.Errorf("digest %s, format %s, notes %q", got.Digest, got.Format, got.Notes)
				}
				var again bytes.Buffer
				if err := Write(&again, got); err != nil || !bytes.Equal(again.Bytes(), plain.Bytes()) {
					t.Errorf("written again it is another file: %v", err)
				}
			})
		}
	}
}

func compressed(t testing.TB, how string, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	switch how {
	case "gzip":
		z := gzip.NewWriter(&out)
		if _, err := z.Write(data); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
	case "zstd":
		z, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write(data); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
	default:
		return data
	}
	return out.Bytes()
}

func TestLines(t *testing.T) {
	first := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		lines    string
		requests []Request
		start    time.Time
		rows     [][]float32
	}{
		"as little as there can be": {`{"vector":[1]}`, []Request{{NQ: 1}}, time.Time{}, [][]float32{{1}}},
		"blanks, an empty line, no line break at the end": {
			"\ufeff \n { \"vector\" : [ 1 , -2.5e-1 ] , \"k\" : 3 }\r\n\n{\"vector\":[0,1]}",
			[]Request{{NQ: 1, K: 3}, {First: 1, NQ: 1}},
			time.Time{},
			[][]float32{{1, -0.25}, {0, 1}},
		},
		"keys with escapes": {`{"\u0076ector":[1],"k":12}`, []Request{{NQ: 1, K: 12}}, time.Time{}, [][]float32{{1}}},
		"times out of order, in three ways of writing": {
			`{"vector":[1],"timestamp":1769860802500}` + "\n" + `{"vector":[2],"timestamp":1769860800}` + "\n" +
				`{"vector":[3],"timestamp":"2026-01-31T13:00:00.25+01:00"}`,
			[]Request{
				{First: 1, NQ: 1, Timed: true},
				{First: 2, NQ: 1, Timed: true, At: time.Second / 4},
				{First: 0, NQ: 1, Timed: true, At: 2500 * time.Millisecond},
			},
			first,
			[][]float32{{1}, {2}, {3}},
		},
		"seconds since a beginning": {
			`{"vector":[1],"at_seconds":7.000000001}` + "\n" + `{"vector":[2],"at_seconds":8.1}`,
			[]Request{{NQ: 1, Timed: true}, {First: 1, NQ: 1, Timed: true, At: 1_099_999_999}},
			time.Time{},
			[][]float32{{1}, {2}},
		},
		"a filter as a list": {
			`{"vector":[1],"filter":[9223372036854775807,"x"]}`,
			[]Request{
				{NQ: 1, Filter: &Filter{Keys: []engine.Key{engine.NumberKey(math.MaxInt64), engine.TextKey("x")}}},
			},
			time.Time{},
			[][]float32{{1}},
		},
		"expressions": {
			`{"vector":[1],"filter":"a > 1 and b == \"\u4e2d\""}` + "\n" +
				`{"vector":[2],"filter_params":{"x":[1,-2.5],"s":"q"},"filter":"a in {x} or b == {s}"}` + "\n" +
				`{"vector":[3],"filter":""}`,
			[]Request{
				{NQ: 1, Filter: &Filter{Expr: `a > 1 and b == "中"`}},
				{First: 1, NQ: 1, Filter: &Filter{Expr: `a in [1, (-2.5)] or b == "q"`}},
				{First: 2, NQ: 1},
			},
			time.Time{},
			[][]float32{{1}, {2}, {3}},
		},
		"no vectors": {
			`{"nq":3,"took_ms":0.5}` + "\n" + `{"nq":0,"failed":true}`,
			[]Request{{NQ: 3, Took: 500_000}, {Failed: true}},
			time.Time{},
			nil,
		},
		"a request of several": {
			`{"vectors":[[1,2],[3,4]],"params":{"ef":5}}`,
			[]Request{{NQ: 2, SearchParams: engine.SearchParams{EF: 5}}},
			time.Time{},
			[][]float32{{1, 2}, {3, 4}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := mustOpen(t, write(t, "x", []byte(test.lines)), Options{Strict: true})
			var got [][]float32
			if l.Vectors != nil {
				for i := range l.Vectors.Rows {
					got = append(got, l.Vectors.Float32(i))
				}
			}
			if diff := cmp.Diff(test.requests, l.Requests); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.rows, got); diff != "" || !l.Start.Equal(test.start) {
				t.Error(diff, l.Start)
			}
		})
	}
}

func TestBrokenLines(t *testing.T) {
	const good = `{"vector":[1,2]}`
	for line, want := range map[string]string{
		`{"vector":[1,2]`:                    kindBroken + ": 1 (line 2: ",
		`{"vector":[1,2]} x`:                 "invalid character 'x'",
		`[1,2]`:                              "expected an object {...}",
		`{"vektor":[1,2]}`:                   "vector: expected a list of numbers, found none",
		`{"vector":[1,"a"]}`:                 "vector 0: expected a number",
		`{"vector":[1,0x10]}`:                "invalid character 'x'",
		`{"vector":"AAAA"}`:                  "expected a list of numbers",
		`{"vector":[]}`:                      "found an empty list",
		`{"vectors":[]}`:                     "vectors: expected a list of vectors",
		`{"vector":[1,2],"vectors":[[1,2]]}`: "found both",
		`{"vector":[1,2,3]}`: kindDims +
			": 1 (line 2: vector 0 has 3 dimensions, expected 2 as in line 1",
		`{"vectors":[[1,2],[1]]}`: "line 2: vector 1 has 1 dimensions, " +
			"expected 2 as in line 1",
		`{"vector":[1,NaN]}`: kindNonFinite +
			": 1 (line 2: a value is not a finite number",
		`{"vector":[1,-Infinity]}`:             kindNonFinite,
		`{"vector":[1,1e39]}`:                  kindNonFinite,
		`{"vector":[1,null]}`:                  kindNonFinite,
		`{"vector":[1,2],"k":-1}`:              "k: unexpected value",
		`{"vector":[1,2],"params":{"ef":1.5}}`: "params: ef: expected a number of 0 or more",
		`{"vector":[1,2],"params":7}`:          "params: unexpected value",
		`{"vector":[1,2],"filter":3}`: "filter: expected an expression, a list of " +
			"ids",
		`{"vector":[1,2],"filter":"a > {x}","filter_params":{"y":1}}`:    "filter, column 5: no value for {x}",
		`{"vector":[1,2],"filter":"a > {x}","filter_params":{"x":null}}`: "filter_params: x: expected a number",
		`{"vector":[1,2],"filter":"a > {x}","filter_params":[1]}`:        "filter_params: unexpected value",
		`{"vector":[1,2],"filter":"a > {x","filter_params":{}}`:          "filter, column 5: expected the name",
		`{"vector":[1,2],"filter":{"in":[1],"not_in":[2]}}`:              "filter: expected an expression",
		`{"vector":[1,2],"filter":[1.5]}`: "filter: id 0: expected a whole number or " +
			"text",
		`{"vector":[1,2],"timestamp":"soon"}`:       "timestamp: expected a time such as",
		`{"vector":[1,2],"timestamp":-1}`:           "timestamp: expected a time",
		`{"vector":[1,2],"at_seconds":-1}`:          "at_seconds: expected a number from 0",
		`{"vector":[1,2],"truth":[[1]]}`:            "truth: id 0",
		`{"vectors":[[1,2],[3,4]],"truth":[[1]]}`:   "truth: expected a list for each of 2 vectors",
		`{"vector":[1,2],"element":"float64"}`:      "element: expected float32, float16",
		`{"vector":[1,2],"element":"int8"}`:         "expected vectors of float32 as in line 1, found int8",
		`{"vector":[1,2],"took_ms":"long"}`:         "took_ms: unexpected value",
		`{"nq":1}`:                                  "the lines before have one",
		"{\"vector\":[1,2],\"collection\":\"a}":     "unexpected end of JSON input",
		`{"vector":` + strings.Repeat("[", 100_000): "exceeded max depth",
		`{"vector":[1,2],"failed":1}`:               "failed: unexpected value",
		`{"vector":[1,2 3]}`:                        "invalid character '3'",
	} {
		path := write(t, "x", []byte(good+"\n"+line+"\n"+good+"\n"))
		l := mustOpen(t, path, Options{})
		if len(l.Requests) != 2 || l.Vectors.Rows != 2 || l.Requests[1].First != 1 || l.Vectors.Float32(1)[1] != 2 {
			t.Errorf("%.60s: %d requests, %d vectors", line, len(l.Requests), l.Vectors.Rows)
		}
		if len(l.Notes) == 0 || !strings.Contains(l.Notes[0], want) {
			t.Errorf("%.60s: expected notes %q, %q", line, l.Notes, want)
		}
		_, err := Open(context.Background(), path, Options{Strict: true})
		if err == nil || !strings.HasPrefix(err.Error(), "read "+path+": line 2: ") {
			t.Errorf("%.60s: strict: %v", line, err)
		}
	}
}

func TestSkippedLineDimensions(t *testing.T) {
	l := mustOpen(t,
		write(t, "x",
			[]byte("{\"vectors\":[[1,2,3],[1]]}\n{\"vector\":[1,2],\"k\":\"x\"}\n{\"vector\":[4,5],\"truth\":[1]}\n")),
		Options{})
	if l.Vectors.Dim != 2 || len(l.Requests) != 1 || len(l.Truth) != 1 {
		t.Errorf("%d dimensions, %d requests, truth %v, notes %q", l.Vectors.Dim, len(l.Requests), l.Truth, l.Notes)
	}
}

func TestOptionsOfLines(t *testing.T) {
	var lines strings.Builder
	for i := range 10 {
		lines.WriteString(`{"vector":[` + string(rune('0'+i)) + `,7],"odd":1}` + "\n")
	}
	path := write(t, "x", []byte(lines.String()))
	half := dist.Float16
	l := mustOpen(t, path, Options{Skip: 2, Limit: 3, Element: &half, Dim: 2})
	var got []float32
	for i := range l.Vectors.Rows {
		got = append(got, value(l.Vectors.Row(i), dist.Float16, 0))
	}
	if diff := cmp.Diff([]float32{2, 3, 4}, got); diff != "" ||
		!strings.Contains(strings.Join(l.Notes, "\n"), "ignored unknown keys: odd") {
		t.Error(diff, l.Notes)
	}
	if whole := mustOpen(t, path, Options{}); whole.Digest != l.Digest {
		t.Error("the digest is that of the whole file, however much was read")
	}
	for want, o := range map[string]Options{
		"vector 0 has 2 dimensions, expected 3 as requested": {Dim: 3},
		"all 10 requests were skipped as requested":          {Skip: 20},
		"must not be negative":                               {Limit: -1},
	} {
		if _, err := Open(context.Background(), path, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestTruncatedStreams(t *testing.T) {
	l := example(t, dist.Float32)
	for range 5 {
		l.Requests = append(l.Requests, l.Requests...)
	}
	var out bytes.Buffer
	for range 40 {
		if err := Write(&out, l); err != nil {
			t.Fatal(err)
		}
	}
	for _, how := range []string{"gzip", "zstd"} {
		data := compressed(t, how, out.Bytes())
		path := write(t, "x", data[:len(data)*9/10])
		if _, err := Open(context.Background(), path, Options{Strict: true}); err == nil ||
			!strings.Contains(err.Error(), "the file breaks off") {
			t.Errorf("%s: %v", how, err)
		}
		short := mustOpen(t, path, Options{})
		if len(short.Requests) == 0 || !strings.Contains(strings.Join(short.Notes, "\n"), "the file breaks off") {
			t.Errorf("%s: %d requests, notes %q", how, len(short.Requests), short.Notes)
		}
	}
}

func TestCompressionRatioLimit(t *testing.T) {
	bomb := compressed(t, "zstd", append([]byte(`{"vector":[1],"x":"`), make([]byte, 80<<20)...))
	_, err := Open(context.Background(), write(t, "x", bomb), Options{})
	if err == nil || !strings.Contains(err.Error(), "compressed bytes became more than") {
		t.Error(err)
	}
}

func TestOpenCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, write(t, "x", []byte(`{"vector":[1]}`)), Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
