package segment_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/goldentest"
	"kitescope/engine/index"
	"kitescope/engine/segment"
)

// TestSegmentsWithGraphsOverCodesAnswerAsKnowhere puts graphs over codes that knowhere 2.5.6 wrote behind the insert logs of their vectors: a
// segment finds the hits that knowhere found (engine/index/testdata/graphs), by vectors of float32 and, where codes are half precision, by those.
func TestSegmentsWithGraphsOverCodesAnswerAsKnowhere(t *testing.T) {
	var g struct {
		Files []struct {
			Name                string
			Dim                 int
			Rows, Queries, File []byte
			Searches            []struct {
				K, EF     int
				Refine    float32
				Filter    string
				Radius    *float32
				Counts    []int
				IDs, Bits []byte
			}
		}
	}
	goldentest.ReadJSON(t, "../index/testdata/graphs/knowhere.json.gz", &g)
	segments, answers := 0, 0
	for i, c := range g.Files {
		values, queries := vectorsOf(c.Rows, c.Dim), vectorsOf(c.Queries, c.Dim)
		r := &rows{values: values}
		for j := range values {
			r.keys = append(r.keys, int64(j))
		}
		m := memory{}
		m.insert(t, int64(i+1), r)
		of := schema
		if of.Metric = dist.L2; strings.Contains(c.Name, "_IP_") {
			of.Metric = dist.InnerProduct
		} else if strings.Contains(c.Name, "_COSINE_") {
			of.Metric = dist.Cosine
		}
		m.index(t, int64(i+1), 50, vectorField, "HNSW_"+c.Name[:strings.IndexByte(c.Name, '_')], c.File)
		s, err := openOne(t, m, int64(i+1), of, nil)
		if err != nil || s.Refused != nil {
			t.Fatalf("%s: %v, refused: %v", c.Name, err, s.Refused)
		}
		if s.Share(); s.Vectors.Rows != len(values) || s.Vectors.Element != dist.Float32 {
			t.Fatalf("%s: %d vectors of %s", c.Name, s.Vectors.Rows, s.Vectors.Element)
		}
		p, err := segment.NewProbe(s, segment.Milvus(2, 5))
		if err != nil {
			t.Fatal(err)
		}
		segments++
		for _, w := range c.Searches {
			if w.Filter != "" || w.Radius != nil {
				continue
			}
			at := 0
			for j, n := range w.Counts {
				// Nothing is filtered, and where a segment's bits of deletes are there knowhere compares all rows if a walk finds few.
				params := segment.Params{K: w.K, SearchParams: engine.SearchParams{EF: w.EF, RefineK: w.Refine}}
				hits, _, err := p.Search(unsafe.Slice((*byte)(unsafe.Pointer(&queries[j][0])), 4*c.Dim), params, nil, nil)
				if err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				for k := range n {
					want := engine.Hit{ID: int64(binary.LittleEndian.Uint32(w.IDs[4*(at+k):])), Distance: math.Float32frombits(binary.LittleEndian.Uint32(w.Bits[4*(at+k):]))}
					if len(hits) < n || hits[k] != want {
						t.Fatalf("%s, k %d, query %d: %v, hit %d is %v there", c.Name, w.K, j, hits, k, want)
					}
				}
				at += n
				answers++
			}
		}
	}
	if segments < 40 || answers < 200 {
		t.Errorf("%d segments, %d answers", segments, answers)
	}
}

// TestGraphsOverCodesOfHalvesTakeHalves: the index of a segment whose vectors are float16 takes queries of float16, and finds what their float32 do.
func TestGraphsOverCodesOfHalvesTakeHalves(t *testing.T) {
	var g struct {
		Files []struct {
			Name          string
			Dim           int
			Queries, File []byte
		}
	}
	goldentest.ReadJSON(t, "../index/testdata/graphs/knowhere.json.gz", &g)
	seen := 0
	for _, c := range g.Files {
		if !strings.HasPrefix(c.Name, "SQ_fp16") {
			continue
		}
		seen++
		wide, err := index.Parse(c.Name, c.File, index.Hint{})
		if err != nil {
			t.Fatal(err)
		}
		half, err := index.Parse(c.Name, c.File, index.Hint{Element: dist.Float16})
		if err != nil || half.Element() != dist.Float16 {
			t.Fatal(err, half.Element())
		}
		o := index.Options{Library: engine.Knowhere25, Profile: dist.Knowhere25}
		a, err := wide.NewSearcher(o)
		if err != nil {
			t.Fatal(err)
		}
		b, err := half.NewSearcher(o)
		if err != nil {
			t.Fatal(err)
		}
		short := make([]byte, 2*c.Dim)
		long := make([]byte, 4*c.Dim)
		for i := range c.Dim {
			h := dist.NarrowFloat16(math.Float32frombits(binary.LittleEndian.Uint32(c.Queries[4*i:])))
			binary.LittleEndian.PutUint16(short[2*i:], h)
			binary.LittleEndian.PutUint32(long[4*i:], math.Float32bits(dist.WidenFloat16(h)))
		}
		want, _, err := a.Search(long, index.Params{K: 9, SearchParams: engine.SearchParams{EF: 20}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := b.Search(short, index.Params{K: 9, SearchParams: engine.SearchParams{EF: 20}}, nil)
		if err != nil || len(got) == 0 || len(got) != len(want) {
			t.Fatal(err, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: hit %d is %v, of float32 %v", c.Name, i, got[i], want[i])
			}
		}
	}
	if seen == 0 {
		t.Error("no codes of halves")
	}
}

func vectorsOf(b []byte, dim int) (list [][]float32) {
	for ; len(b) > 0; b = b[4*dim:] {
		v := make([]float32, dim)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		list = append(list, v)
	}
	return list
}
