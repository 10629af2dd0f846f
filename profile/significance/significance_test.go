package significance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShareInterval(t *testing.T) {
	for _, v := range []struct {
		hits, total int64
		want        string
	}{
		// 61 of about 4,790 samples are 1.27 %. The expected bounds are published ones for such a share.
		{61, 4785, "1.27 0.98 1.63"},
		{61, 4788, "1.27 0.98 1.63"},
		{61, 4792, "1.27 0.98 1.63"},
		{0, 10, "0.00 0.00 30.85"}, // 1-0.025^(1/10)
		{10, 10, "100.00 69.15 100.00"},
		{1, 36, "2.78 0.07 14.53"},      // binom.test(1, 36) in R
		{5, 10, "50.00 18.71 81.29"},    // binom.test(5, 10)
		{682, 925, "73.73 70.77 76.54"}, // the example of binom.test
		{500_000_000, 1_000_000_000, "50.00 50.00 50.00"},
	} {
		low, high := ShareInterval(v.hits, v.total)
		if got := fmt.Sprintf("%.2f %.2f %.2f", 100*float64(v.hits)/float64(v.total), 100*low, 100*high); got !=
			v.want {
			t.Errorf("%d of %d: %s, want %s", v.hits, v.total, got, v.want)
		}
	}
	for _, v := range [][2]int64{{-1, 10}, {1, -1}, {0, 0}, {11, 10}} {
		if low, high := ShareInterval(v[0], v[1]); !math.IsNaN(low) || !math.IsNaN(high) {
			t.Errorf("%v: %v %v, want NaN", v, low, high)
		}
	}
}

// TestShareIntervalCovers checks that at least 95 of 100 profiles of a program with a known share have it
// within their bounds.
func TestShareIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, share := range []float64{0.002, 0.03, 0.5} {
		const profiles, samples = 2000, 400
		held := 0
		for range profiles {
			var hits int64
			for range samples {
				if r.Float64() < share {
					hits++
				}
			}
			if low, high := ShareInterval(hits, samples); low <= share && share <= high {
				held++
			}
		}
		if held < profiles*94/100 {
			t.Errorf("share %v: within the bounds in %d of %d profiles", share, held, profiles)
		}
	}
}

func TestEqualSharesP(t *testing.T) {
	for _, v := range []struct {
		k1, n1, k2, n2 int64
		want           string
	}{
		{3, 4, 1, 4, "0.4857"},       // Fisher's tea: fisher.test(matrix(c(3,1,1,3),2))
		{10, 13, 2, 17, "0.0005367"}, // Fisher's twins: fisher.test(matrix(c(10,2,3,15),2))
		{5, 10, 5, 10, "1"},
		{0, 1000, 5, 1000, "0.06219"},
		{0, 1000, 0, 1000, "1"},
		{1000, 1000, 1000, 1000, "1"},
		{0, 1000, 50, 1000, "9.479e-16"},
		{40, 1000, 61, 1000, "0.04064"}, // these were all checked by summing in integer arithmetic
		{3, 40, 9000, 100_000, "1"},
		{300, 1000, 350, 1000, "0.01928"},
		{3000, 10_000, 3150, 10_000, "0.02153"}, // Pearson's: prop.test(c(3000,3150), c(10000,10000), correct=FALSE)
	} {
		if got := fmt.Sprintf("%.4g", EqualSharesP(v.k1, v.n1, v.k2, v.n2)); got != v.want {
			t.Errorf("%+v: %s", v, got)
		}
		if a, b := EqualSharesP(v.k1, v.n1, v.k2, v.n2), EqualSharesP(v.k2, v.n2, v.k1, v.n1); math.Abs(a-b) > 1e-9*a {
			t.Errorf("%+v: %v one way, %v the other", v, a, b)
		}
	}
	if p := EqualSharesP(1, -1, 1, 10); !math.IsNaN(p) {
		t.Errorf("unknown counts: %v", p)
	}
}

// TestExactMeetsApproximate checks that both methods give similar results at the boundary between them.
func TestExactMeetsApproximate(t *testing.T) {
	for _, n := range []int64{10_000, 100_000, 10_000_000} {
		for _, d := range []int64{5, 20, 60} {
			const half = minExpected
			exact, normal := EqualSharesP(half-1-d, n, half+d, n), EqualSharesP(half-d, n, half+d, n)
			if ratio := exact / normal; ratio < 0.9 || ratio > 1.3 {
				t.Errorf("n %d, %d +- %d: exact %v, normal %v", n, half, d, exact, normal)
			}
		}
	}
}

// TestFalseAlarms checks that two profiles of the same program are rarely reported as different.
func TestFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	count := func(n int, share float64) (hits int64) {
		for range n {
			if r.Float64() < share {
				hits++
			}
		}
		return hits
	}
	for _, share := range []float64{0.005, 0.1} {
		const pairs = 3000
		alarms := 0
		for range pairs {
			if EqualSharesP(count(300, share), 300, count(700, share), 700) < 0.05 {
				alarms++
			}
		}
		if alarms > pairs*6/100 {
			t.Errorf("share %v: %d of %d", share, alarms, pairs)
		}
	}
}

func TestEqualRatesP(t *testing.T) {
	for _, v := range []struct {
		k1    int64
		over1 float64
		k2    int64
		over2 float64
		want  string
	}{
		{0, 1, 0, 1, "1"},
		{3, 1, 7, 1, "0.3438"}, // binom.test(3, 10)
		{0, 15, 8, 15, "0.007812"},
		{10, 1, 20, 2, "1"},
		{100, 1, 150, 1, "0.001883"},
		{1, 1, 0, 99, "0.01"},
	} {
		if got := fmt.Sprintf("%.4g", EqualRatesP(v.k1, v.over1, v.k2, v.over2)); got != v.want {
			t.Errorf("%+v: %s", v, got)
		}
	}
	if p := EqualRatesP(1, 0, 1, 1); !math.IsNaN(p) {
		t.Errorf("an unknown time: %v", p)
	}
}

func TestHolm(t *testing.T) {
	// p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") in R, and an unknown value.
	got := Holm([]float64{0.01, 0.04, math.NaN(), 0.03, 0.005})
	if diff := cmp.Diff("[0.03 0.06 NaN 0.06 0.02]", fmt.Sprint(round(got))); diff != "" {
		t.Error(diff)
	}
	if len(Holm(nil)) != 0 {
		t.Error("of nothing comes something")
	}
}

func round(list []float64) []float64 {
	for i := range list {
		list[i] = math.Round(list[i]*1e9) / 1e9
	}
	return list
}

func TestStudentP(t *testing.T) {
	// 2*pt(-2.228, 10), 2*pt(-12.706, 1), 2*pt(-1.96, 1e6) in R.
	for _, v := range [][3]float64{{2.228, 10, 0.05}, {12.706, 1, 0.05}, {1.96, 1e6, 0.05}, {0, 5, 1}} {
		if got := StudentP(v[0], v[1]); math.Abs(got-v[2]) > 1e-4 {
			t.Errorf("t %v of %v: %v, want %v", v[0], v[1], got, v[2])
		}
	}
}
