package load

import (
	"math"

	"kitescope/profile/significance"
)

// MeanInterval is the mean of values and its 95% interval, by Student's distribution: that of rounds which scatter normally
// and do not hang on each other. Low and high are 0 of fewer than two values.
func MeanInterval(values []float64) (mean, low, high float64) {
	n := float64(len(values))
	if n == 0 {
		return 0, 0, 0
	}
	for _, v := range values {
		mean += v / n
	}
	if n < 2 {
		return mean, 0, 0
	}
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	half := student(n-1) * math.Sqrt(squares/(n-1)/n)
	return mean, mean - half, mean + half
}

// student is how many standard errors the interval reaches to each side.
func student(freedom float64) float64 {
	low, high := 0.0, 100.0
	for range 60 {
		middle := (low + high) / 2
		if significance.StudentP(middle, freedom) > 1-significance.Confidence {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// QPSPerSession is what one session gets of QPS, as far as sessions could be opened; NaN if none is known.
func (p *Point) QPSPerSession() float64 {
	sessions := p.Open
	if sessions == 0 {
		sessions = p.Sessions
	}
	if sessions == 0 {
		return math.NaN()
	}
	return p.QPS / float64(sessions)
}

// Speedup is how many times as many queries as at the base point were answered; NaN if that one answered none.
func (p *Point) Speedup(base *Point) float64 {
	if base.QPS <= 0 {
		return math.NaN()
	}
	return p.QPS / base.QPS
}

// Efficiency is Speedup by how many times as many sessions asked: 1 if each session gets as much as at the base point.
func (p *Point) Efficiency(base *Point) float64 { return p.QPSPerSession() / base.QPSPerSession() }
