package live_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	prometheus "github.com/prometheus/common/model"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// byPrometheus parses a text with Prometheus's own parser: a second implementation of ParseMetrics. It drops
// HELP lines, which ParseMetrics ignores.
func byPrometheus(text []byte) (_ *model.Metrics, err error) {
	var without bytes.Buffer
	for line := range bytes.Lines(text) {
		comment, is := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("#"))
		if !is || !bytes.HasPrefix(bytes.TrimLeft(comment, " \t"), []byte("HELP")) {
			without.Write(line)
		}
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r) // broken text can cause a panic
		}
	}()
	parser := expfmt.NewTextParser(prometheus.UTF8Validation)
	families, err := parser.TextToMetricFamilies(&without)
	m := &model.Metrics{Families: map[string]*model.Family{}}
	for name, f := range families {
		made := &model.Family{Name: name, Kind: kindOf[f.GetType()]}
		for _, x := range f.GetMetric() {
			if s, bounds, ok := seriesOf(x); ok {
				made.Series = append(made.Series, s)
				if made.Bounds == nil {
					made.Bounds = bounds
				}
				if !slices.Equal(bounds, made.Bounds) {
					made.Series[len(made.Series)-1].Buckets = nil
				}
			}
		}
		if len(made.Series) > 0 {
			m.Families[name] = made
		}
	}
	return m, err
}

var kindOf = map[dto.MetricType]model.MetricKind{
	dto.MetricType_COUNTER: model.MetricCounter, dto.MetricType_GAUGE: model.MetricGauge,
	dto.MetricType_SUMMARY:   model.MetricSummary,
	dto.MetricType_HISTOGRAM: model.MetricHistogram, dto.MetricType_GAUGE_HISTOGRAM: model.MetricHistogram,
}

func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func valueOr(v *float64) float64 {
	if v == nil || !isNumber(*v) {
		return math.NaN()
	}
	return *v
}

// seriesOf converts a series in the simplest way. ok is false if it has no value.
func seriesOf(x *dto.Metric) (s model.Series, bounds []float64, ok bool) {
	for _, l := range x.GetLabel() {
		s.Labels = append(s.Labels, model.Pair{Key: l.GetName(), Value: l.GetValue()})
	}
	slices.SortFunc(s.Labels, func(a, b model.Pair) int { return cmp.Compare(a.Key, b.Key) })
	switch {
	case x.Counter != nil:
		s.Value = x.Counter.GetValue()
	case x.Gauge != nil:
		s.Value = x.Gauge.GetValue()
	case x.Untyped != nil:
		s.Value = x.Untyped.GetValue()
	case x.Summary != nil:
		s.Value, s.Count = valueOr(x.Summary.SampleSum), math.NaN()
		if c := x.Summary.SampleCount; c != nil && *c <= 1<<53 {
			s.Count = float64(*c)
		}
		for _, q := range x.Summary.GetQuantile() {
			if isNumber(q.GetValue()) && !math.IsNaN(q.GetQuantile()) {
				s.Quantiles = append(s.Quantiles, model.Quantile{Share: q.GetQuantile(), Value: q.GetValue()})
			}
		}
		return s, nil, isNumber(s.Value) || isNumber(s.Count) || len(s.Quantiles) > 0
	case x.Histogram != nil:
		return histogramOf(s, x.Histogram)
	}
	return s, nil, isNumber(s.Value)
}

func histogramOf(s model.Series, h *dto.Histogram) (_ model.Series, bounds []float64, ok bool) {
	s.Value, s.Count = valueOr(h.SampleSum), math.NaN()
	if h.SampleCount != nil || h.SampleCountFloat != nil {
		s.Count = cmp.Or(h.GetSampleCountFloat(), float64(h.GetSampleCount()))
	}
	list := slices.Clone(h.GetBucket())
	slices.SortStableFunc(list, func(a, b *dto.Bucket) int { return cmp.Compare(a.GetUpperBound(), b.GetUpperBound()) })
	sound := true
	for i, b := range list {
		count := cmp.Or(b.GetCumulativeCountFloat(), float64(b.GetCumulativeCount()))
		if i == len(list)-1 && math.IsInf(b.GetUpperBound(), 1) {
			if math.IsNaN(s.Count) {
				s.Count = count
			}
			break
		}
		if math.IsInf(b.GetUpperBound(), 0) || slices.Contains(bounds, b.GetUpperBound()) ||
			i > 0 && count < s.Buckets[i-1] {
			sound = false
		}
		bounds, s.Buckets = append(bounds, b.GetUpperBound()), append(s.Buckets, count)
	}
	if !(s.Count <= 1<<53) {
		s.Count = math.NaN()
	}
	if n := len(s.Buckets); n == 0 || !sound || !(s.Buckets[n-1] <= s.Count) {
		s.Buckets, bounds = nil, nil
	}
	return s, bounds, isNumber(s.Value) || isNumber(s.Count)
}

// wantAsPrometheus reports differences from Prometheus's parser.
func wantAsPrometheus(t *testing.T, text []byte) {
	t.Helper()
	want, err := byPrometheus(text)
	if err != nil || !bytes.HasSuffix(text, []byte("\n")) {
		return
	}
	got, err := live.ParseMetrics(bytes.NewReader(text), time.Time{})
	if err != nil {
		// Quoted names, le twice, and text over the limits are not parsed.
		ours := []string{"is not a sample", "label that is none", "label twice", "more than"}
		if len(want.Families) > 0 &&
			!slices.ContainsFunc(ours, func(x string) bool { return strings.Contains(err.Error(), x) }) {
			t.Errorf("Prometheus reads it: %v", err)
		}
		return
	}
	for _, f := range got.Families {
		for i := range f.Series {
			if f.Kind == model.MetricSummary {
				f.Series[i].Count = math.Trunc(f.Series[i].Count) // as in Prometheus
			}
		}
	}
	inOrder := cmpopts.SortSlices(func(a, b model.Series) bool { return fmt.Sprint(a) < fmt.Sprint(b) })
	if diff := gocmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), inOrder); diff != "" {
		t.Errorf("Prometheus (-), ours (+):\n%s", diff)
	}
}

// TestMetricsAsPrometheusReadsThem compares ParseMetrics with Prometheus's parser on every text of every
// capture and on random texts.
func TestMetricsAsPrometheusReadsThem(t *testing.T) {
	texts := capturedTexts(t)
	if len(texts) < 60 {
		t.Fatalf("%d texts", len(texts))
	}
	for _, text := range texts {
		wantAsPrometheus(t, text)
	}
	random := rand.New(rand.NewPCG(7, 15))
	for range 2000 {
		wantAsPrometheus(t, randomText(random))
	}
}

// capturedTexts returns the metrics of all captures.
func capturedTexts(t testing.TB) (texts [][]byte) {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/snapshots/*/metrics/*.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
		_ = f.Close()
	}
	return texts
}

// randomText returns a text of few names and labels, so that all combinations occur.
func randomText(random *rand.Rand) []byte {
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	var b bytes.Buffer
	for range random.IntN(30) {
		if random.IntN(6) == 0 {
			fmt.Fprintf(&b, "# TYPE %s %s\n", pick("a", "b", "a_sum", "h", "s"),
				pick("counter", "gauge", "histogram", "summary", "untyped", "GAUGE_HISTOGRAM"))
			continue
		}
		b.WriteString(pick("", "", "", " ", "\t") + pick("a", "b", "h", "s", "a_b") +
			pick("", "", "_sum", "_count", "_bucket", "_bucket"))
		for i, n := 0, random.IntN(4); i < n; i++ {
			b.WriteString(pick("", "", "", "", " ") + map[bool]string{true: "{", false: ","}[i == 0])
			b.WriteString(pick("", "", "", "", " ") + pick("x", "y", "role", "quantile", "le", "le", "le") + "=")
			b.WriteString(pick(`"1"`, `"1"`, `"2"`, `"0.5"`, `"+Inf"`, `"x\"y\\"`, `"}"`, `",le=\"5"`, `"NaN"`))
			if i == n-1 {
				b.WriteString(pick("", "", ",") + "}")
			}
		}
		b.WriteString(" " + pick("0", "1", "2", "7", "-3", "1e3", "0.25", "NaN", "+Inf", "123456789012345678", "1e300"))
		b.WriteString(pick("", "", "", " 1700000000000") + "\n")
	}
	return b.Bytes()
}

// FuzzMetricsAsPrometheus compares ParseMetrics with Prometheus's parser on all texts that the latter can
// parse.
func FuzzMetricsAsPrometheus(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		f.Add(randomText(random))
	}
	f.Add([]byte("# TYPE h histogram\nh_bucket{a=\"1\",le=\"1\"} 1\nh_bucket{a=\"1\",le=\"2\"} 1 5\n" +
		"h_bucket{le=\"+Inf\",a=\"1\"} 3\nh_sum{a=\"1\"} 2\nh_count{a=\"1\"} 3\n"))
	f.Fuzz(wantAsPrometheus)
}
