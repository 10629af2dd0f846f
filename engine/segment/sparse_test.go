package segment_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/binlog/binlogtest"
	"kitescope/engine/dist"
	"kitescope/engine/goldentest"
	"kitescope/engine/index"
	"kitescope/engine/segment"
	"kitescope/engine/segment/segmenttest"
	"kitescope/engine/sparse"
)

// sparseTruth is the folder of knowhere's files and answers (engine/index/testdata/sparse/README.md).
const sparseTruth = "../index/testdata/sparse"

// insertSparse writes insert logs with sparse vectors. Their keys are 1000 plus the row number.
func (m memory) insertSparse(t *testing.T, id int64, v *engine.Vectors) {
	t.Helper()
	keys := make([]int64, v.Rows)
	for i := range keys {
		keys[i] = 1000 + int64(i)
	}
	for _, c := range []*binlog.Column{
		{Descriptor: binlog.Descriptor{Field: keyField, Type: binlog.Int64}, Int64s: keys},
		{
			Descriptor: binlog.Descriptor{Field: segment.TimestampField, Type: binlog.Int64},
			Int64s:     slices.Repeat([]int64{epoch}, v.Rows),
		},
		{Descriptor: binlog.Descriptor{Field: vectorField, Type: binlog.SparseFloatVector}, Vectors: v},
	} {
		c.Rows = v.Rows
		var b bytes.Buffer
		if err := binlogtest.WriteColumn(&b, c); err != nil {
			t.Fatal(err)
		}
		m[fmt.Sprintf("insert_log/1/2/%d/%d/7", id, c.Field)] = b.Bytes()
	}
}

// TestSparseSegments searches segments of sparse vectors, by index and row by row, and compares the hits with
// knowhere's.
func TestSparseSegments(t *testing.T) {
	var truth struct {
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
	goldentest.ReadJSON(t, sparseTruth+"/truth.json.gz", &truth)
	open := map[string]*segment.Segment{}
	asked := map[string]int{}
	for _, s := range truth.Searches {
		if s.Library == "rows" || s.Ratio > 0 && s.Ratio < 1 ||
			s.Queries == "signed" && (s.Algorithm != "TAAT_NAIVE" || s.Library != "knowhere-2.3") {
			continue // nodes build lists from rows; bounded walks over negative values are approximate
		}
		metric := dist.InnerProduct
		if s.Metric == "BM25" {
			metric = dist.BM25
		}
		name := s.File + s.Metric
		g := open[name]
		if g == nil {
			var list [][2][]float64
			goldentest.ReadJSON(t, sparseTruth+"/"+s.Queries+".rows.json.gz", &list)
			m := memory{}
			m.insertSparse(t, 3, goldentest.SparseVectors(t, list))
			blob, err := os.ReadFile(filepath.Join(sparseTruth, s.File))
			if err != nil {
				t.Fatal(err)
			}
			m.index(t, 3, 50, vectorField, index.SparseInverted, blob)
			if g, err = openOne(t, m, 3, segment.Schema{PrimaryKey: keyField, Vector: vectorField, Metric: metric},
				nil); err != nil {
				t.Fatal(err)
			}
			if open[name] = g; g.Index == nil {
				t.Fatalf("%s: index %v, %v", s.File, g.Index, g.IndexErr)
			}
		}
		o := segment.Milvus(2, 6)
		if l, ok := engine.ParseLibrary(s.Library); ok {
			o.Library = l
		}
		if metric == dist.BM25 {
			o.BM25 = &sparse.BM25{K1: s.K1, B: s.B, AvgDL: s.Avgdl}
		}
		p, err := segment.NewProbe(g, o)
		if err != nil {
			t.Fatal(err)
		}
		var filter *engine.Bitset
		if s.Filter != nil {
			filter = engine.NewBitset(g.Rows)
			for _, id := range s.Filter {
				filter.Set(id)
			}
		}
		queries := goldentest.SparseVectors(t, truth.Queries[s.Queries])
		asked[s.Library]++
		params := segment.Params{
			K: s.K,
			SearchParams: engine.SearchParams{
				SparseParams: engine.SparseParams{
					DropRatio: s.Drop, RefineFactor: s.Refine, MaxScoreRatio: s.Ratio, AvgDL: s.Now,
				},
			},
		}
		for q := range s.IDs {
			hits, _, err := p.Search(queries.Row(q), params, filter, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := goldentest.Hits(s.IDs[q], s.Bits[q]); !goldentest.AlmostEqual(hits, want, 1e-6) {
				t.Fatalf("%s of %s, query %d: %v, knowhere has %v", s.Library, s.File, q, hits, s.IDs[q])
			}
		}
	}
	if asked["knowhere-2.3"] == 0 || asked["knowhere-2.6"] == 0 {
		t.Error(asked)
	}
}

// byKey returns hits with row numbers as ids. The keys are 1000 plus the row number.
func byKey(hits []segment.Hit) []engine.Hit {
	list := make([]engine.Hit, len(hits))
	for i, h := range hits {
		list[i] = engine.Hit{ID: h.Key().Number - 1000, Distance: h.Distance}
	}
	return list
}

// TestLiteAnswers compares hits with the hits of the server in milvus-lite 2.5.1 (testdata/lite.py). Ties are
// sorted by key.
func TestLiteAnswers(t *testing.T) {
	var said struct {
		Rows, Queries [][2][]float64
		Searches      []struct {
			Drop float32
			IDs  [][]int64
			Bits [][]uint32
		}
	}
	goldentest.ReadJSON(t, "testdata/lite/sparse.json.gz", &said)
	m := memory{}
	m.insertSparse(t, 3, goldentest.SparseVectors(t, said.Rows))
	g, err := openOne(t, m, 3, segment.Schema{PrimaryKey: keyField, Vector: vectorField, Metric: dist.InnerProduct},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := segmenttest.NewSearcher([]*segment.Segment{g}, segment.Milvus(2, 5))
	if err != nil {
		t.Fatal(err)
	}
	queries := goldentest.SparseVectors(t, said.Queries)
	for _, search := range said.Searches {
		for q := range search.IDs {
			hits, _, err := s.Search(queries.Row(q), segment.Params{
				K: 10, SearchParams: engine.SearchParams{SparseParams: engine.SparseParams{DropRatio: search.Drop}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := byKey(hits), goldentest.Hits(search.IDs[q], search.Bits[q]); !goldentest.AlmostEqual(got,
				want, 1e-6) {
				t.Fatalf("query %d: %v, Milvus has %v", q, got, want)
			}
		}
	}
}

// TestLiteBM25 compares text searches with the same server's. It weights words like the server's shard leader (idf
// of internal/util/function/bm25 and IDFOracle in internal/querynodev2/delegator).
func TestLiteBM25(t *testing.T) {
	var said struct {
		Rows, Queries [][2][]float64
		IDs           [][]int64
		Bits          [][]uint32
	}
	goldentest.ReadJSON(t, "testdata/lite/bm25.json.gz", &said)
	rowsWith := map[float64]float64{}
	for _, row := range said.Rows {
		for _, d := range row[0] {
			rowsWith[d]++
		}
	}
	for _, q := range said.Queries {
		for i, d := range q[0] {
			q[1][i] *= float64(float32(math.Log(1 + (float64(len(said.Rows))-rowsWith[d]+0.5)/(rowsWith[d]+0.5))))
		}
	}
	m := memory{}
	m.insertSparse(t, 3, goldentest.SparseVectors(t, said.Rows))
	g, err := openOne(t, m, 3, segment.Schema{PrimaryKey: keyField, Vector: vectorField, Metric: dist.BM25}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := segmenttest.NewSearcher([]*segment.Segment{g}, segment.Milvus(2, 5))
	if err != nil {
		t.Fatal(err)
	}
	queries := goldentest.SparseVectors(t, said.Queries)
	for q := range said.IDs {
		hits, _, err := s.Search(queries.Row(q), segment.Params{
			K:            8,
			SearchParams: engine.SearchParams{SparseParams: engine.SparseParams{AvgDL: sparse.MeanLength(g.Vectors)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := byKey(hits), goldentest.Hits(said.IDs[q], said.Bits[q]); !goldentest.AlmostEqual(got, want,
			1e-6) {
			t.Fatalf("query %d: %v, Milvus has %v", q, got, want)
		}
	}
}
