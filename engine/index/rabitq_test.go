package index

import (
	"encoding/binary"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/goldentest"
	"kitescope/engine/ivf"
)

// rabitqGoldens are files of IVF_RABITQ as faiss and knowhere wrote them, and what these answered (testdata/rabitq/record.py).
type rabitqGoldens struct {
	Rows  map[string][]byte // float32
	Files []struct {
		Name, Library, Metric, Rows string
		Dim                         int
		Queries, File               []byte
		IDs                         []int64
		RefineK                     float32
		Searches                    []struct {
			K, NProbe int
			QueryBits *int
			Radius    *float32
			Filter    bool
			Answers   []struct {
				IDs  []int64
				Bits []uint32
			}
		}
	}
}

var rabitqFile = flag.String("rabitq", "testdata/rabitq/truth.json.gz", "what faiss and knowhere wrote and answered")

func readRaBitQ(t testing.TB, path string) (g rabitqGoldens) {
	t.Helper()
	goldentest.ReadJSON(t, path, &g)
	return g
}

// TestRaBitQTruth compares ids, their order and the bits of distances: of searches and ranges, by several numbers of bits of a query, with and
// without filters, of vectors that were rotated, mapped to fewer dimensions or left as they were.
func TestRaBitQTruth(t *testing.T) {
	answers, wrong := 0, 0
	g := readRaBitQ(t, *rabitqFile)
	for _, c := range g.Files {
		metric, err := dist.ParseMetric(c.Metric)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(c.Name, c.File, Hint{Metric: metric})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if f.Metric != metric || f.Dim != c.Dim || f.Rows != len(c.IDs) || f.Kind() != IVFRaBitQ && !strings.HasSuffix(c.Name, "_of_sq8") {
			t.Errorf("%s: %s of %d rows of %d dimensions by %s", c.Name, f.Kind(), f.Rows, f.Dim, f.Metric)
		}
		library, _ := engine.ParseLibrary(c.Library)
		s, err := f.NewSearcher(Options{Library: library, Profile: library.Profile()})
		if err != nil {
			t.Fatal(err)
		}
		if s, err = s.Clone(); err != nil {
			t.Fatal(err)
		}
		holdRaBitQ(t, f, g.Rows[c.Rows], c.IDs)
		filter := engine.NewBitset(10007)
		for i := 0; i < 10007; i += 3 {
			filter.Set(i)
		}
		found := 0
		for _, search := range c.Searches {
			p := Params{K: search.K, SearchParams: engine.SearchParams{NProbe: search.NProbe, QueryBits: search.QueryBits, RefineK: c.RefineK}, Radius: search.Radius}
			if search.Filter {
				p.Filter = filter
			}
			for i, want := range search.Answers {
				hits, _, err := s.Search(c.Queries[4*c.Dim*i:][:4*c.Dim], p, nil)
				if err != nil {
					t.Fatal(err)
				}
				answers++
				found += len(hits)
				ids, bits := []int64{}, []uint32{}
				for _, h := range hits {
					ids, bits = append(ids, h.ID), append(bits, math.Float32bits(h.Distance))
				}
				if !slices.Equal(ids, want.IDs) || !slices.Equal(bits, want.Bits) {
					if wrong++; wrong < 10 {
						qb := -1
						if p.QueryBits != nil {
							qb = *p.QueryBits
						}
						t.Errorf("%s, k %d, nprobe %d, query bits %d, filter %v, range %v, query %d:\n%v %x, not\n%v %x", c.Name, p.K, p.NProbe, qb, search.Filter, p.Radius != nil, i, ids, bits, want.IDs, want.Bits)
					}
				}
			}
		}
		if found < 100 {
			t.Errorf("%s: %d hits", c.Name, found)
		}
	}
	t.Logf("%d answers, %d of them wrong", answers, wrong)
	if wrong > 0 || answers < 1000 {
		t.Errorf("%d of %d answers are wrong", wrong, answers)
	}
}

// holdRaBitQ tells that each row has the code of its vector, and next to none that of another.
func holdRaBitQ(t *testing.T, f *File, rows []byte, ids []int64) {
	t.Helper()
	all := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(rows))), len(rows)/4)
	rowOf := map[int64]int{}
	for i, id := range ids {
		rowOf[id] = i
	}
	coded := f.Searchable.(Coded)
	if !coded.Codes() { // refined by vectors
		return
	}
	seen, wrong, others := 0, 0, 0
	coded.EachCode(func(id int64, gives func([]float32) bool) {
		row := rowOf[id]
		if seen++; !gives(all[row*f.Dim:][:f.Dim]) {
			wrong++
		}
		if next := (row + 1) % len(ids); gives(all[next*f.Dim:][:f.Dim]) {
			others++
		}
	})
	if seen != len(ids) || wrong > 0 || others > seen/20 {
		t.Errorf("%s: of %d codes %d are not those of their vectors, %d those of others", f.Name, seen, wrong, others)
	}
}

// TestVerifiedBitsOfRaBitQ changes the foremost of the bits that are not signs, of one dimension of each row, and the numbers behind them: the code is
// no longer that of its row.
func TestVerifiedBitsOfRaBitQ(t *testing.T) {
	g, seen := readRaBitQ(t, *rabitqFile), 0
	r := rand.New(rand.NewPCG(11, 2))
	for _, c := range g.Files {
		bits, found := strings.CutPrefix(c.Name, "faiss_bits")
		if !found || bits[0] == '3' { // which is rotated
			continue
		}
		seen++
		f, err := Parse(c.Name, slices.Clone(c.File), Hint{})
		if err != nil {
			t.Fatal(err)
		}
		rows, rowOf := float32s(g.Rows[c.Rows]), map[int64]int{}
		for i, id := range c.IDs {
			rowOf[id] = i
		}
		x, more, missed, all := As[ivf.Index](f), int(bits[0]-'1'), 0, 0
		holds := x.Holds()
		for i, l := range x.Lists {
			for j, id := range l.IDs {
				row := rows[rowOf[id]*c.Dim:][:c.Dim]
				code, bit := l.Vectors.Row(j), (c.Dim+7)/8*8+96+r.IntN(c.Dim)*more+more-1
				if code[bit>>3] ^= 1 << (bit & 7); holds(i, j, row) {
					missed++ // where it is in the middle
				}
				code[bit>>3] ^= 1 << (bit & 7)
				number := len(code) - 1 - 4*r.IntN(2)
				if code[number] ^= 1; holds(i, j, row) {
					missed++
				}
				code[number] ^= 1
				if !holds(i, j, row) {
					t.Errorf("%s: row %d has not its code", c.Name, id)
				}
				all += 2
			}
		}
		if all == 0 || missed > all/4 {
			t.Errorf("%s: %d of %d changed codes are taken for those of their rows", c.Name, missed, all)
		}
		t.Logf("%s: %d of %d", c.Name, missed, all)
	}
	if seen < 4 {
		t.Errorf("%d files", seen)
	}
}

// TestHostileRaBitQ cuts files off and spoils their bytes: what is read all the same can be searched, and what is refused is refused with where.
func TestHostileRaBitQ(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	for _, c := range readRaBitQ(t, *rabitqFile).Files {
		for at := 0; at < len(c.File); at += 1 + at/40 {
			if _, err := Parse(c.Name, c.File[:at], Hint{}); err == nil {
				t.Errorf("%s: %d of %d bytes were enough", c.Name, at, len(c.File))
			}
		}
		for range 400 {
			data := slices.Clone(c.File)
			for range 1 + r.IntN(3) {
				at := r.IntN(len(data))
				if r.IntN(2) == 0 {
					at = r.IntN(120)
				}
				data[at] = byte(r.Uint32())
			}
			if f, err := Parse(c.Name, data, Hint{}); err == nil {
				walk(t, f)
			}
		}
	}
	nested := []byte{}
	header := func(code string) {
		nested = append(nested, code...)
		nested = binary.LittleEndian.AppendUint32(nested, 4)
		nested = append(nested, make([]byte, 8)...)
		nested = binary.LittleEndian.AppendUint64(nested, 1<<20)
		nested = append(nested, make([]byte, 8)...)
		nested = binary.LittleEndian.AppendUint32(append(nested, 1), 1)
	}
	for range 1000 {
		header("IxPT")
		nested = binary.LittleEndian.AppendUint32(nested, 0)
	}
	if _, err := Parse("nested", nested, Hint{}); err == nil || !strings.Contains(err.Error(), "8 deep at most") {
		t.Errorf("indexes in indexes: %v", err)
	}
	for _, c := range []struct{ code, want string }{
		{"Iwrn", "IVFRaBitQFastScan"}, {"Ixrq", "RaBitQ without lists"},
	} {
		var unsupported *UnsupportedError
		if _, err := Parse("x", append([]byte(c.code), make([]byte, 100)...), Hint{}); !errors.As(err, &unsupported) || unsupported.Type != c.want {
			t.Errorf("%s: %v", c.code, err)
		}
	}
}

// TestCosineIsOfNormalisedQueries: an inner product of knowhere that the hint calls cosine is searched by the query that knowhere normalises, whether a
// refinement stands around it or not.
func TestCosineIsOfNormalisedQueries(t *testing.T) {
	seen := map[bool]int{}
	o := Options{Library: engine.Knowhere26, Profile: engine.Knowhere26.Profile()}
	for _, c := range readRaBitQ(t, *rabitqFile).Files {
		if c.Metric != "IP" || c.Library == "faiss" {
			continue
		}
		var s [2]Searcher
		for i, m := range []engine.Metric{dist.InnerProduct, dist.Cosine} {
			f, err := Parse(c.Name, c.File, Hint{Metric: m})
			if err != nil {
				t.Fatal(err)
			}
			if f.Metric != m {
				t.Errorf("%s: %s with the hint %s", c.Name, f.Metric, m)
			}
			if s[i], err = f.NewSearcher(o); err != nil {
				t.Fatal(err)
			}
			if i == 1 {
				seen[Refined(f.Searchable)]++
				if _, err := f.NewSearcher(Options{Library: engine.Faiss}); err == nil {
					t.Errorf("%s: faiss has cosine", c.Name)
				}
			}
		}
		q := c.Queries[4*c.Dim:][:4*c.Dim]
		unit := float32s(q)
		flat.Normalise(unit, dist.KnowhereNorm2(unit))
		p := Params{K: 7, SearchParams: engine.SearchParams{NProbe: 2}}
		want, _, err := s[0].Search(unsafe.Slice((*byte)(unsafe.Pointer(&unit[0])), 4*c.Dim), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := s[1].Search(q, p, nil)
		if err != nil || len(got) != 7 || !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v (%v)", c.Name, got, want, err)
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("%d refined, %d not", seen[true], seen[false])
	}
}
