package flat

import (
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/goldentest"
)

// TestMatchesMilvus checks that searches return the same hits as Milvus 2.3.5 over collections with a
// single sealed segment; see testdata/milvus.py.
func TestMatchesMilvus(t *testing.T) {
	var searches []struct {
		Name, Metric  string
		Dim, K        int
		Rows, Queries []byte
		golden
	}
	goldentest.ReadJSON(t, "testdata/milvus-2.3.5.json.gz", &searches)
	for _, m := range searches {
		element, metric := dist.Float32, dist.L2
		if m.Metric == "JACCARD" {
			element, metric = dist.Bit, dist.Jaccard
		}
		size := element.Bytes(m.Dim)
		rows, err := engine.View(element, m.Dim, len(m.Rows)/size, size, m.Rows)
		if err != nil {
			t.Fatal(err)
		}
		queries, err := engine.View(element, m.Dim, len(m.Queries)/size, size, m.Queries)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(&Index{Vectors: rows, Metric: metric}, Options{Library: engine.Knowhere22})
		if err != nil {
			t.Fatal(err)
		}
		for i := range queries.Rows {
			hits, err := s.Search(queries.Row(i), Params{K: m.K}, nil)
			if err != nil {
				t.Fatal(err)
			}
			m.compare(t, i, hits, 0)
		}
	}
}
