package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnits(t *testing.T) {
	inMilliseconds := Metric{Name: "latency", Unit: "ms"}
	for _, v := range []struct{ a, b, lines, notes string }{
		{"ms", "s", "latency [s]", "[latency: ms before and s after, converted latency is about 1000 times what it was: is one of the sides in another unit?]"},
		{"ms", "ms", "latency [ms]", "[both sides are the same results]"},
		{"KiB", "MB", "latency [B]", "[latency: KiB before and MB after, converted latency is about 1000 times what it was: is one of the sides in another unit?]"},
		{"1/s", "1/min", "latency [1/s]", "[latency: 1/s before and 1/min after, converted]"},
		{"ms", "furlong", "latency [ms] latency [furlong]", "[latency (ms and furlong): not compared: the units of the two sides cannot be converted]"},
		{"s", "", "latency [s] latency []", "[latency (s and no unit): not compared: the units of the two sides cannot be converted]"},
		{"s", "B", "latency [s] latency [B]", "[latency (s and B): not compared: the units of the two sides cannot be converted]"},
	} {
		a, b := inMilliseconds, inMilliseconds
		a.Unit, b.Unit = v.a, v.b
		c := mustCompare(t, column(a, LowerIsBetter, 1, 2, 3), column(b, LowerIsBetter, 1, 2, 3), Options{})
		var lines []string
		for _, l := range c.Lines {
			lines = append(lines, fmt.Sprintf("%s [%s]", l.Name, l.Unit))
			if (len(c.Lines) == 2) != (l.Verdict == OneSide) {
				t.Errorf("%v: %s", v, summary(&l))
			}
		}
		if got := strings.Join(lines, " "); got != v.lines || fmt.Sprint(c.Notes) != v.notes {
			t.Errorf("%s and %s: %s\n%s\nwant %s\n%s", v.a, v.b, got, c.Notes, v.lines, v.notes)
		}
	}
	same := mustCompare(t, column(inMilliseconds, LowerIsBetter, 1500, 1600, 1700), column(latency(), LowerIsBetter, 1.5, 1.6, 1.7), Options{})
	if l := same.Lines[0]; l.Before != 1.6 || l.After != 1.6 || math.Abs(l.Ratio-1) > 1e-9 {
		t.Errorf("the same in two units: %s", summary(&l))
	}
}

func TestNotes(t *testing.T) {
	a, b := column(qps(), HigherIsBetter, 1, 2, 3), column(qps(), HigherIsBetter, 1, 2, 4)
	beside(a, latency(), LowerIsBetter, 5, 6, math.NaN())
	beside(b, Metric{Name: "recall"}, HigherIsBetter, 0.9, math.Inf(1))
	beside(b, qps(), HigherIsBetter, 3)
	beside(a, Metric{Name: "mood"}, HigherIsBetter, 3)
	beside(b, Metric{Name: "mood"}, LowerIsBetter, 3)
	c := mustCompare(t, a, b, Options{Better: map[string]Direction{"typo": HigherIsBetter}})
	want := []string{
		"before: 1 value is not a number or far too large, and left out",
		"after: 1 value is not a number or far too large, and left out",
		"after: a run has several values of QPS, which are not independent: using their median",
		"mood: the two sides disagree on which direction is better; changes are shown without better or worse",
		`a direction was given for "typo", but no metric has that name`,
	}
	if diff := cmp.Diff(want, c.Notes); diff != "" {
		t.Error(diff)
	}
	var lines []string
	for _, l := range c.Lines {
		lines = append(lines, fmt.Sprint(l.Name, " ", l.A, l.B, " ", l.Verdict, " ", l.Remark))
	}
	wantLines := []string{
		"QPS [1 2 3] [2 2 4] too few runs needs at least 7 pairs, and 18168 to see 1%",
		"latency [5 6] [] one side only only before",
		"mood [3] [3] too few runs one pair proves nothing: needs at least 7 pairs",
		"recall [] [0.9] one side only only after",
	}
	if diff := cmp.Diff(wantLines, lines); diff != "" {
		t.Error(diff)
	}
}

func TestCurves(t *testing.T) {
	at := func(m Metric, clients int) Metric { m.Concurrency = clients; return m }
	a := column(at(qps(), 8), HigherIsBetter, 800)
	b := column(at(qps(), 8), HigherIsBetter, 880)
	beside(a, at(qps(), 1), HigherIsBetter, 100)
	beside(b, at(qps(), 1), HigherIsBetter, 150)
	beside(a, at(latency(), 1), LowerIsBetter, 1)
	beside(b, Metric{Name: "recall"}, HigherIsBetter, 1)
	var got []string
	for _, curve := range mustCompare(t, a, b, Options{}).Curves() {
		for _, l := range curve.Lines {
			got = append(got, fmt.Sprintf("%s | %s %.2f", curve.Metric, l.Metric, l.Ratio))
		}
	}
	if diff := cmp.Diff([]string{"QPS | QPS, 1 client 1.50", "QPS | QPS, 8 clients 1.10"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{
		0.01: "1%", 0.031: "3.1%", 0.0012: "0.12%", 0.5: "50%", 0.999: "100%", 12.345: "1234%", 0: "0%", 1.8e-9: "0.00000018%",
		math.Inf(1): "unknown", math.NaN(): "unknown",
	} {
		if got := Percent(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
}

// TestOddValues: whatever stands in a file, what a line says fits together.
func TestOddValues(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	odd := []float64{
		0, math.Copysign(0, -1), 1, -1, 1, 1.0000001, 5, 1e100, -1e100, 1e-300, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Inf(1), math.NaN(), 3, 3,
	}
	draw := func(r *rand.Rand) []float64 {
		kinds := odd[:1+r.IntN(len(odd))]
		list := make([]float64, r.IntN(14))
		for i := range list {
			list[i] = kinds[r.IntN(len(kinds))]
		}
		return list
	}
	seen := map[Verdict]int{}
	for range 3000 {
		o := Options{Pairing: Pairing(r.IntN(3)), Effect: float64(r.IntN(3)-1) / 100, Level: []float64{0, 0.2, 0.01}[r.IntN(3)]}
		a, b := column(latency(), Direction(r.IntN(4)), draw(r)...), column(latency(), Direction(r.IntN(4)), draw(r)...)
		c, err := Compare(a, b, o)
		if err != nil {
			if o.Pairing != ByOrder || len(a.Runs) == len(b.Runs) {
				t.Fatal(err)
			}
			continue
		}
		for i := range c.Lines {
			l := &c.Lines[i]
			seen[l.Verdict]++
			said := summary(l)
			switch l.Verdict {
			case TooFew, NoDifference, OneSide:
				if l.Remark == "" {
					t.Fatalf("no remark: %s", said)
				}
			case Better, Worse, Changed:
				if l.Ratio == 1 || !(l.Corrected <= c.Level) || l.Corrected < l.P*(1-1e-12) {
					t.Fatalf("called a change: %s", said)
				}
			case NotJudged:
			}
			if l.Low > l.Ratio*(1+1e-9) && l.Ratio > 0 || l.High < l.Ratio*(1-1e-9) && l.Ratio > 0 {
				t.Fatalf("%s: the estimate is not in its interval", said)
			}
			if l.Verdict != OneSide && len(l.A) > 0 && len(l.B) > 0 && (math.IsNaN(l.Ratio) || math.IsNaN(l.Before)) {
				t.Fatalf("%s: what is known is not said", said)
			}
			if strings.Contains(said, "%!") || l.Needs < 0 || l.Visible < 0 {
				t.Fatalf("%s: %v %v", said, l.Needs, l.Visible)
			}
		}
	}
	for v := TooFew; v <= NotJudged; v++ {
		if seen[v] == 0 {
			t.Errorf("%s never came", v)
		}
	}
}
