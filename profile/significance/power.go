package significance

import (
	"math"
	"slices"
	"sort"
)

// Power is the chance with which a change is to be shown by as many measurements as Needs says.
const Power = 0.8

// mostNeeded is a number of measurements that nobody makes.
const mostNeeded = 1_000_000_000

// rankEfficiency is what one measurement is worth to a rank test, over what it is to Student's, where noise is normal
// (Hodges and Lehmann, "The efficiency of some nonparametric competitors of the t-test", Annals of Mathematical Statistics 27, 1956).
const rankEfficiency = 3 / math.Pi

// Spread is how far values of the same group lie apart, as the standard deviation of a normal distribution that is like them.
type Spread struct {
	// Middle is of the one in which the median of all distances between two values is the same. That is what a rank test
	// of many values needs more for: what is far off weighs in it as little as here.
	Middle float64
	// All is the standard deviation of all values.
	All float64
}

// SpreadOf is the scatter within groups, each about a middle of its own. NaN if no group has two values.
func SpreadOf(groups ...[]float64) Spread {
	sorted := make([][]float64, len(groups))
	var squares, free float64
	for i, g := range groups {
		sorted[i] = slices.Sorted(slices.Values(g))
		mean := 0.0
		for k, x := range g {
			mean += (x - mean) / float64(k+1)
		}
		for _, x := range g {
			squares += (x - mean) * (x - mean)
		}
		free += max(0, float64(len(g)-1))
	}
	const ofNormal = 0.9538725524 // the 3rd quartile of the normal distribution, times the square root of 2
	s := Spread{medianOf(spreads{sorted}) / ofNormal, math.Sqrt(squares / free)}
	if s.Middle == 0 { // most values are equal: only those that are not say anything
		s.Middle = s.All
	}
	return s
}

// of is the scatter that matters to n values. With few a single one that is far off, on the wrong side, spoils a rank test.
func (s Spread) of(n int) float64 {
	const many = 20
	if n < many {
		return max(s.Middle, s.All)
	}
	return s.Middle
}

// Plan says how many measurements a test takes. It remembers what it worked out, and is for one goroutine at a time.
type Plan struct {
	paired bool
	level  float64
	// shifts are, by the numbers of both sides, the least shifts that are visible where the scatter is 1.
	shifts map[[2]int]float64
}

// NewPlan is that of SignedRank if paired, else of RankSum, where p values up to level count.
func NewPlan(paired bool, level float64) *Plan {
	return &Plan{paired: paired, level: level, shifts: map[[2]int]float64{}}
}

// Least is with how many pairs, or values a side, the test can come out at all; 0 if the level is none.
func (p *Plan) Least() int {
	if !(p.level > 0) {
		return 0
	}
	const most = 1100 // with so many the least p value is less than any float
	n := 1
	for n < most && (p.paired && SignedRankLeastP(n) > p.level || !p.paired && RankSumLeastP(n, n) > p.level) {
		n++
	}
	return n
}

// Visible is the least shift that the test would show in 80 of 100 cases, with n1 and n2 values which scatter as they do: of pairs n1 is the number, and
// the scatter that of differences. NaN if it is unknown, or no shift could be shown.
func (p *Plan) Visible(n1, n2 int, s Spread) float64 {
	if p.paired {
		n2 = n1
	}
	if min(n1, n2) <= 0 || !(p.level > 0) {
		return math.NaN()
	}
	key := [2]int{n1, n2}
	shift, ok := p.shifts[key]
	if !ok {
		if p.paired {
			shift = signedRankShift(n1, p.level)
		} else {
			shift = rankSumShift(n1, n2, p.level)
		}
		p.shifts[key] = shift
	}
	return shift * s.of(min(n1, n2))
}

// Needs is how many pairs, or values a side, the test needs to show a shift of effect in 80 of 100 cases, where they scatter as they
// do: never fewer than those with which it can come out at all, and a billion for more than that. 0 if it is unknown.
func (p *Plan) Needs(effect float64, s Spread) int {
	enough := func(n int) bool { return p.Visible(n, n, s) <= effect }
	least := p.Least()
	if !(effect > 0) || math.IsNaN(p.Visible(least, least, s)) {
		return 0
	}
	from, to := least, 2*least
	for !enough(to) {
		if to >= mostNeeded {
			return mostNeeded
		}
		from, to = to, 2*to
	}
	return min(mostNeeded, from+sort.Search(to-from, func(i int) bool { return enough(from + i) }))
}

func signedRankShift(n int, level float64) float64 {
	reached, least := level, 0.0
	if n <= mostExactPairs {
		out := signedRankOut(n, level/2)
		if out < 0 {
			return math.NaN()
		}
		reached = 2 * sumOf(sumChances(firstRanks(n), int(out)))
		if out == 0 { // all differences have to be on one side, the chance of which is known
			least = normalQuantile(math.Pow(Power, 1/float64(n)))
		}
	}
	return max(least, studentShift(float64(n)*rankEfficiency, float64(n-1), reached))
}

func rankSumShift(n1, n2 int, level float64) float64 {
	reached := level
	if max(n1, n2) <= mostExactRuns {
		chances := rankSumChances(n1, n2)
		out := lastWithin(chances, level/2)
		if out < 0 {
			return math.NaN()
		}
		reached = 2 * sumOf(chances[:out+1])
	}
	a, b := float64(n1), float64(n2)
	return studentShift(a/(a+b)*b*rankEfficiency, a+b-2, reached)
}

func sumOf(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum
}

// studentShift is the shift, in standard deviations, which Student's test of n values would show at a level with Power. The noncentral
// distribution is taken to be normal as in Johnson and Welch, "Applications of the non-central t-distribution", Biometrika 31, 1940.
func studentShift(n, freedom, level float64) float64 {
	if freedom < 1 || n <= 0 {
		return math.NaN()
	}
	t := StudentQuantile(level, freedom)
	return (t*(1-1/(4*freedom)) + normalQuantile(Power)*math.Sqrt(1+t*t/(2*freedom))) / math.Sqrt(n)
}

// StudentQuantile is the t of which StudentP is p, by Newton's way from below, on which StudentP is convex.
func StudentQuantile(p, freedom float64) float64 {
	t := normalQuantile(1 - p/2)
	a, _ := math.Lgamma((freedom + 1) / 2)
	b, _ := math.Lgamma(freedom / 2)
	scale := 2 * math.Exp(a-b) / math.Sqrt(freedom*math.Pi)
	for range 100 {
		step := (StudentP(t, freedom) - p) / (scale * math.Pow(1+t*t/freedom, -(freedom+1)/2))
		t += step
		if !(step > 1e-9*t) {
			break
		}
	}
	return t
}
