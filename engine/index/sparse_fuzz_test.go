package index

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/sparse"
)

// sparseRowsBlob returns a blob in the form of rows.
func sparseRowsBlob(rows ...[]byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(rows)))
	b = binary.LittleEndian.AppendUint64(b, 1<<32)
	b = binary.LittleEndian.AppendUint32(b, 0)
	for _, row := range rows {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(row)/sparse.PairBytes))
		b = append(b, row...)
	}
	return b
}

func pairs(list ...float32) (row []byte) {
	for i := 0; i+1 < len(list); i += 2 {
		row = sparse.AppendPair(row, uint32(list[i]), list[i+1])
	}
	return row
}

// cutLists returns a blob in the form of lists with a few rows, based on a file that knowhere wrote.
func cutLists() []byte {
	b := binary.LittleEndian.AppendUint32(nil, 1)
	for _, n := range []uint32{3, 10, 2} { // rows, dimensions, lists
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	b = append(b, make([]byte, 16)...)
	sections := []struct {
		kind uint32
		body []byte
	}{{kind: sectionLists}, {kind: sectionNames}}
	for _, n := range []uint64{0, 2, 3} {
		sections[0].body = binary.LittleEndian.AppendUint64(append([]byte{}, sections[0].body...), n)
	}
	sections[0].body = append(make([]byte, 4), sections[0].body...)
	for _, id := range []uint32{0, 2, 1} {
		sections[0].body = binary.LittleEndian.AppendUint32(sections[0].body, id)
	}
	for _, v := range []float32{1, 2, 3} {
		sections[0].body = binary.LittleEndian.AppendUint32(sections[0].body, math.Float32bits(v))
	}
	for _, name := range []uint32{4, 9} {
		sections[1].body = binary.LittleEndian.AppendUint32(sections[1].body, name)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(sections)))
	at := len(b) + len(sections)*sparseSection
	for _, s := range sections {
		b = binary.LittleEndian.AppendUint64(b, uint64(s.kind))
		b = binary.LittleEndian.AppendUint64(b, uint64(at))
		b = binary.LittleEndian.AppendUint64(b, uint64(len(s.body)))
		at += len(s.body)
	}
	for _, s := range sections {
		b = append(b, s.body...)
	}
	return b
}

// FuzzSparse parses arbitrary bytes as sparse lists, and runs every kind of search on the lists that parse.
func FuzzSparse(f *testing.F) {
	for _, bm25 := range []bool{false, true} {
		f.Add(sparseRowsBlob(pairs(1, 1, 7, .5), nil, pairs(7, 2, 9, 1)), pairs(1, 1, 7, 2), bm25)
		f.Add(cutLists(), pairs(4, 1, 9, 2), bm25)
	}
	f.Fuzz(func(t *testing.T, data, query []byte, bm25 bool) {
		if len(data) > 1<<16 {
			return
		}
		hint := Hint{sparse: true}
		if bm25 {
			hint.Metric = dist.BM25
		}
		x, err := Parse("fuzz", data, hint)
		if err != nil || x.Format != KnowhereSparse {
			return
		}
		for rows := range x.Vectors() {
			if rows.Rows != x.Rows {
				t.Fatalf("%d rows of %d", rows.Rows, x.Rows)
			}
		}
		for _, l := range []engine.Library{engine.Knowhere23, engine.Knowhere25, engine.Knowhere26} {
			s, err := x.NewSearcher(Options{Library: l})
			if err != nil {
				continue
			}
			for _, drop := range []float32{0, .5} {
				hits, _, err := s.Search(query,
					Params{
						K: 3,
						SearchParams: engine.SearchParams{
							SparseParams: engine.SparseParams{DropRatio: drop, RefineFactor: 2},
						},
					}, nil)
				if err != nil {
					continue
				}
				for _, h := range hits {
					if h.ID < 0 || h.ID >= int64(x.Rows) {
						t.Fatalf("row %d of %d", h.ID, x.Rows)
					}
				}
			}
		}
	})
}

// TestSparseHostile checks that errors name the malformed field.
func TestSparseHostile(t *testing.T) {
	lists := cutLists()
	change := func(at int, v uint32) []byte {
		b := append([]byte{}, lists...)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	body := sparseListsHeader + 2*sparseSection
	for _, test := range []struct {
		name, want string
		data       []byte
	}{
		{"whole", "", lists},
		{"rows", "", sparseRowsBlob(pairs(1, 1))},
		{"cut", "expected a section within 141 bytes", lists[:len(lists)-3]},
		{"many sections", "expected at most 15 rows", change(32, 65)},
		{"rows without bytes", "expected at most 144 rows, found 4000", change(4, 4000)},
		{"encoding", "index type SPARSE_INVERTED_INDEX with lists of encoding 7 is not supported", change(body, 7)},
		{"many values", "ids of rows of 4 bytes, found", change(body+20, 1000)},
		{"descending starts", "values", change(body+12, 90)},
		{"row beyond", "row 3 is out of order in the list of dimension 4, or beyond 3 rows", change(body+28+4, 3)},
		{"doubled", "dimension 9 has two lists", change(body+28+24, 9)},
		{"dimension", "expected values of 10 dimensions, found dimension 11", change(body+28+24, 11)},
		{"infinite", "expected finite values, found +Inf", change(body+28+12, 0x7f800000)},
		{"row without end", "values of a row", binary.LittleEndian.AppendUint64(sparseRowsBlob(nil)[:20], 1<<60)},
		{"infinite row", "+Inf in row 0", sparseRowsBlob(pairs(1, float32(math.Inf(1))))},
		{"many rows", "expected at most 1 rows, found 99", append([]byte{99}, sparseRowsBlob(nil)[1:]...)},
	} {
		_, err := Parse("f", test.data, Hint{sparse: true})
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, expected %q", test.name, err, test.want)
		}
	}
}

// TestSparseForms reads both forms of the same rows, detected by their contents alone.
func TestSparseForms(t *testing.T) {
	var before [][]byte
	for _, name := range []string{"small.25.ip", "small.26.ip", "small.23.ip"} {
		data, err := os.ReadFile(filepath.Join("testdata", "sparse", name))
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(name, data, Hint{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind() != SparseInverted || f.Rows != 150 || f.Metric != dist.InnerProduct {
			t.Errorf("%s: %s of %d rows under %s", name, f.Kind(), f.Rows, f.Metric)
		}
		var rows [][]byte
		for v := range f.Vectors() {
			for i := range v.Rows {
				rows = append(rows, append([]byte{}, v.Row(i)...))
			}
		}
		for i := range before {
			if !sparse.Same(before[i], rows[i], f.Metric) {
				t.Errorf("%s: row %d differs", name, i)
			}
		}
		before = rows
	}
}
