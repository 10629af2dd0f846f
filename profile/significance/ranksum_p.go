package significance

import (
	"slices"

	"golang.org/x/perf/benchmath"
)

// rankSumP is the p value of the test of Mann and Whitney, of sorted values: that of benchmath, but for few values of which some are
// equal. The exact chances of those are counted here, as benchmath takes their distribution to be symmetric, which it is not
// where the sides are of unequal size: of 2 against -8, 0 and 2 it says 0.5, where every second order is as far out to that side and p is 1.
func rankSumP(x, y []float64) float64 {
	if ranks, sum, ties := sharedRanks(x, y); ties && max(len(x), len(y)) <= mostExactTied {
		return tiedRankSumP(ranks, len(x), sum)
	}
	thresholds := benchmath.DefaultThresholds
	before, after := benchmath.NewSample(slices.Clone(x), &thresholds), benchmath.NewSample(slices.Clone(y), &thresholds)
	return min(1, benchmath.AssumeNothing.Compare(before, after).P)
}

// sharedRanks are the ranks of both together, doubled so that those that are shared are whole, the sum of those of x, and whether
// any are shared.
func sharedRanks(x, y []float64) (ranks []int, sum int, ties bool) {
	for i, j := 0, 0; i < len(x) || j < len(y); {
		var least float64
		if j == len(y) || i < len(x) && x[i] <= y[j] {
			least = x[i]
		} else {
			least = y[j]
		}
		from, mine := i+j, i
		for i < len(x) && x[i] == least {
			i++
		}
		for j < len(y) && y[j] == least {
			j++
		}
		ties = ties || i+j-from > 1
		sum += (i - mine) * (from + i + j + 1)
		for range i + j - from {
			ranks = append(ranks, from+i+j+1)
		}
	}
	return ranks, sum, ties
}

// tiedRankSumP counts in how many ways n of the ranks can be taken, and in how many of those their sum is as far out.
func tiedRankSumP(ranks []int, n, sum int) float64 {
	most := 0
	for _, r := range ranks[len(ranks)-n:] {
		most += r
	}
	ways := make([][]float64, n+1) // by how many are taken, and their sum
	for k := range ways {
		ways[k] = make([]float64, most+1)
	}
	ways[0][0] = 1
	for i, r := range ranks {
		for k := min(i+1, n); k > 0; k-- {
			for s := r; s <= most; s++ {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	below, above := sumOf(ways[n][:sum+1]), sumOf(ways[n][sum:])
	return min(1, 2*min(below, above)/sumOf(ways[n]))
}
