package index

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/goldentest"
	"kitescope/engine/sparse"
)

var recorded = flag.String("sparse", "testdata/sparse", "folder of what testdata/sparse/record.py recorded")

// sparseTruth holds knowhere's answers.
type sparseTruth struct {
	Queries  map[string][][2][]float64
	Searches []struct {
		Library, Metric, Algorithm, File, Queries string
		K, Refine                                 int
		Drop, Ratio, K1, B, Avgdl, Now            float32
		Filter                                    []int
		IDs                                       [][]int64
		Bits                                      [][]uint32
	}
}

// TestSparseTruth runs the recorded searches on files that knowhere wrote, and compares the answers with
// knowhere's.
func TestSparseTruth(t *testing.T) {
	var truth sparseTruth
	goldentest.ReadJSON(t, filepath.Join(*recorded, "truth.json.gz"), &truth)
	queries := map[string]*engine.Vectors{}
	for name, list := range truth.Queries {
		queries[name] = goldentest.SparseVectors(t, list)
	}
	type key struct {
		file, metric string
		wand         bool
	}
	open := map[key]Searchable{}
	libraries := map[string]int{}
	for _, s := range truth.Searches {
		m, err := dist.ParseMetric(s.Metric)
		if err != nil {
			t.Fatal(err)
		}
		if s.Ratio > 0 && s.Ratio < 1 ||
			s.Queries == "signed" && (s.Algorithm != "TAAT_NAIVE" || s.Library != "knowhere-2.3") {
			continue // approximate, as are all bounded walks over negative values
		}
		var o Options
		if s.K1 != 0 {
			o.BM25 = &sparse.BM25{K1: s.K1, B: s.B, AvgDL: s.Avgdl}
		}
		k := key{s.File, s.Metric, s.Library == "knowhere-2.3" && s.Algorithm == "DAAT_WAND"}
		if s.Library == "rows" {
			if open[k] == nil {
				var list [][2][]float64
				goldentest.ReadJSON(t, filepath.Join(*recorded, s.File+".json.gz"), &list)
				open[k] = FromSparseRows(goldentest.SparseVectors(t, list), m)
			}
		} else {
			library, ok := engine.ParseLibrary(s.Library)
			if !ok {
				t.Fatal(s.Library)
			}
			o.Library = library
			if open[k] == nil {
				data, err := os.ReadFile(filepath.Join(*recorded, s.File))
				if err != nil {
					t.Fatal(err)
				}
				f, err := Parse(s.File, data, Hint{Metric: m, wand: k.wand})
				if err != nil {
					t.Fatal(err)
				}
				if f.Metric != m {
					t.Fatalf("%s is of %s", s.File, f.Metric)
				}
				open[k] = f.Searchable
			}
		}
		searcher, err := open[k].NewSearcher(o)
		if err != nil {
			t.Fatal(err)
		}
		var filter *engine.Bitset
		if s.Filter != nil {
			filter = engine.NewBitset(1 << 20)
			for _, id := range s.Filter {
				filter.Set(id)
			}
		}
		libraries[s.Library]++
		p := Params{
			K: s.K, Filter: filter,
			SearchParams: engine.SearchParams{
				SparseParams: engine.SparseParams{
					DropRatio: s.Drop, RefineFactor: s.Refine, MaxScoreRatio: s.Ratio, AvgDL: s.Now,
				},
			},
		}
		for q := range s.IDs {
			hits, _, err := searcher.Search(queries[s.Queries].Row(q), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := goldentest.Hits(s.IDs[q], s.Bits[q])
			if !goldentest.AlmostEqual(hits, want, 1e-6) {
				t.Errorf("%s %s %s %s, query %d of %s, k %d, drop %g, refine %d, ratio %g, filter %d:\n%v, knowhere "+
					"has\n%v",
					s.Library, s.Metric, s.Algorithm, s.File, q, s.Queries, s.K, s.Drop, s.Refine, s.Ratio,
					len(s.Filter), hits, want)
				break
			}
		}
	}
	if len(libraries) < 4 {
		t.Error("not all were asked:", libraries)
	}
}
