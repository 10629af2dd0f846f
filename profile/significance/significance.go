// Package significance computes what differences can be due to chance, for counts of sampled events and for
// repeated measurements before and after a change.
//
// It returns intervals, p-values, and the least p-values that a number of measurements can reach. The caller
// decides what counts as a change.
package significance

import (
	"cmp"
	"math"
	"slices"
)

// The tests for profiles use event counts: how often the sampler hit something. They assume that events are
// independent, and that the probability of hitting a function is its share of the time. A sampler that ticks
// at a fixed rate comes close to that, unless the program works in bursts that last many ticks. Shares then
// scatter more than these bounds show, which no single profile can reveal.
//
// Exact methods are used where counts are small, because most functions are hit only a few times.

// Confidence is the confidence level of all intervals in this package.
const Confidence = 0.95

// ShareInterval returns bounds of a share, 0 to 1, that was estimated as hits of total events. It is the
// exact interval of Clopper and Pearson ("The use of confidence or fiducial limits illustrated in the case of
// the binomial", Biometrika 26, 1934), as quantiles of the beta distribution. It contains the true share in
// at least 95 of 100 profiles, however small the counts. The bounds are NaN if the counts are unknown.
func ShareInterval(hits, total int64) (low, high float64) {
	if hits < 0 || total <= 0 || hits > total {
		return math.NaN(), math.NaN()
	}
	const tail = (1 - Confidence) / 2
	k, n := float64(hits), float64(total)
	high = 1
	if hits > 0 {
		low = betaQuantile(k, n-k+1, tail)
	}
	if hits < total {
		high = betaQuantile(k+1, n-k, 1-tail)
	}
	return low, high
}

// minExpected is the smallest expected number of events per table cell for which the normal approximation is
// used, because it is as good as the exact test there. Below it, the exact test is the more cautious one.
const minExpected = 500

// EqualSharesP returns the probability that two profiles of programs with equal shares differ at least as much,
// given hits1 of total1 events in one and hits2 of total2 in the other. It uses Fisher's exact test, two-sided
// as in R's fisher.test (all tables that are at most as likely as this one). If each cell expects at least 500
// events, it uses Pearson's chi-squared test without a correction. It returns NaN if the counts are unknown.
func EqualSharesP(hits1, total1, hits2, total2 int64) float64 {
	if hits1 < 0 || hits2 < 0 || total1 <= 0 || total2 <= 0 || hits1 > total1 || hits2 > total2 {
		return math.NaN()
	}
	k1, n1, k2, n2 := float64(hits1), float64(total1), float64(hits2), float64(total2)
	k, n := k1+k2, n1+n2
	if min(k, n-k)*min(n1, n2) >= minExpected*n {
		p := k / n
		z := (k1/n1 - k2/n2) / math.Sqrt(p*(1-p)*(1/n1+1/n2))
		return math.Erfc(math.Abs(z) / math.Sqrt2)
	}
	up := func(x float64) float64 { return (k - x) * (n1 - x) / ((x + 1) * (n2 - k + x + 1)) }
	mode := math.Floor((k + 1) * (n1 + 1) / (n + 2))
	return twoSided(up, max(0, k-n2), min(max(mode, max(0, k-n2)), min(k, n1)), min(k, n1), k1)
}

// EqualRatesP returns the probability that two counts of equal rates differ at least as much. Each count is a
// number of events over a time, in any unit. Given their sum, the first count is binomial (Przyborowski and
// Wilenski, Biometrika 31, 1940). It returns NaN if a value is unknown.
func EqualRatesP(events1 int64, exposure1 float64, events2 int64, exposure2 float64) float64 {
	if events1 < 0 || events2 < 0 || !(exposure1 > 0) || !(exposure2 > 0) {
		return math.NaN()
	}
	k, n, p := float64(events1), float64(events1+events2), exposure1/(exposure1+exposure2)
	if n == 0 {
		return 1
	}
	if n*min(p, 1-p) >= minExpected {
		return math.Erfc(math.Abs(k-n*p) / math.Sqrt(2*n*p*(1-p)))
	}
	up := func(x float64) float64 { return (n - x) / (x + 1) * p / (1 - p) }
	return twoSided(up, 0, min(n, math.Floor((n+1)*p)), n, k)
}

// twoSided returns the sum of the probabilities of all outcomes from lo to hi that are at most as likely as
// observed. ratio(x) is the probability of x+1 divided by that of x. mode is the most likely outcome.
func twoSided(ratio func(float64) float64, lo, mode, hi, observed float64) float64 {
	limit := 1.0 // the probability of observed, relative to the mode's
	for x := mode; x < observed && limit > 0; x++ {
		limit *= ratio(x)
	}
	for x := mode; x > observed && limit > 0; x-- {
		limit /= ratio(x - 1)
	}
	if limit == 0 {
		return 0
	}
	limit *= 1 + 1e-7 // equal probabilities differ by rounding
	const none = 1e-17
	all, tail := 0.0, 0.0
	add := func(chance float64) bool {
		all += chance
		if chance > limit {
			return true
		}
		tail += chance
		return chance > none*tail
	}
	for x, chance := mode, 1.0; x <= hi && add(chance); x++ {
		chance *= ratio(x)
	}
	if mode > lo {
		for x, chance := mode-1, 1/ratio(mode-1); x >= lo && add(chance); x-- {
			if x > lo {
				chance /= ratio(x - 1)
			}
		}
	}
	return min(1, tail/all)
}

// Holm corrects p-values for the number of tests. If all tests with a corrected value below some level are
// called significant, the probability of any false positive is at most that level (Holm, "A simple
// sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979). NaN stays NaN
// and does not count.
func Holm(ps []float64) []float64 {
	return HolmWeighted(ps, func(int) float64 { return 1 })
}

// HolmWeighted is like Holm, but spends more of the level on tests with a higher weight (section 4 of the same
// paper). Weights must be positive and must not depend on the outcome of the tests.
func HolmWeighted(ps []float64, weight func(i int) float64) []float64 {
	type test struct {
		i         int
		weight, p float64 // p divided by the weight
	}
	var tests []test
	adjusted := make([]float64, len(ps))
	left := 0.0
	for i, p := range ps {
		if adjusted[i] = p; !math.IsNaN(p) {
			w := weight(i)
			tests = append(tests, test{i, w, p / w})
			left += w
		}
	}
	slices.SortFunc(tests, func(a, b test) int { return cmp.Or(cmp.Compare(a.p, b.p), cmp.Compare(a.i, b.i)) })
	worst := 0.0
	for _, t := range tests {
		worst = max(worst, min(1, t.p*max(left, t.weight))) // rounding may make left too small
		adjusted[t.i] = worst
		left -= t.weight
	}
	return adjusted
}

// betaQuantile returns the q quantile of a beta distribution.
func betaQuantile(a, b, q float64) float64 {
	low, high := 0.0, 1.0
	for range 200 {
		x := (low + high) / 2
		if x == low || x == high {
			break
		}
		if betaCDF(a, b, x) < q {
			low = x
		} else {
			high = x
		}
	}
	return (low + high) / 2
}

// betaCDF returns the regularized incomplete beta function I_x(a, b). It evaluates the continued fraction
// 8.17.22 of the Digital Library of Mathematical Functions, on the side on which it converges fast.
func betaCDF(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - betaCDF(b, a, 1-x)
	}
	ga, _ := math.Lgamma(a)
	gb, _ := math.Lgamma(b)
	gab, _ := math.Lgamma(a + b)
	front := math.Exp(a*math.Log(x)+b*math.Log1p(-x)+gab-ga-gb) / a
	const tiny, most = 1e-300, 100_000
	// Lentz's algorithm evaluates a continued fraction from the front.
	c, d := 1.0, 1-(a+b)*x/(a+1)
	if math.Abs(d) < tiny {
		d = tiny
	}
	d = 1 / d
	value := d
	for m := 1.0; m < most; m++ {
		step := 1.0
		for _, term := range [2]float64{
			m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)),
			-(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)),
		} {
			if d = 1 + term*d; math.Abs(d) < tiny {
				d = tiny
			}
			if c = 1 + term/c; math.Abs(c) < tiny {
				c = tiny
			}
			d = 1 / d
			step = c * d
			value *= step
		}
		if math.Abs(step-1) < 1e-15 {
			break
		}
	}
	return min(1, front*value)
}

// StudentP returns the two-sided p-value of t in Student's distribution.
func StudentP(t, df float64) float64 {
	return betaCDF(df/2, 0.5, df/(df+t*t))
}
