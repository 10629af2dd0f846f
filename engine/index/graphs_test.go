package index

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/goldentest"
)

var graphsFile = flag.String("graphs", "", "another recording of testdata/graphs/record.py")

// graphGoldens are files of graphs over codes as a library wrote them, and what it answered (testdata/graphs/record.py).
type graphGoldens struct {
	Library string
	Files   []struct {
		Name     string
		Dim      int
		Rows     []byte // float32
		Queries  []byte
		File     []byte
		Searches []graphSearch
	}
}

type graphSearch struct {
	K, EF         int
	Refine        float32
	Filter        string
	Radius, Inner *float32
	Counts        []int
	IDs, Bits     []byte // of all queries
}

// TestGraphsOverCodesAnswerAsTheirLibraries compares ids, their order and the bits of distances, of searches and ranges, with and without
// filters and refinement.
func TestGraphsOverCodesAnswerAsTheirLibraries(t *testing.T) {
	files := []string{"testdata/graphs/faiss.json.gz", "testdata/graphs/knowhere.json.gz"}
	if *graphsFile != "" {
		files = []string{*graphsFile}
	}
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			g := readGraphGoldens(t, name)
			g.check(t)
		})
	}
}

func readGraphGoldens(t testing.TB, name string) (g graphGoldens) {
	t.Helper()
	goldentest.ReadJSON(t, name, &g)
	return g
}

func (g *graphGoldens) check(t *testing.T) {
	t.Helper()
	hits, queries, wrong := 0, 0, 0
	for _, c := range g.Files {
		f, err := Parse(c.Name, c.File, Hint{})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		o := Options{Library: engine.Faiss, Profile: dist.Faiss}
		if g.Library == "knowhere" {
			o = Options{Library: engine.Knowhere25, Profile: dist.Knowhere25}
		}
		s, err := f.NewSearcher(o)
		if err == nil {
			s, err = s.Clone()
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		g.holds(t, f, c.Name, floatsOf(c.Rows))
		bad := 0
		for i := range c.Searches {
			p := &c.Searches[i]
			n, b := p.compare(t, f, s, c.Name, c.Queries)
			hits, queries, bad = hits+n, queries+len(p.Counts), bad+b
		}
		if bad > 0 {
			t.Errorf("%s: %d answers differ", c.Name, bad)
		}
		wrong += bad
		f.Close()
	}
	t.Logf("%d files, %d answers of %d hits, %d differ", len(g.Files), queries, hits, wrong)
	if len(g.Files) < 20 || hits < 100*len(g.Files) {
		t.Errorf("%d hits from %d files", hits, len(g.Files))
	}
}

// compare asks all queries of a search, and returns how many hits there were and how many answers differ.
func (p *graphSearch) compare(t *testing.T, f *File, s Searcher, name string, queries []byte) (hits, wrong int) {
	t.Helper()
	asked := Params{K: p.K, SearchParams: engine.SearchParams{EF: p.EF, RefineK: p.Refine}, Filter: graphFilter(p.Filter, f.Rows), Radius: p.Radius, RangeFilter: p.Inner}
	at := 0
	for i, n := range p.Counts {
		found, _, err := s.Search(queries[4*f.Dim*i:][:4*f.Dim], asked, nil)
		if err != nil {
			t.Fatalf("%s, %+v: %v", name, asked, err)
		}
		ids, bits := []uint32{}, []uint32{}
		for _, h := range found {
			ids, bits = append(ids, uint32(h.ID)), append(bits, *(*uint32)(unsafe.Pointer(&h.Distance)))
		}
		wantIDs, wantBits := wordsOf(p.IDs[4*at:][:4*n]), wordsOf(p.Bits[4*at:][:4*n])
		at, hits = at+n, hits+n
		if !slices.Equal(ids, wantIDs) || !slices.Equal(bits, wantBits) {
			if wrong++; wrong == 1 {
				t.Logf("%s, k %d, ef %d, refine %g, filter %q, radius %v, query %d:\n%v %x, the library has\n%v %x", name, p.K, p.EF, p.Refine, p.Filter, p.Radius, i, ids, bits, wantIDs, wantBits)
			}
		}
	}
	return hits, wrong
}

func graphFilter(name string, rows int) *engine.Bitset {
	b := engine.NewBitset(rows)
	switch name {
	case "third":
		for i := 0; i < rows; i += 3 {
			b.Set(i)
		}
	case "few":
		for i := range rows {
			if i%(rows/9) != 0 {
				b.Set(i)
			}
		}
	case "":
		return nil
	}
	return b
}

// holds tells that rows have the codes of their vectors, and next to none those of another; or are these vectors.
func (g *graphGoldens) holds(t *testing.T, f *File, name string, rows []float32) {
	t.Helper()
	c, coded := f.Searchable.(Coded)
	if coded = coded && c.Codes(); !coded {
		for v := range f.Vectors() {
			for i := range v.Rows {
				if !slices.Equal(floatsOf(v.Row(i)), rows[i*f.Dim:][:f.Dim]) {
					t.Errorf("%s: row %d is another", name, i)
				}
			}
		}
		return
	}
	seen, wrong, others := 0, 0, 0
	c.EachCode(func(id int64, gives func([]float32) bool) {
		row := rows[int(id)*f.Dim:][:f.Dim]
		if seen++; !gives(row) {
			wrong++
		}
		next := rows[(int(id)+1)%f.Rows*f.Dim:][:f.Dim]
		if !slices.Equal(next, row) && gives(next) {
			others++
		}
	})
	beam := strings.HasPrefix(name, "PRQ") // which takes what is nearer at the end, not at each step
	if seen != f.Rows || wrong > 0 && !(beam && wrong < seen/20) || others > seen/10 && f.Dim > 8 {
		t.Errorf("%s: of %d codes %d are not those of their vectors, %d those of others", name, seen, wrong, others)
	}
}

func floatsOf(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(b)), b)
	return v
}

func wordsOf(b []byte) []uint32 {
	v := make([]uint32, len(b)/4)
	for i := range v {
		v[i] = le32(b, i)
	}
	return v
}

// TestHostileGraphsOverCodesAreRefused: cut short anywhere a file is refused; with any 4 bytes of it changed it is refused in one line, or what is
// read can be searched.
func TestHostileGraphsOverCodesAreRefused(t *testing.T) {
	for _, name := range []string{"testdata/graphs/faiss.json.gz", "testdata/graphs/knowhere.json.gz"} {
		files := readGraphGoldens(t, name).Files
		for i, c := range files {
			for n := i % 41; n < len(c.File); n += 41 {
				if _, err := Parse(c.Name, c.File[:n], Hint{}); err == nil {
					t.Fatalf("%s: opened without the last %d bytes", c.Name, len(c.File)-n)
				}
			}
			if _, err := Parse(c.Name, append(slices.Clone(c.File), 0), Hint{}); err == nil {
				t.Errorf("%s: opened with a byte too many", c.Name)
			}
			for at := i % 23; at+4 <= len(c.File); at += 23 {
				data := slices.Clone(c.File)
				copy(data[at:], [][]byte{{0xff, 0xff, 0xff, 0x7f}, {0, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff}, {1, 0, 0, 0x80}}[at/23%4])
				f, err := Parse(c.Name, data, Hint{})
				if err != nil {
					if strings.Contains(err.Error(), "\n") {
						t.Errorf("%s: %v", c.Name, err)
					}
					continue
				}
				if f.Rows > 0 && f.Dim == c.Dim {
					search(t, f)
				}
				f.Close()
			}
		}
	}
}
