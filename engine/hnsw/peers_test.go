package hnsw_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/goldentest"
	"kitescope/engine/hnsw"
)

var knowhere = flag.String("knowhere", "testdata/knowhere", "a folder with indexes of knowhere and what it answered")

// peerCase is an index built by hnswlib or faiss, with the results of its searches (testdata/peers.py).
type peerCase struct {
	Library, Metric string
	Dim, Queries    int
	Searches        []peerSearch
}

type peerSearch struct {
	K, EF  int
	Filter []int    // rows with row % [0] >= [1] are excluded
	Radius *float32 // range search: not compared
	Ragged bool     // the number of hits differs between queries
	Warm   bool     // second run with entry points of the first: not compared
}

var metrics = map[string]engine.Metric{"l2": dist.L2, "ip": dist.InnerProduct, "cosine": dist.Cosine}

func TestSearchMatchesPeers(t *testing.T) {
	t.Parallel()
	testPeers(t, "testdata/golden", 0)
}

// TestSearchMatchesKnowhere compares with results of programs that wrap knowhere's hnswalg.h, v2.2.3 and
// v2.3.12, on an index that it built itself.
func TestSearchMatchesKnowhere(t *testing.T) {
	t.Parallel()
	testPeers(t, *knowhere, 0)
}

func testPeers(t *testing.T, dir string, slack float64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(names) < 8 {
		t.Fatalf("%d cases in %s: %v", len(names), dir, err)
	}
	for _, name := range names {
		name = strings.TrimSuffix(name, ".json")
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			testPeer(t, name, slack)
		})
	}
}

// testPeer compares hits with a library's. If slack is 0, they must be equal to the bit. Otherwise nearly all
// queries must match; a few may not, because after a near tie a walk over the graph can take another path.
func testPeer(t *testing.T, name string, slack float64) {
	t.Helper()
	var c peerCase
	header, err := os.ReadFile(name + ".json")
	if err == nil {
		err = json.Unmarshal(header, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	x, policy := readPeer(t, name+".index", &c)
	if x.Metric != metrics[c.Metric] {
		t.Fatalf("metric %d, want %s", x.Metric, c.Metric)
	}
	s, err := x.NewSearcher(hnsw.Options{Library: policy})
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, name+".answers")
	queries := f.f32s(c.Queries * c.Dim)
	compared, differ := 0, 0
	for _, search := range c.Searches {
		var got [][]engine.Hit
		for i := 0; i < c.Queries && search.Radius == nil; i++ {
			got = append(got, search.run(t, s, queries[i*c.Dim:(i+1)*c.Dim], x.Vectors.Rows))
		}
		for i, want := range search.wantHits(f, c.Queries) {
			if search.Warm || search.Radius != nil {
				continue
			}
			compared++
			if slack > 0 {
				if !goldentest.AlmostEqual(got[i], want, slack) {
					differ++
				}
			} else if !sameBits(want, got[i]) {
				t.Fatalf("query %d of %+v (-want +got):\n%s", i, search, cmp.Diff(want, got[i]))
			}
		}
	}
	if differ*50 > compared {
		t.Errorf("%d of %d answers differ", differ, compared)
	}
	if f.at != len(f.data) {
		t.Fatalf("%d bytes of answers are left", len(f.data)-f.at)
	}
}

func readPeer(t *testing.T, name string, c *peerCase) (*hnsw.Index, engine.Library) {
	t.Helper()
	switch c.Library {
	case "faiss":
		return readFaiss(t, name), engine.Faiss
	case "knowhere22":
		return readKnowhere(t, open(t, name).data), engine.Knowhere22
	case "knowhere23":
		return readKnowhere(t, open(t, name).data), engine.Knowhere23
	}
	return readHNSWLib(t, name, metrics[c.Metric]), engine.HNSWLib
}

func (search *peerSearch) run(t *testing.T, s *hnsw.Searcher, query []float32, rows int) []engine.Hit {
	t.Helper()
	var filter *engine.Bitset
	if search.Filter != nil {
		filter = engine.NewBitset(rows)
		for i := range rows {
			if i%search.Filter[0] >= search.Filter[1] {
				filter.Set(i)
			}
		}
	}
	hits, _, err := s.SearchFloat32(query, hnsw.Params{K: search.K, EF: max(search.EF, 1), Filter: filter}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// wantHits returns the hits of each query. Each query has K hits, unless the file holds a number of hits for each
// query.
func (search *peerSearch) wantHits(f *file, queries int) [][]engine.Hit {
	var lims []int64
	if search.Ragged || search.Radius != nil {
		lims = f.i64s(queries + 1)
	} else {
		for i := range queries + 1 {
			lims = append(lims, int64(i*search.K))
		}
	}
	ids, dis := f.i64s(int(lims[queries])), f.f32s(int(lims[queries]))
	var hits [][]engine.Hit
	for i := range queries {
		hits = append(hits, hitsOf(ids[lims[i]:lims[i+1]], dis[lims[i]:lims[i+1]]))
	}
	return hits
}

// hitsOf omits the ids of -1 with which faiss pads a list.
func hitsOf(ids []int64, dis []float32) []engine.Hit {
	var hits []engine.Hit
	for i, id := range ids {
		if id >= 0 {
			hits = append(hits, engine.Hit{ID: id, Distance: dis[i]})
		}
	}
	return hits
}

func sameBits(a, b []engine.Hit) bool {
	return slices.EqualFunc(a, b, func(a, b engine.Hit) bool {
		return a.ID == b.ID && math.Float32bits(a.Distance) == math.Float32bits(b.Distance)
	})
}
