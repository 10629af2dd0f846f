package latency

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFit checks that rows and columns add up to the given sums, and that a small weight stays small.
func TestFit(t *testing.T) {
	table := [][]float64{{100, 1, 1}, {0.02, 1, 1}}
	fit(table, []float64{800, 200}, []float64{600, 300, 100})
	for i, want := range []float64{800, 200} {
		if got := table[i][0] + table[i][1] + table[i][2]; math.Abs(got-want) > 1 {
			t.Errorf("row %d adds up to %g, want %g", i, got, want)
		}
	}
	for k, want := range []float64{600, 300, 100} {
		if got := table[0][k] + table[1][k]; math.Abs(got-want) > 10 {
			t.Errorf("column %d adds up to %g, want %g", k, got, want)
		}
	}
	if table[1][0] > 20 {
		t.Errorf("a request that need not wait for consistency waits %g", table[1][0])
	}
}

// TestSplit checks a Strong and a Bounded collection on the same nodes. The phases of each collection must
// add up to its own mean, and the consistency wait must belong to the Strong collection.
func TestSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var strong, bounded, all, waits, leads []float64
	for range 4000 {
		kernel, wait := 8*rng.ExpFloat64(), 100+100*rng.Float64()
		strong, bounded = append(strong, wait+kernel), append(bounded, kernel+2)
		leads, waits = append(leads, wait+kernel, kernel+2), append(waits, wait, 0)
	}
	all = append(append(all, strong...), bounded...)
	r := &readings{missing: map[string]string{}}
	r.proxies = []proxyReading{{node: 1, seconds: 10, total: histogram(all, true), task: histogram(all, true)}}
	r.nodes = []nodeReading{
		{node: 2, role: "querynode", seconds: 10, leader: histogram(leads, true), consistency: histogram(waits, true)},
	}
	list := []collectionReading{
		{name: "strong", total: histogram(strong, true)}, {name: "bounded", total: histogram(bounded, true)},
	}
	budgets := split(searchBudget(r, Search), list, func(_, name string) traits {
		return traits{consistency: map[string]float64{"strong": 1}[name]}
	}, nil, &readings{})
	if len(budgets) != 3 {
		t.Fatalf("got %d budgets, want that of all and two more", len(budgets))
	}
	for _, b := range budgets {
		sum := 0.0
		for _, p := range b.Root.Leaves() {
			sum += p.Ms
		}
		if math.Abs(sum-b.Ms) > 0.02*b.Ms {
			t.Errorf("the phases of %q add up to %g, not to %g", b.Name, sum, b.Ms)
		}
	}
	if p := budgets[1].Root.Find(ConsistencyWait); p == nil || p.Ms < 130 || p.Ms > 170 {
		t.Errorf("strong waits for consistency %+v, want about 150 ms", p)
	}
	if p := budgets[2].Root.Find(ConsistencyWait); p == nil || p.Ms > 3 {
		t.Errorf("bounded waits for consistency %+v, want next to nothing", p)
	}
	if text := Verdict(budgets[1]); !strings.Contains(text, "search of strong 15") ||
		!strings.Contains(text, "waiting for consistency") {
		t.Errorf("verdict %q", text)
	}
}

// TestOnlyCollection checks that the budget of all is the budget of a collection that makes all requests.
func TestOnlyCollection(t *testing.T) {
	d := histogram([]float64{5, 9, 30}, true)
	r := &readings{proxies: []proxyReading{{total: d, task: d}}, missing: map[string]string{}}
	budgets := split(searchBudget(r, Search), []collectionReading{{name: "docs", total: d}},
		func(string, string) traits {
			return traits{id: 7}
		}, nil, &readings{})
	if len(budgets) != 1 || budgets[0].Name != "docs" || budgets[0].Collection != 7 {
		t.Errorf("got %d budgets, the first of %q", len(budgets), budgets[0].Name)
	}
	if text := Verdict(budgets[0]); !strings.HasSuffix(text, "(only 3 requests)") {
		t.Errorf("verdict %q does not say that three requests are few", text)
	}
}
