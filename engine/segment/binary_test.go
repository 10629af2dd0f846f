package segment_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/goldentest"
	"kitescope/engine/index"
	"kitescope/engine/object"
	"kitescope/engine/segment"
	"kitescope/engine/segment/segmenttest"
)

const binaryLists = "testdata/bin_ivf_flat"

// binaryTruth holds the answers of a Milvus 2.3.5 over BIN_IVF_FLAT (testdata/bin_ivf_flat/binivf.py). Primary keys
// are row numbers.
type binaryTruth struct {
	Collections []struct {
		Name, Metric     string
		Dim, Rows, NList int
		Collection       int64
		Queries          []string
		Searches         []binarySearch
	}
}

type binarySearch struct {
	K, NProbe int
	Expr      string
	Radius    *float32
	IDs       [][]int64
	Bits      [][]uint32
}

func (s *binarySearch) String() string {
	return fmt.Sprintf("k %d nprobe %d %q", s.K, s.NProbe, s.Expr)
}

// params returns the parameters of the search over the given number of rows.
func (s *binarySearch) params(rows int) index.Params {
	p := index.Params{K: s.K, SearchParams: engine.SearchParams{NProbe: s.NProbe}}
	keep := map[string]func(int) bool{
		"id % 3 != 0": func(i int) bool { return i%3 != 0 }, "id < 40": func(i int) bool { return i < 40 },
	}[s.Expr]
	if keep == nil {
		return p
	}
	p.Filter = engine.NewBitset(rows)
	for i := range rows {
		if !keep(i) {
			p.Filter.Set(i)
		}
	}
	return p
}

// wantHits returns Milvus's hits for a query. Range searches sort by distance, with ties in any order.
func (s *binarySearch) wantHits(query int) []engine.Hit {
	var hits []engine.Hit
	for j, id := range s.IDs[query] {
		hits = append(hits, engine.Hit{ID: id, Distance: math.Float32frombits(s.Bits[query][j])})
	}
	return hits
}

func readBinaryTruth(t *testing.T) *binaryTruth {
	t.Helper()
	var truth binaryTruth
	goldentest.ReadJSON(t, binaryLists+"/truth.json.gz", &truth)
	return &truth
}

// TestBinaryListsMatchMilvus compares ids, their order and the bits of distances, for searches with and without
// filters and for range searches.
func TestBinaryListsMatchMilvus(t *testing.T) {
	store, err := object.OpenFolder(binaryLists)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	files, err := segmenttest.Find(t.Context(), store, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range readBinaryTruth(t).Collections {
		metric, err := dist.ParseMetric(c.Metric)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Collection != c.Collection {
				continue
			}
			s, err := segment.Open(t.Context(), store, f, segment.Schema{PrimaryKey: 100, Vector: 101, Metric: metric})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Release)
			if s.Index == nil || s.Index.Kind() != index.BinIVFFlat || s.Rows != c.Rows {
				t.Fatalf("%s: %d rows, refused: %v", c.Name, s.Rows, s.IndexErr)
			}
			sameVectors(t, []*segment.Segment{s})
			o := segment.Milvus(2, 3)
			searcher, err := s.Index.NewSearcher(index.Options{Library: o.Library})
			if err != nil {
				t.Fatal(err)
			}
			for _, search := range c.Searches {
				if search.Radius != nil {
					continue
				}
				p := search.params(s.Rows)
				for i, q := range c.Queries {
					query, err := hex.DecodeString(q)
					if err != nil {
						t.Fatal(err)
					}
					hits, _, err := searcher.Search(query, p, nil)
					if err != nil {
						t.Fatal(err)
					}
					if d := gocmp.Diff(search.wantHits(i), hits); d != "" {
						t.Errorf("%s %v, query %d: %s", c.Name, &search, i, d)
					}
				}
			}
		}
	}
}
