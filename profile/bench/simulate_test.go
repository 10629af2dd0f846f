package bench

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// noises returns distributions of measurement noise around 1.
func noises() map[string]func(*rand.Rand) float64 {
	return map[string]func(*rand.Rand) float64{
		"normal":     func(r *rand.Rand) float64 { return 1 + 0.02*r.NormFloat64() },
		"lognormal":  func(r *rand.Rand) float64 { return math.Exp(0.3 * r.NormFloat64()) },
		"heavy tail": func(r *rand.Rand) float64 { return 1 + 0.01*math.Pow(r.Float64(), -0.7) }, // infinite variance
		"coarse":     func(r *rand.Rand) float64 { return math.Round(50*(1+0.02*r.NormFloat64())) / 50 },
	}
}

// simulation describes runs of two sides with several metrics. Values of the second side are multiplied by
// 1+change. Over time all values are multiplied by 1 plus a sine wave of amplitude drift. The sides of a pair
// run in random order.
type simulation struct {
	pairs, metrics int
	noise          func(*rand.Rand) float64
	change, drift  float64
}

func (s simulation) run(r *rand.Rand) (a, b *Set) {
	a, b = &Set{Name: "a"}, &Set{Name: "b"}
	phase := 2 * math.Pi * r.Float64()
	for i := range s.pairs {
		sides := [2]*Set{a, b}
		if r.IntN(2) == 0 {
			sides[0], sides[1] = b, a
		}
		for half, side := range sides {
			run := Run{Name: strconv.Itoa(i), Pair: strconv.Itoa(i)}
			slow := 1 + s.drift*math.Sin(phase+float64(2*i+half)/float64(2*s.pairs)*2*math.Pi)
			for m := range s.metrics {
				x := s.noise(r) * slow
				if side == b {
					x *= 1 + s.change
				}
				run.Values = append(run.Values, Value{
					Metric: Metric{Name: fmt.Sprint("time ", m), Unit: "s"}, Better: LowerIsBetter, X: x,
				})
			}
			side.Runs = append(side.Runs, run)
		}
	}
	return a, b
}

// countChanges returns the number of comparisons, out of rounds, in which any metric is better or worse.
func (s simulation) countChanges(t *testing.T, r *rand.Rand, rounds int, o Options) int {
	t.Helper()
	n := 0
	for range rounds {
		a, b := s.run(r)
		for _, l := range mustCompare(t, a, b, o).Lines {
			if l.Verdict == Better || l.Verdict == Worse {
				n++
				break
			}
		}
	}
	return n
}

// TestFalseAlarms checks that without a change at most 1 comparison in 20 shows one, over all metrics together.
func TestFalseAlarms(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const rounds = 150
	alarms, all := map[string]int{}, map[string]int{}
	for _, name := range []string{"normal", "lognormal", "heavy tail", "coarse"} {
		for _, s := range []simulation{
			{pairs: 6, metrics: 1},
			{pairs: 12, metrics: 1, drift: 0.1},
			{pairs: 40, metrics: 1, drift: 0.1},
			{pairs: 12, metrics: 5},
		} {
			s.noise = noises()[name]
			for _, p := range []Pairing{ByName, Unpaired} {
				key := fmt.Sprint(name, map[Pairing]string{ByName: ", paired", Unpaired: ", not paired"}[p])
				alarms[key] += s.countChanges(t, r, rounds, Options{Pairing: p, Effect: -1})
				all[key] += rounds
			}
		}
	}
	for key, n := range alarms {
		if n*1000 > all[key]*64 { // per 1000: 1 in 20 plus two standard deviations
			t.Errorf("%s: %d of %d", key, n, all[key])
		}
		if n == 0 {
			t.Errorf("%s: not one in %d: the test cannot come out", key, all[key])
		}
	}
}

// TestIntervalCoverage checks that 95 of 100 intervals contain the true ratio.
func TestIntervalCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	const rounds = 150
	for _, p := range []Pairing{ByName, Unpaired} {
		held := 0
		for _, name := range slices.Sorted(maps.Keys(noises())) {
			s := simulation{pairs: 15, metrics: 1, noise: noises()[name], change: 0.07}
			for range rounds {
				a, b := s.run(r)
				if l := mustCompare(t, a, b, Options{Pairing: p}).Lines[0]; l.Low <= 1.07+1e-9 && l.High >= 1.07-1e-9 {
					held++
				}
			}
		}
		if all := rounds * len(noises()); held < all*94/100 || held > all*98/100 {
			t.Errorf("pairing %d: %d of %d", p, held, all)
		}
	}
}

// TestPairsUnderDrift checks that pairs show a change that drift of the machine hides without pairs.
func TestPairsUnderDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	s := simulation{pairs: 20, metrics: 1, noise: noises()["normal"], change: 0.03, drift: 0.15}
	const rounds = 100
	paired, unpaired := s.countChanges(t, r, rounds, Options{}),
		s.countChanges(t, r, rounds, Options{Pairing: Unpaired})
	if paired < 85 || unpaired > 15 {
		t.Errorf("paired it is shown in %d of %d, unpaired in %d", paired, rounds, unpaired)
	}
}
