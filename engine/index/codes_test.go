package index

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/goldentest"
)

// codedGoldens holds files of coded rows that faiss wrote, and its answers (testdata/codes.py).
type codedGoldens struct {
	Rows  map[string][]byte // float32
	Files []struct {
		Name     string
		Dim      int
		Rows     string
		Scale    float32
		Queries  []byte
		IDs      []int64
		File     []byte
		Searches []struct {
			K, NProbe int
			Radius    *float32
			Filter    bool
			Answers   []struct {
				IDs  []int64
				Bits []uint32
			}
		}
	}
}

// TestCodesMatchFaiss compares ids and their order, with and without filters. faiss sums distances in another
// order, so hits with nearly equal distances may be swapped.
func TestCodesMatchFaiss(t *testing.T) {
	var g codedGoldens
	goldentest.ReadJSON(t, "testdata/codes.json.gz", &g)
	answers := 0
	filter := engine.NewBitset(10007)
	for i := 0; i < 10007; i += 3 {
		filter.Set(i)
	}
	for _, c := range g.Files {
		f, err := Parse(c.Name, c.File, Hint{})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		s, err := f.NewSearcher(Options{Library: engine.Faiss})
		if err != nil {
			t.Fatal(err)
		}
		if s, err = s.Clone(); err != nil {
			t.Fatal(err)
		}
		g.checkCodes(t, f, c.Rows, c.Scale, c.IDs)
		for _, search := range c.Searches {
			if search.Radius != nil {
				continue // radii are distances of hits: the last bit decides
			}
			p := Params{K: search.K, SearchParams: engine.SearchParams{NProbe: search.NProbe}}
			if search.Filter {
				p.Filter = filter
			}
			for i, want := range search.Answers {
				hits, _, err := s.Search(c.Queries[4*c.Dim*i:][:4*c.Dim], p, nil)
				if err != nil {
					t.Fatal(err)
				}
				answers += len(hits)
				if len(hits) != len(want.IDs) {
					t.Fatalf("%s, %+v, query %d: %d hits, faiss has %d", c.Name, p, i, len(hits), len(want.IDs))
				}
				at := func(j int) float32 { return math.Float32frombits(want.Bits[j]) }
				for j, h := range hits {
					tied := j == len(hits)-1 || almostEqual(at(j), at(j+1)) || j > 0 && almostEqual(at(j), at(j-1))
					if h.ID != want.IDs[j] && !tied || !almostEqual(h.Distance, at(j)) {
						t.Fatalf("%s, %+v, query %d, hit %d: %v, faiss has %d at %g", c.Name, p, i, j, h, want.IDs[j],
							at(j))
					}
				}
			}
		}
	}
	if len(g.Files) != 24 || answers < 100*len(g.Files) {
		t.Errorf("%d answers from %d files", answers, len(g.Files))
	}
}

// almostEqual reports whether two distances are equal up to rounding.
func almostEqual(a, b float32) bool {
	return a == b || math.Abs(float64(a-b)) <= 1e-5*(1+math.Abs(float64(b)))
}

// checkCodes checks that each row has the code of its vector, and almost never the code of another vector.
func (g codedGoldens) checkCodes(t *testing.T, f *File, rows string, scale float32, ids []int64) {
	t.Helper()
	all := slices.Clone(unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(g.Rows[rows]))), len(g.Rows[rows])/4))
	for i := range all {
		all[i] *= scale
	}
	rowOf := map[int64]int{}
	for i, id := range ids {
		rowOf[id] = i
	}
	seen, wrong, others := 0, 0, 0
	f.Searchable.(Coded).EachCode(func(id int64, gives func([]float32) bool) {
		row := rowOf[id]
		if seen++; !gives(all[row*f.Dim:][:f.Dim]) {
			wrong++
		}
		if next := (row + 1) % len(ids); !slices.Equal(all[next*f.Dim:][:f.Dim], all[row*f.Dim:][:f.Dim]) &&
			gives(all[next*f.Dim:][:f.Dim]) {
			others++
		}
	})
	if seen != len(ids) || wrong > 0 || others > seen/20 && f.Dim > 2 {
		t.Errorf("%s: of %d codes %d are not those of their vectors, %d those of others", f.Name, seen, wrong, others)
	}
}
