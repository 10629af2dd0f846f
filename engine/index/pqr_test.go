package index

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/ivf"
)

// pqrFiles are those of testdata/codes.json.gz whose rows have two codes.
func pqrFiles(t testing.TB) (files [][]byte) {
	t.Helper()
	for _, c := range readCodedGoldens(t, "testdata/codes.json.gz").Files {
		if strings.HasPrefix(c.Name, "pqr_") {
			files = append(files, c.File)
		}
	}
	if len(files) < 4 {
		t.Fatalf("%d files", len(files))
	}
	return files
}

// TestRefusedOfTwoCodes: what faiss has not over IVF_PQ with refinement by parts is refused and said, and a factor of a search goes before the file's.
func TestRefusedOfTwoCodes(t *testing.T) {
	file := pqrFiles(t)[1]
	f, err := Parse("x", file, Hint{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Kind() != "IVF_PQ" || !Refined(f.Searchable) {
		t.Errorf("%s, refined %v", f.Kind(), Refined(f.Searchable))
	}
	if _, err := f.NewSearcher(Options{Library: engine.Knowhere26, Profile: dist.Knowhere25}); err == nil || !strings.Contains(err.Error(), "faiss has") {
		t.Errorf("knowhere: %v", err)
	}
	s, err := f.NewSearcher(Options{Library: engine.Faiss, Profile: dist.Faiss})
	if err != nil {
		t.Fatal(err)
	}
	q := make([]byte, 4*f.Dim)
	ask := func(p Params) []engine.Hit {
		hits, _, err := s.Search(q, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		return hits
	}
	for _, p := range []Params{{K: 3, Filter: engine.NewBitset(f.Rows)}, {K: 3, SearchParams: engine.SearchParams{RefineK: 0.5}}, {}, {K: 1 << 20}} {
		if _, _, err := s.Search(q, p, nil); err == nil {
			t.Errorf("%+v: no error", p)
		}
	}
	if _, _, err := s.Search(q[1:], Params{K: 3}, nil); err == nil {
		t.Error("a short query: no error")
	}
	exact, p := f.Exact(Params{K: 9})
	all, err := exact.NewSearcher(Options{Library: engine.Faiss, Profile: dist.Faiss})
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := all.Search(q, p, nil)
	if err != nil || len(want) != 9 {
		t.Fatal(want, err)
	}
	lists := As[ivf.Index](f)
	if got := ask(Params{K: 9, SearchParams: engine.SearchParams{NProbe: len(lists.Lists), RefineK: float32(f.Rows)}}); !slices.Equal(got, want) {
		t.Errorf("%v, exactly %v", got, want)
	}
	if got := ask(Params{K: 9, SearchParams: engine.SearchParams{NProbe: 1, RefineK: 1}}); slices.Equal(got, want) {
		t.Error("a factor of 1 is as good as all rows")
	}
	labels := make([]int64, f.Rows)
	if err := f.relabel(labels); err == nil {
		t.Error("ids of a map: no error")
	}
}

// TestHostileTwoCodes cuts files off and spoils their bytes.
func TestHostileTwoCodes(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	for _, file := range pqrFiles(t) {
		for at := 0; at < len(file); at += 1 + at/40 {
			if _, err := Parse("x", file[:at], Hint{}); err == nil {
				t.Errorf("%d of %d bytes were enough", at, len(file))
			}
		}
		for range 600 {
			data := slices.Clone(file)
			for range 1 + r.IntN(3) {
				at := r.IntN(len(data))
				if r.IntN(2) == 0 {
					at = r.IntN(160)
				}
				data[at] = byte(r.Uint32())
			}
			if f, err := Parse("x", data, Hint{}); err == nil {
				walk(t, f)
			}
		}
	}
}
