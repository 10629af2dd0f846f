package significance

import (
	"cmp"
	"math"
	"slices"
)

// Shift is how far values lie from others, or differences from 0, and what chance alone would do.
type Shift struct {
	// By is the estimate of Hodges and Lehmann ("Estimates of location based on rank tests", Annals of Mathematical
	// Statistics 34, 1963), Low and High its 95% interval: all shifts which the test would not call different at that level.
	// NaN if unknown: there are no values, or too few for an interval.
	By, Low, High float64
	// P is the chance of such a shift, or a greater one to either side, where there is none; NaN if unknown.
	P float64
}

func unknownShift() Shift { return Shift{math.NaN(), math.NaN(), math.NaN(), math.NaN()} }

// mostExactPairs is up to how many pairs chances are added up exactly; from there on the normal approximation
// is as good, which TestSignedRankMeetsApproximation shows.
const mostExactPairs = 100

// SignedRank tests whether differences of pairs lie about 0: the signed-rank test of Wilcoxon ("Individual
// comparisons by ranking methods", Biometrics Bulletin 1, 1945), two-sided. It takes for granted that without a change a
// difference is as likely as its opposite, which is so where the order within a pair is random, whatever the noise.
//
// Differences of 0 are ranked with the others and then left out, as Pratt has it ("Remarks on zeros and ties in the
// Wilcoxon signed rank procedures", Journal of the American Statistical Association 54, 1959): leaving them out
// before, as Wilcoxon did, can make a result more significant by moving all values towards 0. Equal ones share their ranks, and chances are
// those of the ranks that there are. Differences have to be finite.
//
// By is the median of all Walsh averages, of each two differences and of each with itself. The interval is that of the test without ties: where there are
// some, it may reach to 0 though the test comes out.
func SignedRank(differences []float64) Shift {
	n := len(differences)
	if n == 0 {
		return unknownShift()
	}
	sorted := slices.Sorted(slices.Values(differences))
	s := Shift{By: medianOf(walsh{sorted}), Low: math.NaN(), High: math.NaN(), P: signedRankP(differences)}
	if out := signedRankOut(n, (1-Confidence)/2); out >= 0 {
		all := int64(n) * int64(n+1) / 2
		s.Low, s.High = ranked(walsh{sorted}, out+1), ranked(walsh{sorted}, all-out)
	}
	return s
}

// signedRankP is the p value.
func signedRankP(differences []float64) float64 {
	byDistance := slices.SortedFunc(slices.Values(differences), func(a, b float64) int {
		return cmp.Compare(math.Abs(a), math.Abs(b))
	})
	var ranks []int // doubled, so that those that are shared are whole
	var above, below int
	var zeros, ties float64
	for from := 0; from < len(byDistance); {
		to := from
		for to < len(byDistance) && math.Abs(byDistance[to]) == math.Abs(byDistance[from]) {
			to++
		}
		equal := float64(to - from)
		if byDistance[from] == 0 {
			zeros = equal
			from = to
			continue
		}
		ties += equal*equal*equal - equal
		for _, d := range byDistance[from:to] {
			rank := from + to + 1
			ranks = append(ranks, rank)
			if d > 0 {
				above += rank
			} else {
				below += rank
			}
		}
		from = to
	}
	if len(ranks) == 0 {
		return 1
	}
	if len(differences) <= mostExactPairs {
		return min(1, 2*sumOf(sumChances(ranks, min(above, below))))
	}
	// The moments are those of R's wilcox.test, less what Pratt's zeros would have added (Cureton, "The normal
	// approximation to the signed-rank sampling distribution when zero differences are present", Journal of the American Statistical Association 62, 1967).
	n := float64(len(differences))
	variance := (n*(n+1)*(2*n+1)-zeros*(zeros+1)*(2*zeros+1))/24 - ties/48
	far := math.Abs(float64(above-below))/4 - 0.5 // from the middle, corrected for that sums are whole
	return math.Erfc(max(0, far) / math.Sqrt(2*variance))
}

// sumChances are the chances of the sums 0 to most of ranks, each of which counts or does not by the toss of a coin.
func sumChances(ranks []int, most int) []float64 {
	chances := make([]float64, most+1)
	chances[0] = 1
	reached := 0
	for _, r := range ranks {
		reached = min(reached+r, most)
		for s := reached; s >= 0; s-- {
			c := chances[s]
			if s >= r {
				c += chances[s-r]
			}
			chances[s] = c / 2
		}
	}
	return chances
}

// signedRankOut is the greatest sum of ranks, of n pairs without ties, that chance reaches or stays below in no more than a part
// tail of all cases; -1 if there is none.
func signedRankOut(n int, tail float64) int64 {
	if n > mostExactPairs {
		m := float64(n)
		return int64(math.Floor(m*(m+1)/4 - 0.5 - normalQuantile(1-tail)*math.Sqrt(m*(m+1)*(2*m+1)/24)))
	}
	return lastWithin(sumChances(firstRanks(n), n*(n+1)/4), tail)
}

// firstRanks are 1 to n.
func firstRanks(n int) []int {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return ranks
}

// lastWithin is the last index up to which chances add up to no more than tail, -1 if there is none.
func lastWithin(chances []float64, tail float64) int64 {
	sum := 0.0
	for i, c := range chances {
		if sum += c; sum > tail*(1+1e-12) { // equal chances differ by rounding
			return int64(i) - 1
		}
	}
	return int64(len(chances)) - 1
}

// SignedRankLeastP is the least p value that n pairs can have, which is that of n differences to the same side.
func SignedRankLeastP(n int) float64 {
	if n <= 0 {
		return 1
	}
	return math.Ldexp(1, 1-n)
}

// normalQuantile is the value below which a normal distribution has a part q.
func normalQuantile(q float64) float64 { return math.Sqrt2 * math.Erfinv(2*q-1) }
