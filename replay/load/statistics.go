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
	half := significance.StudentQuantile(1-significance.Confidence, n-1) * math.Sqrt(squares/(n-1)/n)
	return mean, mean - half, mean + half
}
