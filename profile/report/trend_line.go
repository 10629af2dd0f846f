package report

import (
	"math"

	"kitescope/profile/significance"
)

// lineOf fits a straight line to shares: hits of totals at xs.
type lineOf struct {
	xs           []float64
	hits, totals []float64
	unknown      bool
}

func (l *lineOf) add(hits, total int64) {
	l.unknown = l.unknown || total < 0
	l.hits, l.totals = append(l.hits, float64(max(0, hits))), append(l.totals, float64(max(0, total)))
}

// fewTrend is how many events an entry, and all others together, need for the normal distribution to do.
const fewTrend = 10

// fewPoints is from how many profiles their scatter about a line says something: with three, next to nothing is left to vary.
const fewPoints = 4

// fit is the slope, and the chance of one as steep where shares do not move; NaN where nothing can be said.
func (l *lineOf) fit() (slope, p float64) {
	var n, k, points float64
	for i, total := range l.totals {
		n, k = n+total, k+l.hits[i]
		if total > 0 {
			points++
		}
	}
	if l.unknown || points < 2 {
		return math.NaN(), math.NaN()
	}
	mean := 0.0
	for i, total := range l.totals {
		mean += total * l.xs[i] / n
	}
	var spread, pull float64
	for i, total := range l.totals {
		d := l.xs[i] - mean
		spread += total * d * d
		pull += (l.hits[i] - total*k/n) * d
	}
	if spread == 0 {
		return math.NaN(), math.NaN()
	}
	slope = pull / spread
	share := k / n
	switch {
	case share <= 0 || share >= 1:
		return slope, 1
	case points == 2 || min(k, n-k) < fewTrend:
		return slope, l.halves()
	}
	z := pull / math.Sqrt(share*(1-share)*spread)
	if p = math.Erfc(math.Abs(z) / math.Sqrt2); points < fewPoints {
		return slope, p
	}
	var scatter float64
	for i, total := range l.totals {
		if total > 0 {
			d := l.hits[i] - total*(share+slope*(l.xs[i]-mean))
			scatter += d * d / (total * share * (1 - share))
		}
	}
	if dispersion := scatter / (points - 2); dispersion > 0 {
		p = max(p, significance.StudentP(z/math.Sqrt(dispersion), points-2))
	}
	return slope, p
}

// best is the least p value that so many events could have: all of them in one half of the points.
func (l *lineOf) best() float64 {
	var k, first, second float64
	for i, total := range l.totals {
		k += l.hits[i]
		if i < len(l.totals)/2 {
			first += total
		} else {
			second += total
		}
	}
	if first == 0 || second == 0 {
		return 1
	}
	whole := func(x float64) int64 { return int64(math.Round(x)) }
	one := func(own, other float64) float64 {
		in := min(k, own)
		return significance.EqualSharesP(whole(in), whole(own), whole(min(k-in, other)), whole(other))
	}
	return min(one(first, second), one(second, first))
}

// halves compares the first half of the points with the second.
func (l *lineOf) halves() float64 {
	var k, n [2]float64
	for i, total := range l.totals {
		side := 0
		if i >= len(l.totals)/2 {
			side = 1
		}
		k[side], n[side] = k[side]+l.hits[i], n[side]+total
	}
	if n[0] == 0 || n[1] == 0 {
		return math.NaN()
	}
	whole := func(x float64) int64 { return int64(math.Round(x)) }
	return significance.EqualSharesP(whole(k[0]), whole(n[0]), whole(k[1]), whole(n[1]))
}
