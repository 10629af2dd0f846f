package significance

import (
	"math"
	"slices"
)

// mostExactRuns is up to how many values a side chances are added up exactly, mostExactTied that where some are equal. They are
// those of golang.org/x/perf/benchmath.
const (
	mostExactRuns = 50
	mostExactTied = 25
)

// RankSum tests whether values after lie elsewhere than those before, where nothing belongs together: the test of
// Mann and Whitney ("On a test of whether one of two random variables is stochastically larger than the other", Annals of
// Mathematical Statistics 18, 1947), two-sided, through golang.org/x/perf/benchmath. Equal values share their ranks. Values have to be finite.
//
// By is the median of all differences of one after and one before. The interval is that of the test without ties: where there are some, it
// may reach to 0 though the test comes out.
func RankSum(before, after []float64) Shift {
	n1, n2 := len(before), len(after)
	if n1 == 0 || n2 == 0 {
		return unknownShift()
	}
	x, y := slices.Sorted(slices.Values(before)), slices.Sorted(slices.Values(after))
	s := Shift{By: medianOf(gaps{x, y}), Low: math.NaN(), High: math.NaN(), P: rankSumP(x, y)}
	if out := rankSumOut(n1, n2, (1-Confidence)/2); out >= 0 {
		s.Low, s.High = ranked(gaps{x, y}, out+1), ranked(gaps{x, y}, int64(n1)*int64(n2)-out)
	}
	return s
}

// rankSumOut is the greatest U, of n1 and n2 values without ties, that chance reaches or stays below in no more than a part
// tail of all cases; -1 if there is none.
func rankSumOut(n1, n2 int, tail float64) int64 {
	if max(n1, n2) > mostExactRuns {
		a, b := float64(n1), float64(n2)
		out := math.Floor(a*b/2 - 0.5 - normalQuantile(1-tail)*math.Sqrt(a*b*(a+b+1)/12))
		return int64(max(-1, out))
	}
	return lastWithin(rankSumChances(n1, n2), tail)
}

// rankSumChances are the chances of U from 0 to its middle. The ways to come to each are the coefficients of the
// Gaussian binomial (n1+n2 over n1), section 26.9 of the Digital Library of Mathematical Functions.
func rankSumChances(n1, n2 int) []float64 {
	ways := make([]float64, n1*n2/2+1)
	ways[0] = 1
	for i := 1; i <= min(n1, n2); i++ {
		for u, by := len(ways)-1, max(n1, n2)+i; u >= by; u-- {
			ways[u] -= ways[u-by]
		}
		for u := i; u < len(ways); u++ {
			ways[u] += ways[u-i]
		}
	}
	all := orders(n1, n2)
	for u := range ways {
		ways[u] /= all
	}
	return ways
}

// orders is in how many orders n1 and n2 values can stand, exactly as long as a float holds it.
func orders(n1, n2 int) float64 {
	n := 1.0
	for i := 1; i <= min(n1, n2) && !math.IsInf(n, 1); i++ {
		n = n * float64(max(n1, n2)+i) / float64(i)
	}
	return n
}

// RankSumLeastP is the least p value that n1 and n2 values can have, which is that of sides that do not overlap.
func RankSumLeastP(n1, n2 int) float64 {
	if n1 <= 0 || n2 <= 0 {
		return 1
	}
	return min(1, 2/orders(n1, n2))
}
