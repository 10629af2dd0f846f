package significance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// normals are n values about a mean, with a standard deviation.
func normals(r *rand.Rand, n int, mean, deviation float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = mean + deviation*r.NormFloat64()
	}
	return list
}

// TestVisibleIsSeen: the shift that is called the least visible one is found in about 80 of 100 cases.
func TestVisibleIsSeen(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const rounds = 1000
	check := func(what string, n int, level float64, p func() float64) {
		t.Helper()
		seen := 0
		for range rounds {
			if p() <= level {
				seen++
			}
		}
		if seen < rounds*72/100 || seen > rounds*86/100 {
			t.Errorf("%s: with %d at %v it is seen in %d of %d", what, n, level, seen, rounds)
		}
	}
	for _, v := range []struct {
		n     int
		level float64
	}{{6, 0.05}, {8, 0.05}, {12, 0.05}, {30, 0.05}, {9, 0.005}, {20, 0.005}} {
		by := NewPlan(true, v.level).Visible(v.n, 0, Spread{2, 2})
		check("signed rank", v.n, v.level, func() float64 { return signedRankP(normals(r, v.n, by, 2)) })
	}
	for _, v := range []struct {
		n, m  int
		level float64
	}{{4, 4, 0.05}, {5, 12, 0.05}, {20, 20, 0.05}, {6, 6, 0.005}} {
		by := NewPlan(false, v.level).Visible(v.n, v.m, Spread{2, 2})
		check("rank sum", v.n, v.level, func() float64 { return RankSum(normals(r, v.n, 7, 2), normals(r, v.m, 7+by, 2)).P })
	}
}

func TestNeeds(t *testing.T) {
	for _, v := range []struct {
		effect, scatter, level float64
		pairs, aSide           int
	}{
		// Student's test needs 34 pairs and 64 a side for half a standard deviation (power.t.test(delta = 0.5, power = 0.8, type = "paired")
		// of R says 33.4, and 63.8 for two samples), and a rank test pi/3 times that.
		{0.5, 1, 0.05, 35, 67},
		{0.01, 0.03, 0.05, 77, 149},
		{0.01, 0, 0.05, 6, 4}, // no scatter: as few as the test takes
		{10, 1, 0.05, 6, 4},
		{10, 1, 0.05 / 20, 10, 6},
		{0.01, 1e9, 0.05, mostNeeded, mostNeeded},
		{0, 1, 0.05, 0, 0},
		{math.NaN(), 1, 0.05, 0, 0},
		{0.01, math.NaN(), 0.05, 0, 0},
		{0.01, 1, 0, 0, 0},
	} {
		needs := func(paired bool) int { return NewPlan(paired, v.level).Needs(v.effect, Spread{v.scatter, v.scatter}) }
		if pairs, aSide := needs(true), needs(false); pairs != v.pairs || aSide != v.aSide {
			t.Errorf("effect %v, scatter %v, level %v: %d pairs, %d a side, want %d and %d", v.effect, v.scatter, v.level, pairs, aSide, v.pairs, v.aSide)
		}
	}
}

// TestNeedsIsTheFirst: there is no smaller number with which the effect is visible, though it does not become more so with each.
func TestNeedsIsTheFirst(t *testing.T) {
	for _, paired := range []bool{true, false} {
		for _, level := range []float64{0.05, 0.004} {
			p := NewPlan(paired, level)
			for effect := 0.5; effect < 4; effect *= 1.02 {
				for _, s := range []Spread{{1, 1}, {1, 2}} {
					first := 1
					for !(p.Visible(first, first, s) <= effect) {
						first++
					}
					if got := p.Needs(effect, s); got != first {
						t.Fatalf("paired %v, level %v, effect %v, spread %v: %d, and %d would do", paired, level, effect, s, got, first)
					}
				}
			}
		}
	}
}

func TestLeast(t *testing.T) {
	// 2/2^6 = 0.03125; 2 of the 70 orders of four and four are 0.0286, 2 of the 20 of three and three 0.1.
	got := fmt.Sprintf("%v %v %.4f %.4f | %d %d %d %d", SignedRankLeastP(6), SignedRankLeastP(0), RankSumLeastP(4, 4), RankSumLeastP(3, 3),
		NewPlan(true, 0.05).Least(), NewPlan(true, 0.001).Least(), NewPlan(false, 0.05).Least(), NewPlan(false, 0.1).Least())
	if want := "0.03125 1 0.0286 0.1000 | 6 11 4 3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for n := 1; n < 9; n++ {
		same := make([]float64, n)
		for i := range same {
			same[i] = float64(i + 1)
		}
		if p, least := SignedRank(same).P, SignedRankLeastP(n); p != least {
			t.Errorf("%d pairs: p %v, and the least is %v", n, p, least)
		}
		far := []float64{101, 102, 103}
		if p, least := RankSum(same, far).P, RankSumLeastP(n, 3); math.Abs(p-least) > 1e-12 {
			t.Errorf("%d and 3: p %v, and the least is %v", n, p, least)
		}
	}
}

func TestSpreadOf(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	list := normals(r, 4001, 50, 3)
	near := func(got Spread, middle, all float64) bool {
		return math.Abs(got.Middle-middle) < 0.04*middle && math.Abs(got.All-all) < 0.04*all
	}
	if s := SpreadOf(list); !near(s, 3, 3) {
		t.Errorf("a normal distribution with a deviation of 3: %v", s)
	}
	if s := SpreadOf(list[:2000], normals(r, 2000, 90, 3)); !near(s, 3, 3) {
		t.Errorf("two of them: %v", s)
	}
	for i := range 40 {
		list[i] = 1000
	}
	if s := SpreadOf(list); !near(s, 3.03, 95) || s.of(19) != s.All || s.of(20) != s.Middle {
		t.Errorf("with a few values that are far off: %v", s)
	}
	if s := SpreadOf([]float64{1, 1, 1, 1, 1, 1, 1, 7}); !near(s, math.Sqrt(36./8), math.Sqrt(36./8)) {
		t.Errorf("mostly equal: %v", s)
	}
	if s := SpreadOf([]float64{5, 5, 5}, []float64{7, 7}); s != (Spread{}) {
		t.Errorf("equal: %v", s)
	}
	for _, groups := range [][][]float64{nil, {{1}}, {{1}, {2}}, {{}}} {
		if s := SpreadOf(groups...); !math.IsNaN(s.Middle) || !math.IsNaN(s.All) {
			t.Errorf("%v: %v, want NaN", groups, s)
		}
	}
}

func TestStudentQuantile(t *testing.T) {
	// qt(0.975, 10), qt(0.975, 1), qt(0.9995, 3), qt(0.975, 1e6) and qt(1 - 1e-7/2, 5) of R.
	for _, v := range [][3]float64{{0.05, 10, 2.228139}, {0.05, 1, 12.70620}, {0.001, 3, 12.92398}, {0.05, 1e6, 1.959966}, {1e-7, 5, 45.20703}} {
		if got := StudentQuantile(v[0], v[1]); math.Abs(got-v[2]) > 1e-5*v[2] {
			t.Errorf("p %v of %v: %v, want %v", v[0], v[1], got, v[2])
		}
	}
}
