package read

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/profile/bench"
)

// compared opens both sides, or one file that holds both, and compares them.
func compared(t *testing.T, names ...string) *bench.Comparison {
	t.Helper()
	var sets []*bench.Set
	for _, name := range names {
		opened, err := Open(context.Background(), []string{filepath.Join(testdata, name)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, opened...)
	}
	if len(sets) != 2 {
		t.Fatalf("%s: %d sides", names, len(sets))
	}
	c, err := bench.Compare(sets[0], sets[1], bench.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// line finds the one metric whose name begins so.
func line(t *testing.T, c *bench.Comparison, name string) bench.Line {
	t.Helper()
	for _, l := range c.Lines {
		if strings.HasPrefix(l.String(), name) {
			return l
		}
	}
	t.Fatalf("no metric %q", name)
	return bench.Line{}
}

// changes holds changes in percent against those that the authors print, which some of them cut off and do not round.
func changes(t *testing.T, c *bench.Comparison, want map[string]float64) {
	t.Helper()
	for name, percent := range want {
		l := line(t, c, name)
		if got := (l.Ratio - 1) * 100; math.Abs(got-percent) > 0.015 {
			t.Errorf("%s: %+.3f%%, the author says %+.2f%%", name, got, percent)
		}
	}
}

// oneRun holds that nothing is called a change where each side ran once.
func oneRun(t *testing.T, c *bench.Comparison) {
	t.Helper()
	if len(c.Lines) == 0 {
		t.Error("nothing was compared")
	}
	for _, l := range c.Lines {
		if l.Verdict != bench.TooFew && l.Verdict != bench.OneSide {
			t.Errorf("%s: verdict %q of one run a side", l.String(), l.Verdict)
		}
		if l.Verdict == bench.TooFew && l.Remark == "" {
			t.Errorf("%s: nothing says why it is too few runs", l.String())
		}
	}
}

func TestMilvusReport(t *testing.T) {
	c := compared(t, "milvus-pgo.csv")
	changes(t, c, map[string]float64{
		"search Requests": 7.30, "search RPS": 7.30, "search RT_avg": -6.78, "search RT_min": -5.04,
		"search RT_max": -58.91, "search TP50": -6.05, "search TP99": -7.57,
	})
	oneRun(t, c)
	for name, want := range map[string]bench.Direction{
		"search RPS": bench.HigherIsBetter, "search RT_max": bench.LowerIsBetter, "search TP99": bench.LowerIsBetter, "search Fails": bench.LowerIsBetter,
	} {
		if l := line(t, c, name); l.Better != want {
			t.Errorf("%s: direction %v, want %v", name, l.Better, want)
		}
	}
	if l := line(t, c, "search RT_max"); l.Before != 0.34972 || l.Unit != "s" {
		t.Errorf("search RT_max before: %v %s", l.Before, l.Unit)
	}
}

func TestWebPServerRuns(t *testing.T) {
	c := compared(t, "webp-pgo/before.txt", "webp-pgo/after.txt")
	changes(t, c, map[string]float64{"time taken": -4.81})
	oneRun(t, c) // "we still aren't entirely certain": with one run a side nobody is
}

func TestMariaDBAgainstPgvector(t *testing.T) {
	c := compared(t, "mariadb-pgvector/qps.csv")
	// "QPS is ~1.4X larger for MariaDB than for pgvector at 2 and 48 concurrent sessions", less between.
	for sessions, want := range map[string]float64{"QPS, 2 clients": 1.4, "QPS, 48 clients": 1.4, "QPS, 8 clients": 1.12} {
		if l := line(t, c, sessions); math.Abs(l.Ratio-want) > 0.035 {
			t.Errorf("%s: ratio %.3f, the author says %.1f", sessions, l.Ratio, want)
		}
	}
	oneRun(t, c)

	c = compared(t, "mariadb-pgvector/per-query.csv")
	changes(t, c, map[string]float64{"cpu per query, 2 clients": -21.90, "context switches per query, 2 clients": 62.79})
	for _, l := range c.Lines {
		if l.Better != bench.LowerIsBetter {
			t.Errorf("%s: direction %v", l.String(), l.Better)
		}
	}
	oneRun(t, c)
}
