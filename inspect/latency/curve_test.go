package latency

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTail checks that Tail reports slow requests if the 99th percentile is far above the mean and there are
// enough requests.
func TestTail(t *testing.T) {
	b := Budget{Request: Search, Requests: 500, Ms: 20, P99: Interval{128, 256}}
	if got, want := Tail(&b),
		"1% of requests take 6.4 times the mean or more: the phases describe the other 99%; kitescope slow lists "+
			"them"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.Request = Insert
	if got, want := Tail(&b),
		"1% of requests take 6.4 times the mean or more: the phases describe the other 99%"; got != want {
		t.Errorf("of inserts %q, want %q", got, want)
	}
	for name, change := range map[string]func(*Budget){
		"few":    func(b *Budget) { b.Requests = 99 },
		"near":   func(b *Budget) { b.P99.Low = 64 },
		"no p99": func(b *Budget) { b.P99 = Interval{} },
		"none":   func(b *Budget) { b.Ms = 0 },
	} {
		x := b
		change(&x)
		if got := Tail(&x); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestMergeRows checks that mergeRows returns the same as a sort, also if the last rows are missing or shorter.
func TestMergeRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 4, 7, 8, 30, 32, 100} {
		list := make([]float64, n)
		for i := range list {
			list[i] = float64(r.IntN(20))
		}
		for row := range slices.Chunk(list, 4) {
			slices.Sort(row)
		}
		want := slices.Sorted(slices.Values(list))
		if got := mergeRows(list, make([]float64, n), 4); !slices.Equal(got, want) {
			t.Errorf("%d values: %v, want %v", n, got, want)
		}
	}
}
