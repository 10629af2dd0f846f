package significance

import (
	"cmp"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Shift is the estimated difference in location between two sets of values, or of differences from 0, with
// its p-value.
type Shift struct {
	// Estimate is the estimate of Hodges and Lehmann ("Estimates of location based on rank tests", Annals of
	// Mathematical Statistics 34, 1963). Low and High are its 95 % interval. They are NaN if unknown: Estimate
	// without any values, the interval with too few.
	Estimate, Low, High float64
	// P is the probability, without a true shift, of a shift at least as large in either direction. It is NaN
	// if unknown.
	P float64
}

func unknownShift() Shift { return Shift{math.NaN(), math.NaN(), math.NaN(), math.NaN()} }

// maxExactPairs is the maximum number of pairs for the exact distribution. Beyond it the normal
// approximation is as good.
const maxExactPairs = 100

// SignedRank tests whether the differences of pairs are centred on 0. It is the signed-rank test of Wilcoxon
// ("Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945), two-sided. It assumes that,
// without a change, a difference is as likely as its opposite. This is true if the order within a pair is
// random, whatever the noise.
//
// Differences of 0 are ranked with the others and then dropped (Pratt, "Remarks on zeros and ties in the
// Wilcoxon signed rank procedures", Journal of the American Statistical Association 54, 1959). Equal
// differences share their ranks. Differences must be finite.
//
// Estimate is the median of all Walsh averages, i.e. the means of every two differences and of each with itself.
func SignedRank(differences []float64) Shift {
	n := len(differences)
	if n == 0 {
		return unknownShift()
	}
	sorted := quantiles(slices.Sorted(slices.Values(differences)))
	averages := make([]float64, 0, len(sorted)*(len(sorted)+1)/2)
	for i, x := range sorted {
		for _, y := range sorted[i:] {
			averages = append(averages, x/2+y/2)
		}
	}
	m := float64(n)
	return shiftOf(averages, m*(m+1)/2, m*(m+1)*(2*m+1)/24, signedRankP(differences))
}

// RankSum tests whether unpaired values before and after differ in location. It is the test of Mann and
// Whitney ("On a test of whether one of two random variables is stochastically larger than the other", Annals
// of Mathematical Statistics 18, 1947), two-sided, by golang.org/x/perf/benchmath. Values must be finite.
//
// Estimate is the median of all differences between a value after and a value before.
func RankSum(before, after []float64) Shift {
	if len(before) == 0 || len(after) == 0 {
		return unknownShift()
	}
	x, y := slices.Sorted(slices.Values(before)), slices.Sorted(slices.Values(after))
	one, other := benchmath.NewSample(x, &benchmath.DefaultThresholds),
		benchmath.NewSample(y, &benchmath.DefaultThresholds)
	// For few values with ties and sides of unequal size the distribution is not symmetric, although benchmath
	// assumes that. The larger p-value of both directions is the correct one.
	p := max(benchmath.AssumeNothing.Compare(one, other).P, benchmath.AssumeNothing.Compare(other, one).P)
	x, y = quantiles(x), quantiles(y)
	gaps := make([]float64, 0, len(x)*len(y))
	for _, b := range x {
		for _, a := range y {
			gaps = append(gaps, a-b)
		}
	}
	m, n := float64(len(before)), float64(len(after))
	return shiftOf(gaps, m*n, m*n*(m+n+1)/12, min(1, p))
}

// shiftOf returns the median of numbers with its interval. The interval follows from the normal approximation
// of a rank statistic with the given maximum and variance.
func shiftOf(numbers []float64, most, variance, p float64) Shift {
	slices.Sort(numbers)
	s := Shift{Estimate: Median(numbers), Low: math.NaN(), High: math.NaN(), P: p}
	out := math.Floor(most/2 - 0.5 - normalQuantile((1+Confidence)/2)*math.Sqrt(variance))
	if at := int(out / most * float64(len(numbers))); out >= 0 {
		s.Low, s.High = numbers[at], numbers[len(numbers)-1-at]
	}
	return s
}

// maxListed is the maximum number of values for which all combinations are listed.
const maxListed = 200

// quantiles returns the sorted values, reduced to maxListed quantiles if there are more.
func quantiles(sorted []float64) []float64 {
	if len(sorted) <= maxListed {
		return sorted
	}
	list := make([]float64, maxListed)
	for i := range list {
		list[i] = sorted[(2*i+1)*len(sorted)/(2*maxListed)]
	}
	return list
}

// signedRankP returns the p-value of SignedRank.
func signedRankP(differences []float64) float64 {
	byDistance := slices.SortedFunc(slices.Values(differences), func(a, b float64) int {
		return cmp.Compare(math.Abs(a), math.Abs(b))
	})
	var ranks []int // doubled, so that shared ranks are whole numbers
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
	if len(differences) <= maxExactPairs {
		return min(1, 2*chanceOfSum(ranks, min(above, below)))
	}
	// The moments are those of R's wilcox.test, minus the contribution of Pratt's zeros (Cureton, "The normal
	// approximation to the signed-rank sampling distribution when zero differences are present", Journal of
	// the American Statistical Association 62, 1967).
	n := float64(len(differences))
	variance := (n*(n+1)*(2*n+1)-zeros*(zeros+1)*(2*zeros+1))/24 - ties/48
	far := math.Abs(float64(above-below))/4 - 0.5 // distance from the middle, with a continuity correction
	return math.Erfc(max(0, far) / math.Sqrt(2*variance))
}

// chanceOfSum returns the probability that the sum of the included ranks is at most the given bound, if each
// rank is included with probability 1/2.
func chanceOfSum(ranks []int, most int) float64 {
	chances := make([]float64, most+1)
	chances[0] = 1
	for _, r := range ranks {
		for s := most; s >= 0; s-- {
			c := chances[s]
			if s >= r {
				c += chances[s-r]
			}
			chances[s] = c / 2
		}
	}
	sum := 0.0
	for _, c := range chances {
		sum += c
	}
	return sum
}

// SignedRankLeastP returns the smallest possible p-value of n pairs, i.e. the p-value of n differences with the
// same sign.
func SignedRankLeastP(n int) float64 {
	if n <= 0 {
		return 1
	}
	return math.Ldexp(1, 1-n)
}

// RankSumLeastP returns the smallest possible p-value of n1 and n2 values, i.e. the p-value of sides that do
// not overlap.
func RankSumLeastP(n1, n2 int) float64 {
	if n1 <= 0 || n2 <= 0 {
		return 1
	}
	orders := 1.0
	for i := 1; i <= min(n1, n2) && !math.IsInf(orders, 1); i++ {
		orders = orders * float64(max(n1, n2)+i) / float64(i)
	}
	return min(1, 2/orders)
}

// Median returns the middle value, or the mean of the two middle values. It returns NaN without values.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

// normalQuantile returns the q quantile of the standard normal distribution.
func normalQuantile(q float64) float64 { return math.Sqrt2 * math.Erfinv(2*q-1) }

// StudentQuantile returns the t for which StudentP is p. It uses Newton's method from below, where StudentP
// is convex.
func StudentQuantile(p, df float64) float64 {
	t := normalQuantile(1 - p/2)
	a, _ := math.Lgamma((df + 1) / 2)
	b, _ := math.Lgamma(df / 2)
	scale := 2 * math.Exp(a-b) / math.Sqrt(df*math.Pi)
	for range 100 {
		step := (StudentP(t, df) - p) / (scale * math.Pow(1+t*t/df, -(df+1)/2))
		t += step
		if !(step > 1e-9*t) {
			break
		}
	}
	return t
}
