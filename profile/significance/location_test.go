package significance

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// wave returns values that are the same on every machine. In Python they are sin(i*i*f)*10+by.
func wave(n int, f, by float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 10*math.Sin(float64(i*i)*f) + by
	}
	return list
}

func rounded(list []float64) []float64 {
	for i := range list {
		list[i] = math.RoundToEven(list[i])
	}
	return list
}

func eighths(list []float64) []float64 {
	for i := range list {
		list[i] /= 8
	}
	return list
}

// depression returns the scores of nine patients before and after, from Hollander and Wolfe, "Nonparametric
// Statistical Methods", 1973, page 29. R's wilcox.test has them as its example.
func depression() (before, after []float64) {
	return []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30},
		[]float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
}

func TestSignedRank(t *testing.T) {
	x, y := depression()
	for i := range y {
		y[i] -= x[i]
	}
	for name, v := range map[string]struct {
		differences []float64
		want        string
	}{
		// wilcox.test(y, x, paired = TRUE, conf.int = TRUE): V = 5, p-value = 0.03906, and the estimate and
		// interval of the book.
		"depression": {y, "p 0.03906, -0.46 from -0.786 to -0.01"},
		// scipy 1.17.1: wilcoxon(d, method="exact").pvalue. The interval comes from that test on d - t, for t
		// between any two Walsh averages.
		"30": {wave(30, 0.37, 3), "p 0.02341, 2.954 from 0.3603 to 5.569"},
		"20": {wave(20, 0.37, 1.5), "p 0.1054, 2.39 from -1.066 to 5.557"},
		"60": {wave(60, 0.37, 1.5), "p 0.00501, 2.55 from 0.8164 to 4.359"},
		// wilcoxon(d, correction=True, method="asymptotic")
		"120":           {wave(120, 0.37, 1.5), "p 0.001537, 1.855 from 0.838 to 3.222"},
		"120 with ties": {rounded(wave(120, 0.37, 1.5)), "p 0.001146, 2 from 1 to 3"}, // and zero_method="pratt"
		"150, many 0":   {rounded(eighths(wave(150, 0.37, 1.5))), "p 0.009076, 0 from 0 to 0.5"},
		// wilcoxon(d, zero_method="pratt", method=PermutationMethod(n_resamples=1_000_000)), which tries all
		// signs for these sizes.
		"ties":           {[]float64{1, 2, 2, -3, 4, 4, 5, -1}, "p 0.1328, 2 from -1 to 4"},
		"one size":       {[]float64{1, 1, 1, 1, 1, 1, 1, 1, -1}, "p 0.03906, 1 from 0 to 1"},
		"Pratt's":        {[]float64{0, 2, 3, 4, 6, 7, 8, 9, 11, 14, 15, 17, -18}, "p 0.02393, 7 from 2 to 11"},
		"zeros and ties": {[]float64{0, 0, 1, 2, 2, -1, 3, 5, -4, 6}, "p 0.1484, 1.5 from -1 to 4"},
		// For one to five pairs the smallest p-value, 2/2^n, is at least 2/2^5, and there is no interval.
		"one":   {[]float64{-3}, "p 1, -3 from NaN to NaN"},
		"five":  {[]float64{1, 2, 3, 4, 5}, "p 0.0625, 3 from NaN to NaN"},
		"six":   {[]float64{1, 2, 3, 4, 5, 6}, "p 0.03125, 3.5 from 1 to 6"},
		"zeros": {make([]float64, 7), "p 1, 0 from 0 to 0"},
		"none":  {nil, "p NaN, NaN from NaN to NaN"},
		"large": {[]float64{math.MaxFloat64, math.MaxFloat64, -1}, "p 0.5, 1.348e+308 from NaN to NaN"},
	} {
		s := SignedRank(v.differences)
		if got := fmt.Sprintf("p %.4g, %.4g from %.4g to %.4g", s.P, s.Estimate, s.Low, s.High); got != v.want {
			t.Errorf("%s: %s, want %s", name, got, v.want)
		}
	}
}

func TestRankSum(t *testing.T) {
	for name, v := range map[string]struct {
		before, after []float64
		want          string
	}{
		// Hollander and Wolfe, page 69, as in R's wilcox.test(y, x, conf.int = TRUE): p-value = 0.2544.
		"permeability": {
			[]float64{.80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46},
			[]float64{1.15, .88, .90, .74, 1.21},
			"p 0.2544, -0.305 from -0.76 to 0.15",
		},
		// scipy 1.17.1: mannwhitneyu(before, after, method="exact").pvalue. The first is the example of its
		// documentation. Intervals come from that test on after - t, for t between any two differences.
		"diagnosed": {[]float64{19, 22, 16, 29, 24}, []float64{20, 11, 17, 12}, "p 0.1111, -7 from -17 to 1"},
		"40 and 30": {wave(40, 0.37, 0), wave(30, 0.91, 4), "p 0.05645, 3.205 from -0.05468 to 6.17"},
		// mannwhitneyu(before, after, method="asymptotic").pvalue
		"80 and 70": {rounded(wave(80, 0.37, 0)), rounded(wave(70, 0.91, 2)), "p 0.3512, 1 from -1 to 3"},
		// mannwhitneyu(before, after, method=PermutationMethod(n_resamples=1_000_000)).pvalue, which tries
		// all permutations for these sizes.
		"ties":             {[]float64{1, 2, 2, 3, 3, 3, 4}, []float64{2, 3, 4, 4, 5, 5}, "p 0.1002, 1 from 0 to 3"},
		"uneven ties":      {[]float64{1, 1, 1, 2}, []float64{1, 2, 2, 2, 2, 3}, "p 0.2, 1 from 0 to 2"},
		"one against ties": {[]float64{2}, []float64{-8, 0, 2}, "p 1, -2 from NaN to NaN"},
		"three a side":     {[]float64{1, 2, 3}, []float64{7, 8, 9}, "p 0.1, 6 from NaN to NaN"},
		"four a side":      {[]float64{1, 2, 3, 4}, []float64{7, 8, 9, 11}, "p 0.02857, 6 from 3 to 10"},
		"one a side":       {[]float64{104}, []float64{99}, "p 1, -5 from NaN to NaN"},
		"equal":            {[]float64{5, 5, 5, 5, 5}, []float64{5, 5, 5, 5, 5}, "p 1, 0 from 0 to 0"},
		"many equal":       {make([]float64, 60), make([]float64, 60), "p 1, 0 from 0 to 0"},
		"none":             {nil, []float64{1}, "p NaN, NaN from NaN to NaN"},
	} {
		s := RankSum(v.before, v.after)
		if got := fmt.Sprintf("p %.4g, %.4g from %.4g to %.4g", s.P, s.Estimate, s.Low, s.High); got != v.want {
			t.Errorf("%s: %s, want %s", name, got, v.want)
		}
		if v.before == nil {
			continue
		}
		if back := RankSum(v.after, v.before); math.Abs(back.P-s.P) > 1e-12 || back.Estimate != -s.Estimate {
			t.Errorf("%s: the other way round it is %v, not %v", name, back, s)
		}
	}
}

// TestMedian checks the median, and that the input is not modified.
func TestMedian(t *testing.T) {
	for _, v := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3, 1, 2}, 2},
		{[]float64{4, 1, 2, 3}, 2.5},
		{[]float64{-1}, -1},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64},
	} {
		kept := slices.Clone(v.values)
		if got := Median(v.values); got != v.want || !slices.Equal(kept, v.values) {
			t.Errorf("%v: %v, want %v", v.values, got, v.want)
		}
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("nothing has a middle")
	}
}

func TestStudentQuantile(t *testing.T) {
	// qt(0.975, 10), qt(0.975, 1), qt(0.9995, 3), qt(0.975, 1e6) and qt(1 - 1e-7/2, 5) in R.
	for _, v := range [][3]float64{
		{0.05, 10, 2.228139}, {0.05, 1, 12.70620}, {0.001, 3, 12.92398}, {0.05, 1e6, 1.959966}, {1e-7, 5, 45.20703},
	} {
		if got := StudentQuantile(v[0], v[1]); math.Abs(got-v[2]) > 1e-5*v[2] {
			t.Errorf("p %v of %v: %v, want %v", v[0], v[1], got, v[2])
		}
	}
}
