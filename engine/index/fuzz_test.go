package index

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/goldentest"
	"kitescope/engine/hnsw"
	"kitescope/engine/ivf"
)

// FuzzOpen parses arbitrary bytes, with and without the hints that a caller may give. It reads each accepted index
// row by row and writes it again.
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
	var coded codedGoldens
	goldentest.ReadJSON(f, "testdata/codes.json.gz", &coded)
	for _, c := range coded.Files {
		f.Add(c.File, []byte{})
	}
	f.Fuzz(func(t *testing.T, data, raw []byte) {
		if len(data) > 1<<16 || len(raw) > 1<<16 {
			return
		}
		x, err := Parse("fuzz", data, Hint{RawData: raw})
		if err != nil {
			return
		}
		nanRows(x)
		walk(t, x)
		var b bytes.Buffer
		switch x.Format {
		case HNSWLib:
			err = WriteHNSWLib(&b, As[hnsw.Index](x))
		case KnowhereHNSW:
			err = WriteKnowhere(&b, As[hnsw.Index](x))
		default:
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

// walk follows every link as a search would: from a node to nodes on the same level.
func walk(t *testing.T, x *File) {
	t.Helper()
	switch {
	case As[hnsw.Index](x) != nil:
		base, upper := lists(&As[hnsw.Index](x).Graph)
		for i := range base {
			for _, to := range base[i] {
				_ = As[hnsw.Index](x).Vectors.Row(int(to))
			}
			for l, links := range upper[i] {
				for _, to := range links {
					if int(As[hnsw.Index](x).Levels[to]) <= l {
						t.Fatalf("node %d links to node %d on level %d, which ends at %d", i, to, l+1,
							As[hnsw.Index](x).Levels[to])
					}
				}
			}
		}
		if x.Rows > 0 && int(As[hnsw.Index](x).Levels[As[hnsw.Index](x).Entry]) != As[hnsw.Index](x).MaxLevel {
			t.Fatal("the entry point is not on the highest level")
		}
	case As[flat.Index](x) != nil:
		for i := range x.Rows {
			_ = As[flat.Index](x).Vectors.Row(i)
		}
	case As[ivf.Index](x) != nil:
		rows := 0
		if As[ivf.Index](x).Codec != nil && x.Rows > 0 { // a parsed index can be searched
			search(t, x)
		}
		for _, l := range As[ivf.Index](x).Lists {
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

// search runs a search with a zero query over all lists.
func search(t *testing.T, x *File) {
	t.Helper()
	o := Options{Library: engine.Faiss}
	if x.Metric == dist.Cosine {
		o = Options{Library: engine.Knowhere22}
	}
	s, err := x.NewSearcher(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Search(make([]byte, 4*x.Dim), Params{K: 3, SearchParams: engine.SearchParams{NProbe: 1 << 20}},
		nil); err != nil {
		t.Fatal(err)
	}
}

// nanRows counts the rows of an index that contain a NaN. It reads all vectors.
func nanRows(x *File) (n int) {
	for v := range x.Vectors() {
		for i := range v.Rows {
			row, isNaN := v.Row(i), false
			for at := 0; v.Element == dist.Float32 && at < len(row); at += 4 {
				value := math.Float32frombits(binary.LittleEndian.Uint32(row[at:]))
				isNaN = isNaN || value != value
			}
			if isNaN {
				n++
			}
		}
	}
	return n
}
