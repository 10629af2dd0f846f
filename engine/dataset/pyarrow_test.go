package dataset

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPyarrow checks files of random codecs, page versions, encodings and shapes against the values that pyarrow
// reads; see pyarrow.py.
func TestPyarrow(t *testing.T) { checkTruth(t, "pyarrow") }

// TestOtherWriters checks files of DuckDB, Polars and fastparquet, which pad levels, indexes and values, against
// the written values; see writers.py.
func TestOtherWriters(t *testing.T) { checkTruth(t, "writers") }

// checkTruth compares the files of a folder with its truth.json.
func checkTruth(t *testing.T, folder string) {
	t.Helper()
	b, err := os.ReadFile(testdata(folder + "/truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var files []struct {
		File, Codec, Version, Shape, Encoding string
		Hex                                   string     // the rows, or
		IDs                                   [][]string // the ids, or
		Row                                   *int       // the row that is null, empty or ragged
	}
	if err := json.Unmarshal(b, &files); err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Run(strings.Join([]string{f.File, f.Shape, f.Codec, f.Version, f.Encoding}, " "), func(t *testing.T) {
			s, err := Open(t.Context(), testdata(folder+"/"+f.File+"#emb"))
			if f.Row != nil || f.Shape == "nestedlist" {
				want := "a list of lists"
				if f.Row != nil {
					want = fmt.Sprintf("row %d: expected", *f.Row)
				}
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := compareSet(s, f.Hex, f.IDs); err != nil {
				t.Error(err)
			}
		})
	}
}

// compareSet returns an error if a set differs from the expected rows or ids.
func compareSet(s *Set, rows string, ids [][]string) error {
	if s.IDs != nil {
		var got [][]string
		for _, row := range s.IDs {
			var texts []string
			for _, id := range row {
				texts = append(texts, strconv.FormatInt(id, 10))
			}
			got = append(got, texts)
		}
		if !slices.EqualFunc(got, ids, slices.Equal[[]string]) {
			return fmt.Errorf("ids %v, want %v", got, ids)
		}
		return nil
	}
	want, err := hex.DecodeString(rows)
	if err != nil || len(want) == 0 {
		return errors.New("expected ids")
	}
	var got []byte
	for i := range s.Vectors.Rows {
		got = append(got, s.Vectors.Row(i)...)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("values differ: %d bytes of %d rows, want %d", len(got), s.Vectors.Rows, len(want))
	}
	return nil
}

// TestLZ4RowsAreNotZero checks a file with LZ4 pages. parquet-go v0.32.0 lost the bytes of such pages, so that
// every row was zero.
func TestLZ4RowsAreNotZero(t *testing.T) {
	v := load(t, "lz4.parquet").Vectors
	for i := range v.Rows {
		if v.Float32(i)[0] == 0 {
			t.Errorf("row %d of %d starts with zero", i, v.Rows)
		}
	}
}
