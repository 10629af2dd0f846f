package target

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/expr"
	"kitescope/engine/index"
)

const storage235 = "../../testdata/storage/2.3.5"

// TestFilterOfLogs searches an HNSW index of a real Milvus with the insert logs of its segment as fields, and each hit passes.
func TestFilterOfLogs(t *testing.T) {
	const segment = "470590760626297661/470590760626297667/"
	folders, err := filepath.Glob(storage235 + "/index_files/*/1/470590760626297667/*")
	if err != nil || len(folders) == 0 {
		t.Fatal(folders, err)
	}
	x, err := Open(t.Context(), folders[0], Hint{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	logs := storage235 + "/insert_log/" + segment + filepath.Base(folders[0])
	f, err := OpenFields(t.Context(), []string{"id=" + logs + "/100", "ts=" + logs + "/1"})
	if err != nil {
		t.Fatal(err)
	}
	if f.Rows() != x.File.Rows {
		t.Fatalf("%d rows of fields, %d of the index", f.Rows(), x.File.Rows)
	}
	ids, err := f.Left(t.Context(), "id % 3 == 1 and ts > 0 or id < 0")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := f.read[100](t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var want []int64
	for row, key := range keys.Int64s {
		if key%3 != 1 {
			want = append(want, int64(row))
		}
	}
	if !slices.Equal(ids, want) {
		t.Errorf("%d of %d rows left out, expected %d", len(ids), x.File.Rows, len(want))
	}
	filter, err := x.Exclude(ids)
	if err != nil {
		t.Fatal(err)
	}
	a, err := x.Search(t.Context(), random(t, 5, x.File.Dim), index.Params{K: 20, SearchParams: engine.SearchParams{EF: 60}, Filter: filter}, Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, hits := range a.Hits {
		if len(hits) != 20 {
			t.Errorf("%d hits", len(hits))
		}
		for _, h := range hits {
			if slices.Contains(ids, h.ID) {
				t.Errorf("row %d was left out, and found", h.ID)
			}
		}
	}
}

// TestFieldsThatCannotBe names the place that is at fault.
func TestFieldsThatCannotBe(t *testing.T) {
	const table = "../../cmd/kitescope/testdata/engine/fields.parquet"
	log := storage235 + "/insert_log/470590760626297661"
	for words, places := range map[string][]string{
		"no such file":          {"nowhere.parquet"},
		"field x: read nowhere": {"x=nowhere"},
		"written NAME=PATH":     {"=" + table},
		"field year is given":   {table, table},
		"expected a parquet":    {"filter_test.go"},
		"a folder; expected":    {log},
		"field id: ":            {"id=" + table},
	} {
		if _, err := OpenFields(t.Context(), places); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v: %v, expected %q", places, err, words)
		}
	}
	f, err := OpenFields(t.Context(), []string{table})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Left(t.Context(), "year > 2000 and colour == 1"); err == nil {
		t.Error("an unknown field passes")
	} else if e, ok := errors.AsType[*expr.Error](err); !ok || e.Column() != 17 {
		t.Error(err)
	}
	for text, want := range map[string]int{"year == 2003": 384, "price is null": 363, "price < 1": 397, "not (price < 1)": 40, "tag like '%b'": 200, "sold == true": 266, "": 0} {
		if ids, err := f.Left(t.Context(), text); err != nil || len(ids) != want {
			t.Errorf("%s: %d left out, %v; expected %d", text, len(ids), err, want)
		}
	}
}
