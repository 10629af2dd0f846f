package builds

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"html"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kitescope/profile/bench"
	"kitescope/render"
	"kitescope/render/rendertest"
)

// spread returns n values around a middle, with a relative deviation of at most share, in an order without a
// visible pattern.
func spread(n int, middle, share float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = middle * (1 + share*math.Sin(float64(7*i+3)))
	}
	return values
}

func medianOf(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// testLine returns a metric with the medians of its values, their ratio, and the given interval and verdict.
func testLine(
	m bench.Metric, better bench.Direction, a, b []float64, low, high, p float64, v bench.Verdict, remark string,
) bench.Line {
	l := bench.Line{
		Metric: m, Better: better, A: a, B: b, Before: medianOf(a), After: medianOf(b), Low: low, High: high,
		P: p / 3, Corrected: p, Verdict: v, Remark: remark,
	}
	l.Ratio = l.After / l.Before
	if v == bench.OneSide || v == bench.TooFew {
		l.Low, l.High, l.P, l.Corrected = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	} else {
		l.Test = "Mann-Whitney"
	}
	return l
}

func testSet(name, format string, runs int) *bench.Set {
	s := &bench.Set{Name: name, Format: format}
	for i := range runs {
		s.Runs = append(s.Runs, bench.Run{Name: strconv.Itoa(i + 1), Pair: strconv.Itoa(i + 1)})
	}
	return s
}

// pairedComparison returns a comparison of 24 pairs with every optional part.
func pairedComparison() *bench.Comparison {
	a, b := testSet("no-pgo", "kitescope trial", 24), testSet("default.pgo", "kitescope trial", 24)
	a.Runs[6].Failed, b.Runs[1].Failed = "exit status 1: "+rendertest.HostileName, "no response within 30s"
	b.Notes = []string{"2 lines are no results"}
	search := func(name, unit string, clients int) bench.Metric {
		return bench.Metric{Benchmark: "search k=10", Name: name, Unit: unit, Concurrency: clients}
	}
	c := &bench.Comparison{
		A: a, B: b, Paired: true, Level: 0.05, Effect: 0.01, Failed: [2]int{1, 1}, Unmatched: [2]int{1, 1},
		Notes: []string{"recall is on one side only"},
	}
	higher, lower := bench.HigherIsBetter, bench.LowerIsBetter
	for i, clients := range []int{1, 8} {
		base := 1203.4 * float64(1+3*i)
		c.Lines = append(
			c.Lines,
			testLine(search("QPS", "1/s", clients), higher, spread(22, base, 0.02), spread(22, base*1.073, 0.02), 1.061,
				1.084, 0.00003, bench.Better, ""),
			testLine(search("p99 latency", "s", clients), lower, spread(22, 0.01234, 0.1), spread(22, 0.01301, 0.1),
				0.97, 1.121, 0.31, bench.NoDifference, "needs at least 64 pairs to see 1%"),
		)
	}
	c.Lines = append(
		c.Lines,
		testLine(bench.Metric{Name: "max RSS", Unit: "B"}, lower, spread(22, 312<<20, 0.01), spread(22, 369<<20, 0.01),
			1.17, 1.19, 1e-7, bench.Worse, ""),
		testLine(bench.Metric{Name: "cpu per query", Unit: "s"}, lower, spread(22, 0.000681, 0.004),
			spread(22, 0.000679, 0.004), 0.9934, 1.0021, 0.04, bench.NoDifference, "a change, and smaller than 1%"),
		testLine(bench.Metric{Name: "rows scanned"}, bench.Unknown, spread(22, 1_234_567, 0.001),
			spread(22, 1_400_000, 0.001), 1.13, 1.14, 1e-9, bench.Changed,
			"nothing says which direction is better: --better 'rows scanned=lower'"),
		testLine(bench.Metric{Name: "recall", Unit: "%"}, higher, nil, spread(22, 97.3, 0), 0, 0, 0, bench.OneSide, ""),
		testLine(bench.Metric{Name: rendertest.HostileName, Benchmark: "<script>alert(1)</script>|x", Unit: "\x1b[1m|"},
			lower, spread(2, 5, 0.1), spread(2, 4, 0.1), 0, 0, 0, bench.TooFew,
			"needs at least 6 pairs to see anything"),
	)
	c.Lines = append(c.Lines,
		testLine(bench.Metric{Name: "queries"}, bench.Neither, spread(22, 1e5, 0), spread(22, 1e5, 0), math.NaN(),
			math.NaN(), math.NaN(), bench.NotJudged, ""))
	c.Lines[len(c.Lines)-1].Test = ""
	for i := range c.Lines {
		if c.Lines[i].Test != "" {
			c.Lines[i].Test = "Wilcoxon signed-rank"
		}
	}
	c.Control = &bench.Comparison{
		A: a, B: testSet("no-pgo again", "kitescope trial", 24), Paired: true, Level: 0.05, Effect: 0.01,
	}
	for i := range c.Lines[:6] {
		l := c.Lines[i]
		l.B, l.After, l.Ratio, l.Low, l.High, l.P, l.Corrected, l.Verdict, l.Remark = l.A, l.Before, 1.0004, 0.99,
			1.012, 0.4, 1, bench.NoDifference, ""
		c.Control.Lines = append(c.Control.Lines, l)
	}
	return c
}

// publishedComparison returns a comparison of published figures with one run per side, which cannot be tested.
func publishedComparison() *bench.Comparison {
	c := &bench.Comparison{A: testSet("without", "csv", 1), B: testSet("with", "csv", 1), Level: 0.05, Effect: 0.01}
	for _, x := range []struct {
		name, unit    string
		better        bench.Direction
		before, after float64
	}{
		{"search requests per second", "1/s", bench.HigherIsBetter, 391.07, 419.74},
		{"search maximum latency", "s", bench.LowerIsBetter, 0.5124, 0.2105},
		{"failed", "", bench.LowerIsBetter, 0, 0},
		{"errors", "", bench.LowerIsBetter, 0, 3},
	} {
		c.Lines = append(c.Lines,
			testLine(bench.Metric{Name: x.name, Unit: x.unit}, x.better, []float64{x.before}, []float64{x.after}, 0, 0,
				0, bench.TooFew, "one run a side proves nothing"))
	}
	return c
}

// goComparison returns an unpaired comparison of Go benchmarks.
func goComparison() *bench.Comparison {
	c := &bench.Comparison{
		A: testSet("old.txt", "go benchmark", 10), B: testSet("new.txt", "go benchmark", 12), Level: 0.05, Effect: 0.01,
	}
	for i, name := range []string{
		"Encode/small-2", "Encode/large-with-a-name-that-is-longer-than-any-terminal-is-wide-and-goes-on-and-on-2",
		"Decode-2",
	} {
		x := float64(1 + 40*i*i)
		c.Lines = append(
			c.Lines,
			testLine(bench.Metric{Benchmark: name, Name: "sec/op", Unit: "s"}, bench.LowerIsBetter,
				spread(10, 812e-9*x, 0.01), spread(12, 700e-9*x, 0.01), 0.85, 0.87, 0.0002, bench.Better, ""),
			testLine(bench.Metric{Benchmark: name, Name: "B/op", Unit: "B"}, bench.LowerIsBetter, spread(10, 128*x, 0),
				spread(12, 128*x, 0), 1, 1, 1, bench.NoDifference, "all values are equal"),
			testLine(bench.Metric{Benchmark: name, Name: "throughput", Unit: "B/s"}, bench.HigherIsBetter,
				spread(10, 100e6*x, 0.01), spread(12, 99.7e6*x, 0.01), 0.99, 1.01, 0.8, bench.NoDifference, ""),
		)
	}
	return c
}

func comparisons() map[string]*bench.Comparison {
	return map[string]*bench.Comparison{
		"paired": pairedComparison(), "published": publishedComparison(), "go": goComparison(),
		"nothing": {Notes: []string{"both files are empty"}},
	}
}

func comparisonFormat(t *testing.T, word string) render.Format {
	t.Helper()
	f, err := ComparisonFormats().Parse(word)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestGoldenComparison(t *testing.T) {
	for name, c := range comparisons() {
		rendertest.Report(t, "compare/"+name, ComparisonFormats().Names(), map[string]rendertest.Variant{
			"120": {Width: 120}, "60-ascii": {Width: 60, ASCII: true}, "wide": {Width: 80}, "json": {}, "csv": {},
			"markdown": {Width: 80},
		}, nil, func(w io.Writer, l rendertest.Variant) error {
			return WriteComparison(w, c, comparisonFormat(t, l.Word),
				render.ReportOptions{Options: render.Options{Width: l.Width, ASCII: l.ASCII}})
		})
	}
}

// TestComparisonWording checks that every format marks changes that are not significant.
func TestComparisonWording(t *testing.T) {
	c := publishedComparison()
	for _, word := range rendertest.Words(ComparisonFormats().Names()) {
		var b bytes.Buffer
		if err := WriteComparison(&b, c, comparisonFormat(t, word),
			render.ReportOptions{Options: render.Options{Width: 200}}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		switch word {
		case "csv":
			records, err := csv.NewReader(&b).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			at := slices.Index(records[0], "shown")
			for _, r := range records[1:] {
				if r[at] != "false" || r[slices.Index(records[0], "verdict")] != "too few runs" {
					t.Errorf("%v", r)
				}
			}
		case "json", "yaml", "jsonl", "template={{json .}}":
			if strings.Contains(text, `"shown":true`) || !strings.Contains(text, "too few runs") {
				t.Errorf("%s: %s", word, text)
			}
		default:
			if text = html.UnescapeString(text); strings.Contains(text, " +7.3%") ||
				!strings.Contains(text, "(+7.3%)") || !strings.Contains(text, "one run a side proves nothing") {
				t.Errorf("%s: %s", word, text)
			}
		}
	}
}

// TestLargeComparison checks comparisons of 2,000 metrics.
func TestLargeComparison(t *testing.T) {
	c := &bench.Comparison{
		A: testSet("a", "csv", 6), B: testSet("b", "csv", 6), Level: 0.05, Effect: 0.01, Paired: true,
	}
	for i := range 2000 {
		m := bench.Metric{Benchmark: "case " + strconv.Itoa(i/4), Name: "metric " + strconv.Itoa(i%4), Unit: "s"}
		c.Lines = append(c.Lines,
			testLine(m, bench.LowerIsBetter, spread(6, 1, 0.1), spread(6, 2, 0.1), 1.9, 2.1, 0.01, bench.Worse, ""))
	}
	c.Control = &bench.Comparison{A: c.A, B: c.A, Lines: c.Lines}
	for _, word := range rendertest.Words(ComparisonFormats().Names()) {
		var b bytes.Buffer
		if err := WriteComparison(&b, c, comparisonFormat(t, word),
			render.ReportOptions{Options: render.Options{Width: 120}}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "metric 3"); n < 500 {
			t.Errorf("%s: %d lines", word, n)
		}
	}
}

// TestComparisonValues checks that the JSON contains the values of all runs.
func TestComparisonValues(t *testing.T) {
	var b bytes.Buffer
	c := pairedComparison()
	if err := WriteComparison(&b, c, comparisonFormat(t, "json"), render.ReportOptions{}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Kind   string
		Before struct{ Runs, Failed, Unmatched int }
		Items  []struct {
			Metric, Verdict string
			Before          float64
			Change          float64   `json:"change_percent"`
			A               []float64 `json:"values_before"`
			B               []float64 `json:"values_after"`
		}
		Control struct {
			Quiet bool
			Items []map[string]any
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "Comparison" || got.Before.Runs != 24 || got.Before.Failed != 1 || got.Before.Unmatched != 1 ||
		!got.Control.Quiet || len(got.Control.Items) != 6 {
		t.Errorf("%+v", got)
	}
	for i, x := range got.Items {
		l := c.Lines[i]
		if x.Metric != l.Name || x.Verdict != l.Verdict.String() || !slices.Equal(x.A, l.A) && len(l.A) > 0 ||
			!slices.Equal(x.B, l.B) {
			t.Errorf("%s is not %s, %v", x.Metric, l.Name, x)
		}
		if l.Verdict != bench.OneSide && math.Abs(x.Change-100*(l.Ratio-1)) > 1e-9 {
			t.Errorf("%s changes by %g, not %g", x.Metric, x.Change, 100*(l.Ratio-1))
		}
	}
}

func TestMeasure(t *testing.T) {
	for _, tt := range []struct {
		unit   string
		values []float64
		want   string
	}{
		{"s", []float64{0.01234, 0.01301}, "12.34 ms, 13.01 ms"},
		{"s", []float64{0.000681, 0.000872}, "681.0 us, 872.0 us"},
		{"s", []float64{104, 99}, "104.00 s, 99.00 s"},
		{"", []float64{8.40, 5.16}, "8.400, 5.160"},
		{"", []float64{1234567, 1400000}, "1.235 M, 1.400 M"},
		{"1/s", []float64{1203.42, 1291.3}, "1.203k/s, 1.291k/s"},
		{"B", []float64{312 << 20, 369 << 20}, "312.0 MiB, 369.0 MiB"},
		{"B/s", []float64{100e6, 99.7e6}, "95.37 MiB/s, 95.08 MiB/s"},
		{"%", []float64{97.3, 97.345}, "97.30%, 97.34%"},
		{"points", []float64{1e7, 2e7}, "10000000 points, 20000000 points"},
		{"\x1b[31m", []float64{1, math.NaN()}, "1.000 \\x1b[31m, ?"},
		{"", []float64{math.Inf(1), 1}, "+Inf, 1.000"},
		{"s", []float64{0, 0}, "0.000 s, 0.000 s"},
	} {
		m := newMeasure(tt.unit, tt.values...)
		if got := m.text(tt.values[0], true) + ", " + m.text(tt.values[1], true); got != tt.want {
			t.Errorf("%v %q: %s, want %s", tt.values, tt.unit, got, tt.want)
		}
	}
}

func TestRatioText(t *testing.T) {
	for _, tt := range []struct {
		ratio float64
		want  string
	}{
		{1.073, "+7.3%"},
		{0.411, "-58.9%"},
		{1, "0%"},
		{1.0029, "+0.29%"},
		{1.00001, "+0.001%"},
		{0.99999, "-0.001%"},
		{math.NaN(), "?"},
		{math.Inf(1), "+inf%"},
		{3.5, "+250%"},
		{0, "-100%"},
		{1.00996, "+1.0%"},
	} {
		if got := render.RatioText(tt.ratio); got != tt.want {
			t.Errorf("%g: %s, want %s", tt.ratio, got, tt.want)
		}
	}
}
