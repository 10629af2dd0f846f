package bench

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// loadRuns are runs as ab prints them: four figures that follow from each other, rounded as it rounds, and one that does not.
func loadRuns(r *rand.Rand, n, requests int, seconds, noise float64) *Set {
	s := &Set{Name: strconv.FormatFloat(seconds, 'g', 3, 64)}
	rounded := func(x float64, digits int) float64 { return math.Round(x*math.Pow10(digits)) / math.Pow10(digits) }
	for i := range n {
		took := seconds * math.Exp(noise*r.NormFloat64())
		const clients, size = 8, 3421
		s.Runs = append(s.Runs, Run{Name: strconv.Itoa(i), Values: []Value{
			{Metric: Metric{Name: "time taken", Unit: "s"}, Better: LowerIsBetter, X: rounded(took, 3), Step: 1e-3},
			{Metric: Metric{Name: "requests per second", Unit: "1/s"}, Better: HigherIsBetter, X: rounded(float64(requests)/took, 2), Step: 1e-2},
			{Metric: Metric{Name: "mean latency", Unit: "s"}, Better: LowerIsBetter, X: rounded(clients*took/float64(requests)*1000, 3) / 1000, Step: 1e-6},
			{Metric: Metric{Name: "transfer rate", Unit: "B/s"}, Better: HigherIsBetter, X: rounded(size*float64(requests)/took/1024, 2) * 1024, Step: 1e-2 * 1024},
			{Metric: Metric{Name: "p99 latency", Unit: "s"}, Better: LowerIsBetter, X: took / 1000 * math.Exp(0.05*r.NormFloat64())},
		}})
	}
	return s
}

// TestOneFigureUnderFourNames corrects what is one figure once: five names are two tests.
func TestOneFigureUnderFourNames(t *testing.T) {
	for name, c := range map[string]struct {
		requests             int
		before, after, noise float64
	}{
		"seconds":    {10_000, 5.2, 4.9, 0.02},
		"short runs": {400, 0.272, 0.221, 0.1}, // of which ab prints three digits
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(18, 1))
			oneFigure(t, loadRuns(r, 8, c.requests, c.before, c.noise), loadRuns(r, 8, c.requests, c.after, c.noise))
		})
	}
}

func oneFigure(t *testing.T, a, b *Set) {
	t.Helper()
	c, err := Compare(a, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range c.Lines {
		want := map[string]string{"requests per second": "time taken", "mean latency": "time taken", "transfer rate": "time taken"}[l.Name]
		if l.SameAs != want {
			t.Errorf("%s is the same as %q, want %q", l.Name, l.SameAs, want)
		}
		if l.Corrected > 2*l.P*(1+1e-9) {
			t.Errorf("%s: p %g is corrected to %g, as if there were more than two figures", l.Name, l.P, l.Corrected)
		}
	}
	if !strings.Contains(strings.Join(c.Notes, "\n"), "one figure under 4 names, corrected once: time taken; requests per second; mean latency and 1 more") {
		t.Errorf("notes: %q", c.Notes)
	}
}

// TestIndependentFiguresStayApart takes nothing for another's name that is not: noise of its own tells them apart, also where both sides
// differ by the same factor in all of them.
func TestIndependentFiguresStayApart(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 2))
	for name, noise := range noises() {
		for _, change := range []float64{0, 1} {
			for range 200 {
				a, b := simulated{pairs: 3, metrics: 6, noise: noise, change: change}.run(r)
				c, err := Compare(a, b, Options{Pairing: Unpaired})
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range c.Lines {
					if l.SameAs != "" && name != "coarse" { // of few coarse steps three runs may have the same by chance
						t.Fatalf("%s, change %g: %s is taken for %s: %v %v", name, change, l.Name, l.SameAs, l.A, l.B)
					}
				}
			}
		}
	}
	// Counts that hardly vary and change together are two figures: nothing of their own says that they are one.
	a, b := &Set{}, &Set{}
	for i := range 5 {
		for k, s := range []*Set{a, b} {
			x := float64(1e9 * (1 + k))
			s.Runs = append(s.Runs, Run{Values: []Value{
				{Metric: Metric{Name: "instructions"}, X: x + float64(i)}, {Metric: Metric{Name: "branches"}, X: x/5 + float64(i*i%3)},
			}})
		}
	}
	c, err := Compare(a, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Lines[1].SameAs != "" {
		t.Errorf("branches are taken for %s", c.Lines[1].SameAs)
	}
}

// TestMediansThatContradict has pairs that all got a little better, while the medians, of other pairs, say the opposite.
func TestMediansThatContradict(t *testing.T) {
	before := []float64{100, 100, 100, 104, 104, 104, 100.5}
	after := []float64{98, 98, 98, 102, 102, 102, 101.4}
	a, b := &Set{}, &Set{}
	for i := range before {
		for k, s := range []*Set{a, b} {
			x := [][]float64{before, after}[k][i]
			s.Runs = append(s.Runs, Run{Pair: strconv.Itoa(i), Values: []Value{{Metric: Metric{Name: "latency", Unit: "s"}, Better: LowerIsBetter, X: x}}})
		}
	}
	c, err := Compare(a, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := c.Lines[0]
	if l.After <= l.Before || l.Ratio >= 1 {
		t.Fatalf("no contradiction: %g to %g, ratio %g", l.Before, l.After, l.Ratio)
	}
	if want := "the two medians differ by +0.9%, runs of a pair by -2%, which counts"; !strings.HasSuffix(l.Remark, want) {
		t.Errorf("remark %q, want %q", l.Remark, want)
	}
}
