package index

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzOpen reads anything, with and without the hints that a caller may give. What is taken
// for an index must hold together: it is read row by row and written again.
func FuzzOpen(f *testing.F) {
	files, err := filepath.Glob("testdata/*.bin")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 9000 {
			f.Add(data, []byte{})
		}
	}
	f.Fuzz(func(t *testing.T, data, raw []byte) {
		if len(data) > 1<<16 || len(raw) > 1<<16 {
			return
		}
		x, err := Parse("fuzz", data, Hint{RawData: raw})
		if err != nil {
			return
		}
		x.NaNRows()
		walk(t, x)
		var b bytes.Buffer
		switch x.Format {
		case HNSWLib:
			err = WriteHNSWLib(&b, x.HNSW, x.MaxElements)
		case KnowhereHNSW:
			err = WriteKnowhere(&b, x.HNSW)
		default:
			_ = WriteFaiss(&b, x) // not all that is read can be written
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		y, err := Parse("again", b.Bytes(), Hint{})
		if err != nil {
			t.Fatalf("what was read cannot be read after it was written: %v", err)
		}
		if x.Rows != y.Rows || x.Dim != y.Dim {
			t.Fatalf("%d x %d became %d x %d", x.Rows, x.Dim, y.Rows, y.Dim)
		}
	})
}

// walk follows every link as a search would: from a node to nodes that are on the same level.
func walk(t *testing.T, x *File) {
	t.Helper()
	switch {
	case x.HNSW != nil:
		base, upper := lists(&x.HNSW.Graph)
		for i := range base {
			for _, to := range base[i] {
				_ = x.HNSW.Vectors.Row(int(to))
			}
			for l, links := range upper[i] {
				for _, to := range links {
					if int(x.HNSW.Levels[to]) <= l {
						t.Fatalf("node %d links to node %d on level %d, which ends at %d", i, to, l+1, x.HNSW.Levels[to])
					}
				}
			}
		}
		if x.Rows > 0 && int(x.HNSW.Levels[x.HNSW.Entry]) != x.HNSW.MaxLevel {
			t.Fatal("the entry point is not on the highest level")
		}
	case x.Flat != nil:
		for i := range x.Rows {
			_ = x.Flat.Vectors.Row(i)
		}
	case x.IVF != nil:
		rows := 0
		for _, l := range x.IVF.Lists {
			rows += len(l.IDs)
			if l.Vectors.Rows != len(l.IDs) {
				t.Fatalf("%d vectors with %d ids", l.Vectors.Rows, len(l.IDs))
			}
		}
		if rows != x.Rows {
			t.Fatalf("%d rows in lists of %d", x.Rows, rows)
		}
	}
}
