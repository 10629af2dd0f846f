package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// leaves returns the fields of p, with the fields of embedded structs in place.
func leaves(p *SearchParams) (list []reflect.Value) {
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		for _, f := range v.Fields() {
			if f.Kind() == reflect.Struct {
				walk(f)
			} else {
				list = append(list, f)
			}
		}
	}
	walk(reflect.ValueOf(p).Elem())
	return list
}

// TestEachFieldIsAParameter checks that each field of SearchParams has exactly one entry in searchParams. A field
// without one would never be read.
func TestEachFieldIsAParameter(t *testing.T) {
	seen, names := make([]int, len(leaves(new(SearchParams)))), map[string]bool{}
	for f := range EachSearchParam() {
		for _, name := range []string{"key " + f.Key, "flag " + f.Flag} {
			if names[name] && name != "flag " {
				t.Errorf("%s is there twice", name)
			}
			names[name] = true
		}
		if SearchParamOf(f.Key) != f || f.Key == "" || (f.Flag == "") != (f.Help == "") ||
			f.ReplayHelp != "" && f.Flag == "" {
			t.Errorf("%+v", f)
		}
		var p SearchParams
		f.Set(&p, 3)
		if x, set := f.Get(&p); !set || x != 3 || p.Words() != f.Key+" 3" {
			t.Errorf("%s: %v, %t, %q after 3 was set", f.Key, x, set, p.Words())
		}
		for i, v := range leaves(&p) {
			if !v.IsZero() {
				seen[i]++
			}
		}
	}
	for i, n := range seen {
		if n != 1 {
			t.Errorf("field %d of SearchParams belongs to %d parameters", i, n)
		}
	}
	if SearchParamOf("k") != nil || SearchParamOf("") != nil {
		t.Error("a parameter that nobody has")
	}
}

// TestSearchParamsOr compares Or with a field-by-field merge of random parameters.
func TestSearchParamsOr(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func() (p SearchParams) {
		for f := range EachSearchParam() {
			if r.IntN(2) == 0 {
				f.Set(&p, float64(r.IntN(3)))
			}
		}
		return p
	}
	for range 1000 {
		p, q := some(), some()
		want, got := p, p.Or(q)
		w, from, is := leaves(&want), leaves(&q), leaves(&got)
		for i := range w {
			if w[i].IsZero() {
				w[i].Set(from[i])
			}
			if !reflect.DeepEqual(w[i].Interface(), is[i].Interface()) {
				t.Fatalf("%q or %q is %q", p.Words(), q.Words(), got.Words())
			}
		}
	}
}

func TestSearchParamRanges(t *testing.T) {
	p := SearchParams{EF: 64, SparseParams: SparseParams{DropRatio: 0.1, RefineFactor: 1_000_000}}
	if got, want := p.Words(), "ef 64, drop_ratio_search 0.1, refine_factor 1000000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for key, want := range map[string]string{"refine_factor": fmt.Sprint("1 to ", MaxRefineFactor)} {
		if got := SearchParamOf(key).Range; got != want {
			t.Errorf("%s must be %s, want %s", key, got, want)
		}
	}
	for key, takes := range map[string][]float64{
		"ef": {0, 1, math.MaxInt32}, "drop_ratio_search": {0, 0.99}, "dim_max_score_ratio": {0, 0.5, 1.3},
		"refine_factor": {0, 1, MaxRefineFactor},
	} {
		for _, x := range takes {
			if !SearchParamOf(key).Accepts(x) {
				t.Errorf("%s does not take %g", key, x)
			}
		}
	}
	for key, refuses := range map[string][]float64{
		"nprobe": {-1, math.MaxInt32 + 1, math.NaN()}, "drop_ratio_search": {1, -0.1},
		"dim_max_score_ratio": {0.4, 1.4}, "refine_factor": {-1, MaxRefineFactor + 1},
	} {
		for _, x := range refuses {
			if SearchParamOf(key).Accepts(x) {
				t.Errorf("%s takes %g", key, x)
			}
		}
	}
}
