package log

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"kitescope/engine"
)

type parquetRow struct {
	ID         int64     `parquet:"id"`
	Embedding  []float32 `parquet:"embedding,list"`
	K          *int64    `parquet:"k,optional"`
	EF         float64   `parquet:"ef"`
	NProbe     int32     `parquet:"nprobe"`
	DropRatio  float32   `parquet:"drop_ratio_search"`
	Timestamp  time.Time `parquet:"timestamp,timestamp(microsecond)"`
	Collection *string   `parquet:"collection,optional,dict"`
	Filter     []int64   `parquet:"filter,optional,list"`
	Truth      []string  `parquet:"truth,list,zstd"`
}

func parquetFile[T any](t testing.TB, list []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, options...)
	if _, err := w.Write(list); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func parquetRows() []parquetRow {
	start := time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC)
	return []parquetRow{
		{
			ID: 1, Embedding: []float32{1, 2}, K: new(int64(5)), EF: 64, Timestamp: start.Add(time.Second), Collection: new("a"),
			Filter: []int64{7, 8}, Truth: []string{"x"},
		},
		{ID: 2, Embedding: []float32{3, 4}, NProbe: 8, DropRatio: 0.1, Timestamp: start, Collection: new("b"), Truth: []string{"y", "z"}},
		{ID: 3, Embedding: []float32{5, 6}, K: new(int64(9)), Timestamp: start.Add(3 * time.Second)},
	}
}

func TestParquetColumnsSayWhatIsAsked(t *testing.T) {
	file := parquetFile(t, parquetRows(), parquet.Compression(&parquet.Snappy))
	l := mustOpen(t, write(t, "queries", file), Options{Strict: true})
	want := []Request{
		{First: 1, NQ: 1, SearchParams: engine.SearchParams{NProbe: 8, SparseParams: engine.SparseParams{DropRatio: 0.1}}, Timed: true, Collection: "b"},
		{First: 0, NQ: 1, K: 5, SearchParams: engine.SearchParams{EF: 64}, Timed: true, At: time.Second, Collection: "a", Filter: &Filter{Keys: []engine.Key{engine.NumberKey(7), engine.NumberKey(8)}}},
		{First: 2, NQ: 1, K: 9, Timed: true, At: 3 * time.Second},
	}
	truth := [][]engine.Key{{engine.TextKey("x")}, {engine.TextKey("y"), engine.TextKey("z")}, {}}
	if diff := cmp.Diff(want, l.Requests) + cmp.Diff(truth, l.Truth); diff != "" || l.Vectors.Float32(2)[1] != 6 || !l.Start.Equal(parquetRows()[1].Timestamp) {
		t.Error(diff, l.Start)
	}
	part := mustOpen(t, write(t, "queries", file), Options{Collection: "a", Limit: 1})
	if len(part.Requests) != 1 || part.Requests[0].K != 5 || part.Requests[0].At != 0 || !part.Start.Equal(parquetRows()[0].Timestamp) {
		t.Errorf("%+v %s", part.Requests, part.Start)
	}
	for want, o := range map[string]Options{
		"no row of 3":                {Skip: 3},
		"cannot be batched into one": {Batch: 2},
		"nothing":                    {Column: "nothing"},
	} {
		if _, err := Open(context.Background(), write(t, "q", file), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestParquetOfVectorsAlone(t *testing.T) {
	type row struct {
		Emb []float32 `parquet:"emb,list"`
	}
	l := mustOpen(t, write(t, "q.parquet", parquetFile(t, []row{{[]float32{1}}, {[]float32{2}}, {[]float32{3}}})), Options{Batch: 2})
	if diff := cmp.Diff([]Request{{NQ: 2}, {First: 2, NQ: 1}}, l.Requests); diff != "" {
		t.Error(diff)
	}
}

func TestParquetColumnsThatAreWrong(t *testing.T) {
	type words struct {
		Vector []float32 `parquet:"vector,list"`
		K      string    `parquet:"k"`
	}
	type negative struct {
		Vector []float32 `parquet:"vector,list"`
		EF     int32     `parquet:"ef"`
	}
	type half struct {
		Vector []float32 `parquet:"vector,list"`
		At     float64   `parquet:"at"`
	}
	for want, file := range map[string][]byte{
		"column k: row 0: expected a whole number":               parquetFile(t, []words{{[]float32{1}, "x"}}),
		"column ef: row 1: expected a whole number of 0 or more": parquetFile(t, []negative{{[]float32{1}, 3}, {[]float32{1}, -3}}),
		"column at: row 0: expected seconds of 0 or more":        parquetFile(t, []half{{[]float32{1}, -0.5}}),
	} {
		if _, err := Open(context.Background(), write(t, "q", file), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func FuzzParquet(f *testing.F) {
	f.Add(parquetFile(f, parquetRows()))
	f.Add(parquetFile(f, parquetRows(), parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(1)))
	f.Add(parquetFile(f, parquetRows(), parquet.Compression(&parquet.Gzip)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if sniff(data) != kindParquet {
			return
		}
		l, err := Open(context.Background(), write(t, "q.parquet", data), Options{})
		if err != nil {
			return
		}
		defer l.Close()
		var out bytes.Buffer
		if err := Write(&out, l); err != nil {
			t.Error(err)
		}
	})
}

// TestParquetFilterOfText reads a column of texts as expressions: keys come as lists.
func TestParquetFilterOfText(t *testing.T) {
	type row struct {
		Vector []float32 `parquet:"vector,list"`
		Filter *string   `parquet:"filter,optional"`
	}
	file := parquetFile(t, []row{{[]float32{1}, new("a > 1")}, {[]float32{2}, nil}, {[]float32{3}, new("")}})
	l := mustOpen(t, write(t, "queries", file), Options{Strict: true})
	want := []Request{{NQ: 1, Filter: &Filter{Expr: "a > 1"}}, {First: 1, NQ: 1}, {First: 2, NQ: 1}}
	if diff := cmp.Diff(want, l.Requests); diff != "" {
		t.Error(diff)
	}
}
