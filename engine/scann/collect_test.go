package scann

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCollectorsKeepTheBest: of sums with many ties the k best are kept, whatever keeps them, each with its own id.
func TestCollectorsKeepTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for round := range 600 {
		k, n, spread := 1+r.IntN(90), r.IntN(900), 1+r.IntN(1<<(1+round%15))
		c := collector{similarity: round%2 == 1}
		c.reset(k)
		var sums []uint16
		for i := range n {
			// One less than the neutral sum of either side: that never enters.
			s := uint16(1 + r.IntN(spread))
			sums = append(sums, s)
			c.add(s, int64(i))
		}
		distances, ids := make([]float32, k), make([]int64, k)
		c.hits(distances, ids, func(sum float32) float32 { return sum })
		want := slices.Clone(sums)
		slices.Sort(want)
		if c.similarity {
			slices.Reverse(want)
		}
		for i, id := range ids {
			switch {
			case i >= n:
				if id != vacant {
					t.Fatalf("k %d of %d: hit %d is %d", k, n, i, id)
				}
			case id == vacant || float32(sums[id]) != distances[i] || sums[id] != want[i]:
				t.Fatalf("k %d of %d, similarity %v: hit %d is %d at %g, want %d", k, n, c.similarity, i, id, distances[i], want[i])
			case slices.Contains(ids[:i], id):
				t.Fatalf("%d is there twice", id)
			}
		}
	}
}

func TestIntrosortSorts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 300 {
		keys, a := make([]int, n), make([]int, n)
		for i := range a {
			keys[i], a[i] = r.IntN(1+n/3), i
		}
		if n%3 == 0 {
			slices.Sort(keys)
		}
		introsort(a, func(x, y int) bool { return keys[x] < keys[y] })
		if !slices.IsSortedFunc(a, func(x, y int) int { return keys[x] - keys[y] }) {
			t.Fatalf("%d entries are not sorted", n)
		}
		slices.Sort(a)
		for i, v := range a {
			if i != v {
				t.Fatalf("of %d entries %d was lost", n, i)
			}
		}
	}
}

// TestTableOfOneValueSaysNothing: a table without any spread, or with what is no number, is rounded to something.
func TestTableOfOneValueSaysNothing(t *testing.T) {
	nan := float32(math.NaN())
	for _, v := range []float32{0, 3, nan, float32(math.Inf(1))} {
		r := rounded{entries: make([]uint8, 2*values)}
		table := make([]float32, 2*values)
		for i := range table {
			table[i] = v
		}
		r.round(table)
		for _, e := range r.entries {
			if e != 0 {
				t.Errorf("%g: %v", v, r.entries)
				break
			}
		}
	}
}
