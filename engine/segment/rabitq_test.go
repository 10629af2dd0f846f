package segment_test

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/goldentest"
	"kitescope/engine/index"
	"kitescope/engine/segment"
)

// TestRaBitQSegments asks segments of IVF_RABITQ what knowhere was asked (engine/index/testdata/rabitq): rows that were inserted, the index in a file of
// Milvus, cosine known from the schema.
func TestRaBitQSegments(t *testing.T) {
	var truth struct {
		Rows  map[string][]byte
		Files []struct {
			Name, Library, Metric, Rows string
			Dim                         int
			Queries, File               []byte
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
	goldentest.ReadJSON(t, "../index/testdata/rabitq/truth.json.gz", &truth)
	answers := 0
	for _, c := range truth.Files {
		if c.Library != "knowhere-2.6" {
			continue
		}
		metric, err := dist.ParseMetric(c.Metric)
		if err != nil {
			t.Fatal(err)
		}
		bytes := truth.Rows[c.Rows]
		values := unsafe.Slice((*float32)(unsafe.Pointer(&bytes[0])), len(bytes)/4)
		r := &rows{}
		for i := range len(values) / c.Dim {
			r.keys, r.values = append(r.keys, 1000+int64(i)), append(r.values, values[i*c.Dim:(i+1)*c.Dim])
		}
		m := memory{}
		m.insert(t, 3, r)
		m.index(t, 3, 50, vectorField, index.IVFRaBitQ, c.File)
		g, err := openOne(t, m, 3, segment.Schema{PrimaryKey: keyField, Vector: vectorField, Metric: metric}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if g.Index == nil || g.Index.Kind() != index.IVFRaBitQ {
			t.Fatalf("%s: index %v, %v", c.Name, g.Index, g.Refused)
		}
		coded(t, g)
		p, err := segment.NewProbe(g, segment.Milvus(2, 6))
		if err != nil {
			t.Fatal(err)
		}
		third := engine.NewBitset(g.Rows)
		for i := 0; i < g.Rows; i += 3 {
			third.Set(i)
		}
		for _, s := range c.Searches {
			if s.Radius != nil { // replays have none
				continue
			}
			params := segment.Params{K: s.K, SearchParams: engine.SearchParams{NProbe: s.NProbe, QueryBits: s.QueryBits}}
			var filter *engine.Bitset
			if s.Filter {
				filter = third
			}
			for i, want := range s.Answers {
				hits, _, err := p.Search(c.Queries[4*c.Dim*i:][:4*c.Dim], params, filter, nil)
				if err != nil {
					t.Fatal(err)
				}
				ids, bits := []int64{}, []uint32{}
				for _, h := range hits {
					ids, bits = append(ids, h.ID), append(bits, math.Float32bits(h.Distance))
				}
				if !slices.Equal(ids, want.IDs) || !slices.Equal(bits, want.Bits) {
					t.Fatalf("%s, %+v, query %d: %v %x, not %v %x", c.Name, params, i, ids, bits, want.IDs, want.Bits)
				}
				answers++
			}
		}
	}
	if answers < 300 {
		t.Errorf("%d answers", answers)
	}
}
