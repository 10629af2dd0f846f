package log

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/internal/hints"
)

// counting returns n float32 vectors of 4 dimensions: 0 1 2 3, 4 5 6 7, ...
func counting(t testing.TB, n int) *engine.Vectors {
	t.Helper()
	values := make([]float32, 4*n)
	for i := range values {
		values[i] = float32(i)
	}
	v, err := engine.FromFloat32s(4, values)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func npy(t testing.TB, v *engine.Vectors) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := dataset.WriteNPY(&out, v); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func fvecs(t testing.TB, v *engine.Vectors) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := dataset.WriteFvecs(&out, v); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestSniff(t *testing.T) {
	v := counting(t, 3)
	bvecs := []byte{4, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 4, 5, 6, 7, 4, 0, 0, 0, 8, 9, 10, 11}
	wide, err := engine.NewVectors(dist.Float32, 123, 2) // its dimension is the byte of a brace
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"q.npy": npy(t, v), "npy.jsonl": npy(t, v), "npy.fvecs": npy(t, v), "q": npy(t, v),
		"q.fvecs": fvecs(t, v), "fvecs.parquet": fvecs(t, v), "fvecs": fvecs(t, v),
		"q.bvecs": bvecs, "bvecs.bin": bvecs,
		"q.jsonl": []byte("{\"vector\":[0,1,2,3]}\n{\"vector\":[4,5,6,7]}\n{\"vector\":[8,9,10,11]}"),
	} {
		l := mustOpen(t, write(t, name, data), Options{})
		if diff := cmp.Diff(rows(v), rows(l.Vectors)); diff != "" || len(l.Requests) != 3 || len(l.Digest) != 64 {
			t.Errorf("%s: %s %d requests %s", name, diff, len(l.Requests), l.Digest)
		}
	}
	if l := mustOpen(t, write(t, "brace", fvecs(t, wide)), Options{}); l.Vectors.Dim != 123 {
		t.Errorf("%d dimensions", l.Vectors.Dim)
	}
}

func TestOpenErrors(t *testing.T) {
	for name, test := range map[string]struct {
		data       []byte
		want, hint string
	}{
		"hdf5": {[]byte("\x89HDF\r\n\x1a\n and more"), "HDF5 is not supported; convert it to .npy files", ""},
		"access log": {
			[]byte("[2024/05/01 10:00:00.000 +00:00] [ACCESS] <u: tcp-1:2> Search"), "Milvus proxy access log",
			"replay capture",
		},
		"empty":       {nil, "the file is empty", ""},
		"text":        {[]byte("vector,k\n1,2\n"), "found something else", "one object per line"},
		"ids":         {[]byte{2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0}, "found 1 rows of whole numbers", "true neighbours"},
		"cut npy":     {npy(t, counting(t, 3))[:150], "3 rows of 4 values", ""},
		"cut parquet": {[]byte("PAR1..."), "a parquet file", ""},
		"gzip":        {[]byte("\x1f\x8b\x08 nonsense"), "", ""},
		"array":       {[]byte(`[{"vector":[1]}]`), "found something else", "one object per line"},
	} {
		path := write(t, strings.ReplaceAll(name, " ", "-")+".ivecs", test.data)
		_, err := Open(context.Background(), path, Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "read "+path+": ") ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var hint *hints.Error
		if test.hint != "" && (!errors.As(err, &hint) || !strings.Contains(hint.Hint(), test.hint)) {
			t.Errorf("%s: no hint at %q: %v", name, test.hint, err)
		}
		if strings.Contains(err.Error(), "kitescope-log-") {
			t.Errorf("%s: the error names a file that nobody knows: %v", name, err)
		}
	}
	folder := t.TempDir()
	for path, want := range map[string]string{folder: "found a folder", filepath.Join(folder, "none"): "no such file"} {
		if _, err := Open(context.Background(), path, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
}

func TestVectorFiles(t *testing.T) {
	bad := counting(t, 11)
	bad.Float32(4)[1] = float32(math.NaN())
	bad.Float32(9)[0] = float32(math.Inf(-1))
	path := write(t, "q.npy", npy(t, bad))
	spans := func(l *Log) (out [][2]int) {
		for _, r := range l.Requests {
			out = append(out, [2]int{r.First, r.NQ})
		}
		return out
	}
	for name, test := range map[string]struct {
		o    Options
		want [][2]int
		note string
	}{
		"one each": {
			Options{},
			[][2]int{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {5, 1}, {6, 1}, {7, 1}, {8, 1}, {10, 1}},
			"skipped: 2 (vector 4; vector 9)",
		},
		"batches":           {Options{Batch: 3}, [][2]int{{0, 3}, {3, 1}, {5, 3}, {8, 1}, {10, 1}}, "skipped: 2"},
		"a part":            {Options{Skip: 3, Limit: 3}, [][2]int{{0, 1}, {2, 1}}, "skipped: 1 (vector 4)"},
		"a part in batches": {Options{Skip: 5, Limit: 2, Batch: 2}, [][2]int{{0, 2}, {2, 2}}, ""},
		"more than all":     {Options{Skip: 10, Limit: 2, Batch: 2}, [][2]int{{0, 1}}, ""},
	} {
		l := mustOpen(t, path, test.o)
		if diff := cmp.Diff(test.want, spans(l)); diff != "" ||
			!strings.Contains(strings.Join(l.Notes, "\n"), test.note) {
			t.Errorf("%s: %s %q", name, diff, l.Notes)
		}
	}
	for want, o := range map[string]Options{
		"vector 4: a value is not a finite number":           {Strict: true},
		"expected vectors of 8 dimensions, found 4":          {Dim: 8},
		"11 vectors to skip, but only 11 in the file":        {Skip: 11},
		"no vector of 1 can be searched for":                 {Skip: 9, Limit: 1},
		"vector 0: expected a whole number from -128 to 127": {Element: new(dist.Int8), Skip: 4, Limit: 1},
		"expected vectors of bit, found float32":             {Element: new(dist.Bit)},
	} {
		if _, err := Open(context.Background(), path, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	for _, e := range []dist.Element{dist.Float16, dist.BFloat16, dist.Int8} {
		l := mustOpen(t, write(t, "q.npy", npy(t, counting(t, 3))), Options{Element: &e})
		if l.Vectors.Element != e || value(l.Vectors.Row(2), e, 3) != 11 || len(l.Requests) != 3 {
			t.Errorf("%s: %v", e, l.Vectors)
		}
	}
	half := mustOpen(t, path, Options{Element: new(dist.Float16)})
	if len(half.Requests) != 9 {
		t.Errorf("what is no number in float32 is none in float16: %d requests", len(half.Requests))
	}
}

func TestTruthFrom(t *testing.T) {
	l := mustOpen(t, write(t, "q.fvecs", fvecs(t, counting(t, 5))), Options{Skip: 1, Limit: 2})
	ids := make([]byte, 0, 60)
	matrix := make([][]int64, 5)
	for i := range 5 {
		ids = binary.LittleEndian.AppendUint32(ids, 2)
		for j := range 2 {
			ids = binary.LittleEndian.AppendUint32(ids, uint32(10*i+j))
			matrix[i] = append(matrix[i], int64(10*i+j))
		}
	}
	var asNPY bytes.Buffer
	if err := dataset.WriteIDs(&asNPY, matrix); err != nil {
		t.Fatal(err)
	}
	want := [][]engine.Key{{engine.NumberKey(10), engine.NumberKey(11)}, {engine.NumberKey(20), engine.NumberKey(21)}}
	for name, data := range map[string][]byte{
		"gt.ivecs": ids, "gt": ids, "gt.npy": asNPY.Bytes(), "gt.x": asNPY.Bytes(),
	} {
		got, err := l.TruthFrom(context.Background(), write(t, name, data))
		if err != nil {
			t.Fatal(name, err)
		}
		if diff := cmp.Diff(want, got.Truth); diff != "" || l.Truth != nil {
			t.Error(name, diff)
		}
	}
	for want, data := range map[string][]byte{
		"expected the truth of 2 vectors, found 1": ids[:12],
		"expected rows of ids, found vectors":      npy(t, counting(t, 5)),
	} {
		if _, err := l.TruthFrom(context.Background(), write(t, "gt.ivecs", data)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestShuffle(t *testing.T) {
	l := &Log{Vectors: counting(t, 4), Digest: "d"}
	for i := range 4 {
		l.Requests = append(l.Requests, Request{First: i, NQ: 1, At: time.Duration(i) * time.Second, Timed: true})
	}
	order := func(l *Log) (out []int) {
		for i, r := range l.Requests {
			out = append(out, r.First)
			if r.At != time.Duration(i)*time.Second {
				t.Errorf("request %d comes at %s", i, r.At)
			}
		}
		return out
	}
	a, b, c := order(l.Shuffle(5)), order(l.Shuffle(5)), order(l.Shuffle(6))
	if !slices.Equal(a, b) || slices.Equal(a, c) || !slices.Equal(order(l), []int{0, 1, 2, 3}) {
		t.Error(a, b, c)
	}
	if slices.Sort(a); !slices.Equal(a, order(l)) {
		t.Errorf("not everything is asked once: %v", a)
	}
}

func TestWriteNPY(t *testing.T) {
	l := &Log{Vectors: counting(t, 5), Requests: []Request{{First: 3, NQ: 2}, {First: 0, NQ: 1}}}
	var out bytes.Buffer
	if err := WriteNPY(&out, l); err != nil {
		t.Fatal(err)
	}
	got := mustOpen(t, write(t, "x", out.Bytes()), Options{})
	if diff := cmp.Diff([][]byte{l.Vectors.Row(3), l.Vectors.Row(4), l.Vectors.Row(0)}, rows(got.Vectors)); diff != "" {
		t.Error(diff)
	}
	for _, first := range []int{1, -1} {
		if err := Write(&out, &Log{Vectors: counting(t, 1), Requests: []Request{{First: first, NQ: 1}}}); err == nil {
			t.Errorf("vector %d of one was written", first)
		}
	}
}

func TestFloat16Rounding(t *testing.T) {
	for h := range 1 << 16 {
		x := dist.WidenFloat16(uint16(h))
		if got := dist.NarrowFloat16(x); got != uint16(h) && x == x {
			t.Fatalf("%#x became %g and %#x", h, x, got)
		}
	}
	for x, want := range map[float32]uint16{
		1 + 1.0/2048: 0x3c00, 1 + 3.0/2048: 0x3c02, 65519: 0x7bff, 65520: 0x7c00, -1e30: 0xfc00,
		1.0 / (1 << 25): 0, 1.5 / (1 << 25): 1, -1.0 / (1 << 24): 0x8001, 0.00006102: 0x0400,
	} {
		if got := dist.NarrowFloat16(x); got != want {
			t.Errorf("%g: expected %#x, found %#x", x, want, got)
		}
	}
	var row [2]byte
	for x, want := range map[float32]uint32{1 + 1.0/256: 0x3f80, 1 + 3.0/256: 0x3f82, math.MaxFloat32: 0x7f80} {
		setValue(row[:], dist.BFloat16, 0, x)
		if got := uint32(binary.LittleEndian.Uint16(row[:])); got != want {
			t.Errorf("%g: expected %#x, found %#x", x, want, got)
		}
	}
}
