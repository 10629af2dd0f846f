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
