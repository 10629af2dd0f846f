package log

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
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
			ID: 1, Embedding: []float32{1, 2}, K: new(int64(5)), EF: 64, Timestamp: start.Add(time.Second),
			Collection: new("a"),
			Filter:     []int64{7, 8}, Truth: []string{"x"},
		},
		{
			ID: 2, Embedding: []float32{3, 4}, NProbe: 8, DropRatio: 0.1, Timestamp: start, Collection: new("b"),
			Truth: []string{"y", "z"},
		},
		{ID: 3, Embedding: []float32{5, 6}, K: new(int64(9)), Timestamp: start.Add(3 * time.Second)},
	}
}

// TestParquetColumns checks that the vector column is found by its name.
func TestParquetColumns(t *testing.T) {
	l := mustOpen(t, write(t, "queries", parquetFile(t, parquetRows(), parquet.Compression(&parquet.Snappy))),
		Options{Strict: true})
	if len(l.Requests) != 3 || l.Requests[0].K != 0 || l.Vectors.Float32(2)[1] != 6 {
		t.Errorf("%+v %q", l.Requests, l.Notes)
	}
}

func TestParquetVectorsOnly(t *testing.T) {
	type row struct {
		Emb []float32 `parquet:"emb,list"`
	}
	l := mustOpen(t, write(t, "q.parquet", parquetFile(t, []row{{[]float32{1}}, {[]float32{2}}, {[]float32{3}}})),
		Options{Batch: 2})
	if diff := cmp.Diff([]Request{{NQ: 2}, {First: 2, NQ: 1}}, l.Requests); diff != "" {
		t.Error(diff)
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
