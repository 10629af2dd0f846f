package index

import (
	"bytes"
	"encoding/binary"
	"flag"
	"math"
	"slices"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/goldentest"
	"kitescope/engine/scann"
)

var listsFile = flag.String("lists", "testdata/lists/truth.json.gz", "what knowhere 2.5 wrote and answered of inverted files")

// listGoldens are inverted files as knowhere 2.5 wrote them, and what it answered (testdata/lists/record.py).
type listGoldens struct {
	Files []struct {
		Name, Kind, Metric string
		Dim                int
		Queries, File      []byte
		Searches           []struct {
			K, NProbe, ReorderK int
			Radius              *float32
			Filter              bool
			Answers             []struct {
				IDs  []int64
				Bits []uint32
			}
		}
	}
}

// TestListsOfKnowhere25 compares ids, their order and the bits of distances, of searches and ranges, with and without filters. With nprobe 1
// under L2 the distance of the centroid, which is in those of IVF_PQ, is added up in another order than with more.
func TestListsOfKnowhere25(t *testing.T) {
	var g listGoldens
	goldentest.ReadJSON(t, *listsFile, &g)
	answers, wrong, hitsOf := 0, 0, map[string]int{}
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
		s, err := f.NewSearcher(Options{Library: engine.Knowhere25, Profile: engine.Knowhere25.Profile()})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		filter := engine.NewBitset(f.Rows)
		for i := 0; i < f.Rows; i += 3 {
			filter.Set(i)
		}
		bad := 0
		for _, search := range c.Searches {
			p := Params{K: max(search.K, 1), SearchParams: engine.SearchParams{NProbe: search.NProbe, ReorderK: search.ReorderK}, Radius: search.Radius}
			if search.Filter {
				p.Filter = filter
			}
			for i, want := range search.Answers {
				hits, _, err := s.Search(c.Queries[4*c.Dim*i:][:4*c.Dim], p, nil)
				if err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				answers++
				hitsOf[c.Kind] += len(hits)
				ids, bits := []int64{}, []uint32{}
				for _, h := range hits {
					ids, bits = append(ids, h.ID), append(bits, math.Float32bits(h.Distance))
				}
				if !slices.Equal(ids, want.IDs) || !slices.Equal(bits, want.Bits) {
					if bad++; bad == 1 {
						t.Logf("%s, k %d, nprobe %d, reorder %d, filter %v, range %v, query %d:\n%v %x, knowhere has\n%v %x", c.Name, p.K, p.NProbe, p.ReorderK, search.Filter, p.Radius != nil, i, ids, bits, want.IDs, want.Bits)
					}
				}
			}
		}
		if bad > 0 {
			t.Errorf("%s: %d answers differ", c.Name, bad)
		}
		wrong += bad
	}
	t.Logf("%d files, %d answers, %d differ; hits %v", len(g.Files), answers, wrong, hitsOf)
	for kind, hits := range hitsOf {
		if hits < 100 {
			t.Errorf("%s: %d hits", kind, hits)
		}
	}
	if answers < 100 || *listsFile == "testdata/lists/truth.json.gz" && len(hitsOf) != 2 {
		t.Errorf("%d answers", answers)
	}
}

// TestInverseNormsOfSCANN: files of knowhere 2.5.10 and later have 1 by the lengths of rows where earlier ones have the lengths, and nothing else
// says so.
func TestInverseNormsOfSCANN(t *testing.T) {
	var g listGoldens
	goldentest.ReadJSON(t, "testdata/lists/truth.json.gz", &g)
	seen := 0
	for _, c := range g.Files {
		f, err := Parse(c.Name, c.File, Hint{})
		if err != nil {
			t.Fatal(err)
		}
		x := As[scann.Index](f)
		if x == nil || x.Norms == nil {
			continue
		}
		seen++
		norms := bytesOfFloats(x.Norms)
		at := bytes.Index(c.File, norms)
		for i, n := range x.Norms {
			binary.LittleEndian.PutUint32(c.File[at+4*i:], math.Float32bits(1/n))
		}
		later, err := Parse(c.Name, c.File, Hint{})
		if err != nil {
			t.Fatal(err)
		}
		if y := As[scann.Index](later); y.Norms != nil || len(y.Inverse) != f.Rows {
			t.Errorf("%d norms, %d inverse ones", len(y.Norms), len(y.Inverse))
		}
		o, p := Options{Library: engine.Knowhere26, Profile: engine.Knowhere26.Profile()}, Params{K: 9, SearchParams: engine.SearchParams{NProbe: 3}}
		want, got := searchBy(t, f, o, c.Queries[:4*c.Dim], p), searchBy(t, later, o, c.Queries[:4*c.Dim], p)
		for i := range want {
			if i >= len(got) || math.Abs(float64(got[i].Distance-want[i].Distance)) > 1e-6 {
				t.Fatalf("%v, not %v", got, want)
			}
		}
	}
	if seen != 1 {
		t.Errorf("%d files with norms", seen)
	}
}

func searchBy(t *testing.T, f *File, o Options, q []byte, p Params) []engine.Hit {
	t.Helper()
	s, err := f.NewSearcher(o)
	if err != nil {
		t.Fatal(err)
	}
	hits, _, err := s.Search(q, p, nil)
	if err != nil || len(hits) == 0 {
		t.Fatal(hits, err)
	}
	return hits
}

func bytesOfFloats(x []float32) (b []byte) {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}
