package profiles

import (
	"math"
	"math/bits"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"kitescope/profile/bench"
	"kitescope/tui"
	"kitescope/tui/draw"
	"kitescope/tui/tuitest"
)

func TestDots(t *testing.T) {
	for _, x := range []struct {
		name    string
		list    []float64
		w, rows int
		ascii   bool
		want    []string
	}{
		{"one at each end", []float64{0, 8}, 4, 1, false, []string{"⡀  ⢀"}},
		{"both columns of a cell", []float64{0, 1.5}, 4, 1, false, []string{"⣀   "}},
		{"stacked", []float64{0, 0, 0}, 4, 1, false, []string{"⡆   "}},
		{"stacked over two lines", []float64{0, 0, 0, 0, 0, 8}, 4, 2, false, []string{"⡀   ", "⡇  ⢀"}},
		{"scaled, and the one at the end stays", []float64{0, 0, 0, 0, 0, 0, 0, 0, 8}, 4, 1, false, []string{"⡇  ⢀"}},
		{"ASCII", []float64{0, 0, 8}, 4, 2, true, []string{"o   ", "o  o"}},
		{"what is no number, or outside", []float64{math.NaN(), math.Inf(1), 9, -1}, 4, 1, false, []string{"    "}},
	} {
		t.Run(x.name, func(t *testing.T) {
			if diff := cmp.Diff(x.want, dots(x.list, draw.Interval{From: 0, To: 8}, x.w, x.rows, x.ascii)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestEveryRunIsDrawn holds that as many dots are drawn as there are runs, as long as there is room.
func TestEveryRunIsDrawn(t *testing.T) {
	for n := 1; n < 200; n += 7 {
		list := scattered(n, 100, 0.3, n)
		s, ok := draw.IntervalOf(list)
		if !ok {
			t.Fatal("no interval")
		}
		drawn := 0
		for _, line := range dots(list, s, 60, 30, false) {
			for _, r := range line {
				if r >= draw.Blank {
					drawn += bits.OnesCount32(uint32(r - draw.Blank))
				}
			}
		}
		if drawn != n {
			t.Errorf("%d dots for %d runs", drawn, n)
		}
	}
}

func TestRuler(t *testing.T) {
	nan := math.NaN()
	s := draw.Interval{From: 0, To: 10}
	for _, x := range []struct {
		low, mark, high float64
		want            string
	}{
		{2, 5, 8, "  ├──┼──┤ "},
		{-5, 5, 20, "├────┼───┤"},
		{nan, 5, nan, "     ┼    "},
		{nan, nan, nan, "          "},
		{4, 4, 4, "    ┼     "},
	} {
		if got := string(ruler(x.low, x.mark, x.high, s, 10, false)); got != x.want {
			t.Errorf("%g %g %g: %q, want %q", x.low, x.mark, x.high, got, x.want)
		}
	}
}

func TestQuartiles(t *testing.T) {
	low, high := quartiles([]float64{5, 1, 3, math.Inf(1), 2, 4, math.NaN()})
	if low != 2 || high != 4 {
		t.Errorf("%g and %g, want 2 and 4", low, high)
	}
	if low, high = quartiles([]float64{1, 2, 3}); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("of three values: %g and %g, want that nobody knows", low, high)
	}
}

// TestIntervalCrossesZeroInTheDrawing holds that the drawing says what the verdict says: the mark of no change lies
// within the interval of a change that was not shown, and outside of one that was.
func TestIntervalCrossesZeroInTheDrawing(t *testing.T) {
	c := pairedFixture()
	for i := range c.Lines {
		l := &c.Lines[i]
		if l.Verdict != bench.NoDifference && l.Verdict != bench.Better && l.Verdict != bench.Worse || l.Low == l.High {
			continue
		}
		drawn := ""
		for _, line := range drawMetric(c, l, 160, 30, true) {
			if strings.HasPrefix(line[0].Text, "change") {
				drawn = line[1].Text
			}
		}
		from, to, zero := strings.IndexByte(drawn, '|'), strings.LastIndexByte(drawn, '|'), strings.IndexByte(drawn, '0')
		if from < 0 || to <= from || zero < 0 {
			t.Fatalf("%s: no interval, or no zero in %q", l.Name, drawn)
		}
		if within := zero > from && zero < to; within != (l.Verdict == bench.NoDifference) {
			t.Errorf("%s: %s, but the drawing has %q", l.Name, l.Verdict, drawn)
		}
	}
}

func TestComparisonByMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, w := range []int{100, 200} {
			d := driveComparison(t, pairedFixture(), w, 40)
			p := d.m.Top().(*benchPage)
			header := 0
			for i, line := range strings.Split(d.Plain(), "\n") {
				if strings.Contains(line, "METRIC") {
					header = i
				}
			}
			d.Send(tea.MouseClickMsg{Button: tea.MouseLeft, X: 10, Y: header + 4})
			if p.Cursor != 3 {
				t.Errorf("%d wide: a click on the fourth row puts the cursor on %d", w, p.Cursor)
			}
			d.Send(tea.MouseWheelMsg{Button: tea.MouseWheelDown, X: 10, Y: header + 4})
			if p.Cursor != 6 {
				t.Errorf("%d wide: the wheel puts the cursor on %d", w, p.Cursor)
			}
			d.Send(tea.MouseClickMsg{Button: tea.MouseLeft, X: 8, Y: header})
			if p.Sorted != "of" {
				t.Errorf("%d wide: a click on a title sorts by column %q", w, p.Sorted)
			}
			d.Send(tea.MouseClickMsg{Button: tea.MouseLeft, X: 8, Y: 39})
		}
	})
}

// BenchmarkComparison is one key and the frame that follows, with many metrics, and with many runs.
func BenchmarkComparison(b *testing.B) {
	many := pairedFixture()
	for len(many.Lines) < 5000 {
		many.Lines = append(many.Lines, many.Lines[:8]...)
	}
	for _, x := range []struct {
		name string
		of   *bench.Comparison
	}{{"metrics=5000", many}, {"runs=20000", &bench.Comparison{Lines: hostileFixture().Lines[7:8]}}} {
		b.Run(x.name, func(b *testing.B) {
			m := tui.New(comparisonConfig(testConfig(), x.of))
			m.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
			b.ReportAllocs()
			for b.Loop() {
				m.Update(tuitest.KeyPress("down"))
				_ = m.View()
			}
		})
	}
}
