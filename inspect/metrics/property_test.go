package metrics_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// simulation simulates a process and records each observation. The results of Window are compared with it.
type simulation struct {
	calls   map[string][]float64 // milliseconds, by query type
	counted map[string]int
	started int
	cpu     int
}

var bounds = []float64{1, 2, 4, 8, 16}

// exposition returns the /metrics text of the process, with its histogram series in random order.
func (o *simulation) exposition(random *rand.Rand, whole bool) string {
	o.cpu++
	var parts []string
	for kind, list := range o.calls {
		var b strings.Builder
		for _, bound := range bounds {
			n := 0
			for _, v := range list {
				if recordedValue(v, whole) <= bound {
					n++
				}
			}
			fmt.Fprintf(&b, "milvus_proxy_sq_latency_bucket{query_type=%q,le=\"%v\"} %d\n", kind, bound, n)
		}
		sum := 0.0
		for _, v := range list {
			sum += recordedValue(v, whole)
		}
		fmt.Fprintf(&b,
			"milvus_proxy_sq_latency_bucket{query_type=%q,le=\"+Inf\"} %d\n"+
				"milvus_proxy_sq_latency_sum{query_type=%q} %v\nmilvus_proxy_sq_latency_count{query_type=%q} %d\n",
			kind, len(list), kind, sum, kind, len(list))
		parts = append(parts, b.String())
	}
	random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	parts = append(parts, "# TYPE milvus_proxy_req_count counter\n")
	for _, status := range slices.Sorted(maps.Keys(o.counted)) {
		parts = append(parts, fmt.Sprintf("milvus_proxy_req_count{status=%q} %d\n", status, o.counted[status]))
	}
	return process(o.started, o.cpu, o.cpu*100) + "# TYPE milvus_proxy_sq_latency histogram\n" + strings.Join(parts, "")
}

// recordedValue returns the value that Milvus records for a duration.
func recordedValue(v float64, whole bool) float64 {
	if whole {
		return math.Trunc(v)
	}
	return v
}

// randomCalls makes up to 19 random calls and returns them.
func (o *simulation) randomCalls(random *rand.Rand) (calls map[string][]float64, counted map[string]int) {
	calls, counted = map[string][]float64{}, map[string]int{}
	for range random.IntN(20) {
		kind := []string{"search", "query", "hybrid"}[random.IntN(3)]
		v := math.Exp(random.Float64()*6 - 2)
		o.calls[kind], calls[kind] = append(o.calls[kind], v), append(calls[kind], v)
		status := []string{"total", "fail"}[random.IntN(2)]
		o.counted[status]++
		counted[status]++
	}
	return calls, counted
}

// TestWindowsMatchObservations checks random processes, some restarted. Sums, counts and buckets must match the
// observations between the scrapes or since the start, and the intervals must contain the true values.
func TestWindowsMatchObservations(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 15))
	for round := range 3000 {
		whole, restart := random.IntN(2) == 0, random.IntN(4) == 0
		o := &simulation{calls: map[string][]float64{}, counted: map[string]int{}, started: 1_795_160_000}
		o.randomCalls(random)
		before := scrape(t, 0, o.exposition(random, whole))
		if restart {
			o = &simulation{calls: map[string][]float64{}, counted: map[string]int{}, started: 1_795_170_003}
		}
		calls, counted := o.randomCalls(random)
		w := metrics.NewWindow(before, scrape(t, 10, o.exposition(random, whole)))
		if w.SinceStart != restart {
			t.Fatalf("round %d: since start: %v, restarted: %v", round, w.SinceStart, restart)
		}
		for kind, list := range calls {
			h, ok := w.Histogram(metrics.ProxySearch, model.Pair{Key: "query_type", Value: kind})
			if !ok {
				t.Fatalf("round %d: no %s", round, kind)
			}
			checkHistogram(t, h, list, whole)
		}
		for status, n := range counted {
			if came, ok := w.Counter(metrics.ProxyRequests, model.Pair{Key: "status", Value: status}); !ok ||
				came != float64(n) {
				t.Fatalf("round %d: %s: %v came, %d did", round, status, came, n)
			}
		}
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

// checkHistogram compares a histogram with the observations.
func checkHistogram(t *testing.T, h metrics.Histogram, list []float64, whole bool) {
	t.Helper()
	truth, sum := slices.Sorted(slices.Values(list)), 0.0
	for _, v := range list {
		sum += v
	}
	if h.Count != float64(len(list)) {
		t.Errorf("%v were counted of %d", h.Count, len(list))
	}
	low, high, ok := h.Mean()
	if mean := sum / float64(len(list)); !ok || mean < low-1e-9 || mean > high+1e-9 || high-low > 1+1e-9 {
		t.Errorf("the mean is %v, and said to be from %v to %v", mean, low, high)
	}
	for _, q := range []float64{0, 0.5, 0.95, 0.99, 1} {
		low, high, ok := h.Quantile(q)
		at := max(int(math.Ceil(q*float64(len(list)))), 1) - 1
		if v := recordedValue(truth[at], whole); !ok || v > high || v <= low && low > 0 {
			t.Errorf("p%v is %v, and said to be from %v to %v", q*100, v, low, high)
		}
	}
}

// FuzzWindow checks that no pair of scrapes yields negative counts or empty intervals.
func FuzzWindow(f *testing.F) {
	const text = "# TYPE milvus_proxy_sq_latency histogram\nmilvus_proxy_sq_latency_bucket{le=\"1\"} 1\n" +
		"milvus_proxy_sq_latency_bucket{le=\"+Inf\"} %d\nmilvus_proxy_sq_latency_sum %d\n" +
		"milvus_proxy_sq_latency_count %d\n# TYPE milvus_proxy_req_count counter\n" +
		"milvus_proxy_req_count{status=\"total\"} %d\n"
	f.Add(process(1, 1, 1)+fmt.Sprintf(text, 4, 30, 4, 9), process(1, 2, 2)+fmt.Sprintf(text, 9, 50, 9, 4))
	f.Add(process(1, 1, 1), process(2, 1, 1))
	f.Fuzz(func(t *testing.T, first, second string) {
		w := metrics.NewWindow(parseLenient(first, 0), parseLenient(second, 10))
		if w.Seconds() < 0 {
			t.Errorf("%v s", w.Seconds())
		}
		for _, m := range metrics.All() {
			w.Each(m.Name, func(labels []model.Pair, h metrics.Histogram) {
				low, high, ok := h.Mean()
				from, to, has := h.Quantile(0.9)
				if h.Count < 0 || math.IsNaN(h.Count) || ok && !(low <= high) || has && !(from <= to) {
					t.Errorf("%s %v: %+v, mean %v to %v, p90 %v to %v", m.Name, labels, h, low, high, from, to)
				}
				if !slices.IsSorted(h.Buckets) ||
					len(h.Buckets) > 0 && (h.Buckets[0] < 0 || h.Buckets[len(h.Buckets)-1] > h.Count) {
					t.Errorf("%s %v: %+v", m.Name, labels, h)
				}
			})
			w.Missing(m.Name)
		}
	})
}

// parseLenient parses text and ignores errors.
func parseLenient(text string, second int) *model.Metrics {
	m, _ := parse(text, second)
	return m
}
