package ivf

import (
	"context"
	"math/rand/v2"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
)

// TestAllRowsAreNotTooMany: a refinement that is asked for the truth wants all rows of its lists, however many there are.
func TestAllRowsAreNotTooMany(t *testing.T) {
	const rows = flat.MaxK + 20
	r := rand.New(rand.NewPCG(9, 1))
	v, err := engine.NewVectors(dist.Float32, 2, rows)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Release()
	for i := range rows {
		row := dist.Floats(v.Row(i))
		row[0], row[1] = r.Float32(), r.Float32()
	}
	x, err := Build(context.Background(), v, BuildOptions{Metric: dist.L2, Lists: 4, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(x, Options{})
	if err != nil {
		t.Fatal(err)
	}
	hits, err := s.Search(v.Row(7), Params{K: rows, NProbe: 4}, nil)
	if err != nil || len(hits) != rows {
		t.Errorf("%d hits of %d rows: %v", len(hits), rows, err)
	}
	if _, err := s.Search(v.Row(7), Params{K: rows + 1, NProbe: 4}, nil); err == nil {
		t.Error("more hits than rows: no error")
	}
}
