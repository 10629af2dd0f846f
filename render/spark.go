package render

import "math"

// sparkRunes are blocks that each fill one more eighth of a cell. The first one represents values near zero.
const sparkRunes = "▁▂▃▄▅▆▇█"

// sparkASCII replaces block characters by five levels in ASCII.
const sparkASCII = "_.-=#"

// Sparkline draws a value per cell on a scale from 0 to top. NaN is drawn as a blank, because no value was
// measured.
func Sparkline(values []float64, top float64, ascii bool) string {
	steps := []rune(sparkRunes)
	if ascii {
		steps = []rune(sparkASCII)
	}
	line := make([]rune, len(values))
	for i, v := range values {
		switch {
		case math.IsNaN(v):
			line[i] = ' '
		case !(top > 0) || v <= 0:
			line[i] = steps[0]
		default:
			line[i] = steps[min(len(steps)-1, int(v/top*float64(len(steps))))]
		}
	}
	return string(line)
}

// Resample reduces values to at most n, each the mean of the known values in its range.
func Resample(values []float64, n int) []float64 {
	if len(values) <= n {
		return values
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = meanKnown(values[len(values)*i/n : len(values)*(i+1)/n])
	}
	return out
}

func meanKnown(values []float64) float64 {
	sum, known := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum += v
			known++
		}
	}
	if known == 0 {
		return math.NaN()
	}
	return sum / float64(known)
}
