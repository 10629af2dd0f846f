package binlog

import (
	"bytes"
	"os"
	"testing"
)

// held is a file in memory.
type held struct{ *bytes.Reader }

func (held) Close() error { return nil }

func tableFile(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("../../cmd/kitescope/testdata/engine/fields.parquet") // written by pyarrow: make.py beside it
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestTable(t *testing.T) {
	r := held{bytes.NewReader(tableFile(t))}
	list, rows, err := TableColumns(r, "fields")
	if err != nil || rows != 400 || len(list) != 4 {
		t.Fatal(list, rows, err)
	}
	columns := map[string]*Column{}
	for _, c := range list {
		if columns[c.Name], err = ReadTable(t.Context(), r, "fields", c); err != nil || columns[c.Name].Rows != 400 {
			t.Fatal(c, err)
		}
	}
	for i := range 400 {
		price := columns["price"]
		if columns["year"].Int64s[i] != int64(2000+i%25) || columns["tag"].Strings[i] != []string{"a", "b", "ab", "100%"}[i%4] ||
			(columns["sold"].Int64s[i] == 1) != (i%3 == 0) || price.Valid.Has(i) != (i%11 != 0) || price.Valid.Has(i) && price.Floats[i] != float64(i)/4 {
			t.Fatalf("row %d is not what was written", i)
		}
	}
}

// FuzzTable looks for files that panic.
func FuzzTable(f *testing.F) {
	f.Add(tableFile(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := held{bytes.NewReader(data)}
		list, _, err := TableColumns(r, "x")
		if err != nil {
			return
		}
		for _, c := range list {
			_, _ = ReadTable(t.Context(), r, "x", c)
		}
	})
}
