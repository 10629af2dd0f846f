package replay_test

import (
	"math/rand/v2"
	"testing"

	"kitescope/engine"
	"kitescope/replay"
	"kitescope/replay/log"
)

// TestSingles compares Singles with a list of all vectors that random logs use.
func TestSingles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	values := make([]float32, 50)
	for i := range values {
		values[i] = float32(i)
	}
	vectors, err := engine.FromFloat32s(1, values)
	if err != nil {
		t.Fatal(err)
	}
	type asked struct {
		vector float32
		expr   string
	}
	for range 500 {
		l := &log.Log{Name: "random", Vectors: vectors}
		var all []asked
		for range r.IntN(12) {
			q := log.Request{First: r.IntN(40), NQ: r.IntN(10)} // a vector may be used more than once
			if r.IntN(2) == 0 {
				q.Filter = &log.Filter{Expr: string(rune('a' + r.IntN(26)))}
			}
			for v := q.First; v < q.First+q.NQ; v++ {
				one := asked{vector: float32(v)}
				if q.Filter != nil {
					one.expr = q.Filter.Expr
				}
				all = append(all, one)
			}
			l.Requests = append(l.Requests, q)
		}
		most := r.IntN(80)
		got, err := replay.Singles(l, most)
		if err != nil {
			t.Fatal(err)
		}
		n := min(most, len(all))
		if len(got) != n {
			t.Fatalf("%d of at most %d of %d vectors", len(got), most, len(all))
		}
		for i, q := range got {
			want := all[i*len(all)/n]
			if q.Number != i || q.Vectors.Rows != 1 || q.Vectors.Float32(0)[0] != want.vector || q.Expr != want.expr {
				t.Fatalf("%d of %d: %+v, want %+v", i, n, q, want)
			}
		}
	}
}
