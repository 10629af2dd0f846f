package pgo

import (
	"math"
	"math/rand/v2"
	"slices"
)

// splits is how many times so many calls of samples are dealt out at random, of which the median is taken: of few
// samples the chance is larger, and the work less.
func splits(calls int) int {
	const few, many, work = 5, 25, 5_000_000
	return max(few, min(many, work/max(1, calls)))
}

// median is the middle one of a list, which it sorts, the lower of two.
func median(list []float64) float64 {
	slices.Sort(list)
	return list[(len(list)-1)/2]
}

// coins is how many of n coins show heads, where each does with a probability. Many are drawn at once, from the normal
// distribution that they come close to.
func coins(random *rand.Rand, n int, probability float64) int {
	const many = 1000
	if n > many {
		mean, deviation := float64(n)*probability, math.Sqrt(float64(n)*probability*(1-probability))
		return min(n, max(0, int(math.Round(mean+random.NormFloat64()*deviation))))
	}
	heads := 0
	for range n {
		if random.Float64() < probability {
			heads++
		}
	}
	return heads
}

// commonShare is the sum of the lesser of both shares.
func commonShare(a, b []float64) float64 {
	if a == nil || b == nil {
		return math.NaN()
	}
	sum := 0.0
	for i := range a {
		sum += min(a[i], b[i])
	}
	return settled(sum)
}

// settled is a sum of shares without its last digits, which depend on the order of adding.
func settled(sum float64) float64 {
	const digits = 1e9
	return min(1, math.Round(sum*digits)/digits)
}
