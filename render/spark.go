package render

import "math"

// sparkRunes fill an eighth of a cell more each; the first is for what is nearly nothing.
const sparkRunes = "▁▂▃▄▅▆▇█"

// sparkASCII does without block characters, in five steps.
const sparkASCII = "_.-=#"

// Sparkline draws a value a cell, from 0 to top. What is no number is a blank: nothing is drawn that nobody saw.
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

// Resample makes at most n values of many, each the mean of those that are known.
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

// Area draws values as columns over several lines, from the top line down.
func Area(values []float64, top float64, lines int, ascii bool) []string {
	steps := []rune(sparkRunes)
	if ascii {
		steps = []rune(sparkASCII)
	}
	out := make([]string, lines)
	for line := range lines {
		row := make([]rune, len(values))
		below := (lines - 1 - line) * len(steps)
		for i, v := range values {
			level := 0
			switch {
			case math.IsNaN(v):
				row[i] = ' '
				continue
			case top > 0 && v > 0:
				level = min(lines*len(steps), int(math.Ceil(v/top*float64(lines*len(steps)))))
			}
			switch {
			case level > below:
				row[i] = steps[min(len(steps), level-below)-1]
			case below == 0:
				row[i] = steps[0] // nothing used is a line at the bottom; nothing known is none
			default:
				row[i] = ' '
			}
		}
		out[line] = string(row)
	}
	return out
}
