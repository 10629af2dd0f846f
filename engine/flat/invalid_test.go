package flat

import (
	"math"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
)

func TestInvalidIndex(t *testing.T) {
	f, _ := engine.NewVectors(dist.Float32, 4, 10)
	b, _ := engine.NewVectors(dist.Bit, 32, 10)
	tests := []struct {
		index  *Index
		policy engine.Library
		want   string
	}{
		{&Index{}, engine.Faiss, "without vectors"},
		{&Index{Vectors: f, Metric: dist.Hamming}, engine.Knowhere22, "need bits"},
		{&Index{Vectors: b, Metric: dist.L2}, engine.Knowhere22, "need bits"},
		{&Index{Vectors: b, Metric: dist.Jaccard + 1}, engine.Knowhere22, "substructure and superstructure"},
		{&Index{Vectors: b, Metric: dist.Hamming}, engine.HNSWLib, "hnswlib"},
		{&Index{Vectors: f, Metric: dist.Cosine}, engine.Faiss, "no cosine"},
		{&Index{Vectors: f, Norms: make([]float32, 9)}, engine.Faiss, "9 norms for 10 rows"},
		{&Index{Vectors: f, Labels: make([]int64, 11)}, engine.Faiss, "11 labels for 10 rows"},
		{&Index{Vectors: f, Deleted: engine.NewBitset(9)}, engine.Faiss, "9 deletion marks"},
	}
	for _, test := range tests {
		if _, err := New(test.index, Options{Library: test.policy}); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.index, err, test.want)
		}
	}
	s, err := New(&Index{Vectors: f}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := f.Row(0)
	for _, p := range []Params{{K: 0}, {K: MaxK + 1}, {K: 1, Filter: engine.NewBitset(9)}} {
		if _, err := s.Search(q, p, nil); err == nil {
			t.Errorf("%+v: no error", p)
		}
		if _, err := s.SearchBatch(f, p, 1); err == nil {
			t.Errorf("%+v: no error", p)
		}
	}
	if batch, err := s.SearchBatch(f, Params{K: 1}, math.MaxInt); err != nil || len(batch) != f.Rows {
		t.Errorf("a batch by any number of threads: %d answers, %v", len(batch), err)
	}
	if _, err := s.Search(q[:12], Params{K: 1}, nil); err == nil {
		t.Error("a short query: no error")
	}
	if _, err := s.SearchBatch(b, Params{K: 1}, 1); err == nil {
		t.Error("queries of bits: no error")
	}
}
